/* SPDX-License-Identifier: MIT */
#include "server/server_private.h"

#include "core/base/log.h"
#include "core/base/memory.h"
#include "server/schedule_service.h"
#include "server/config/settings.h"
#include "server/config/queue_section.h"
#include "server/io/io.h"
#include "server/process/cgroup.h"
#include "server/process/resources.h"
#include "server/conn/rule_set.h"

// The limits of the container may change while the process runs.
static void server_limit_memory(struct server *server)
{
    struct resources_found found;
    struct cgroup_limits limits;

    cgroup_limits_read("", &limits);
    found.processors = processors_available(&limits);
    found.memory = limits.memory;
    found.max_memory = max_memory_in_force(server->settings->server.max_memory, &limits);
    if (found.processors != server->found.processors || found.memory != server->found.memory ||
        found.max_memory != server->found.max_memory) {
        server->found = found;
        log_info("resources", log_number("processors", found.processors),
                 log_number("memory", (int64_t)found.memory),
                 log_number("max_memory", (int64_t)found.max_memory));
    }
    memory_set_limit(found.max_memory);
}

void server_limit_broker(struct server *server)
{
    broker_set_max_queues(server->broker, (uint64_t)server->settings->server.max_queues);
    server_limit_memory(server);
    broker_memo_limit(server->broker, MEMO_RESULT, server->settings->server.max_kept_results);
    broker_memo_limit(server->broker, MEMO_UNIQUE, server->settings->server.max_kept_keys);
}

void server_apply(struct server *server)
{
    const struct server_settings *now = &server->settings->server;
    bool traces;

    server->most_connections = capacity_connections(
        now->max_connections,
        listeners_count(&server->listeners) + IO_DESCRIPTORS(server->io_threads),
        queue_push_descriptors(&server->settings->named[SETTINGS_QUEUES]));
    peer_limits_set(server->peer_limits, (uint64_t)now->max_connections_per_address);
    proxies_set(server->proxies, now->proxies);
    server->loop.turn.unread_for = nsec_from_seconds((uint64_t)now->write_timeout);
    listeners_limit_silence(&server->listeners, server->loop.turn.unread_for);
    server->loop.turn.kept_most = connection_memory_before(server->settings);
    server->loop.turn.log_commands = now->log_commands;
    traces = server->loop.turn.traces || *now->log_commands;
    server->loop.turn.traces = *now->log_commands != '\0';
    if (services_limit(&server->services, server->settings) || traces) {
        turn_walk_begin(&server->loop.turn, WALK_REVIEW);
    }
    server->loop.slow_for = now->slow_turn * NSEC_PER_MSEC;
    if (server->stage == SERVER_RUNS) {
        server_limit_broker(server);
    }
    if (server->loop.turn.io) {
        server_limit_io(server);
    }
    handshakes_set_timeout(&server->handshakes,
                           nsec_from_seconds((uint64_t)now->handshake_timeout));
}

bool server_open_log(const struct server *server, const struct settings *settings,
                     struct error_text *why)
{
    const struct server_settings *now = &settings->server;

    return log_output_open(server->log, now->log_file, (enum log_format)now->log_format,
                           (enum log_level)now->log_level, why);
}

// What a reload has read; it is applied completely or not at all.
struct reload {
    struct settings *fresh;
    struct rule_set *rules;
    struct push_plan *plan;
    struct policy_copies *policies;
    struct log_opening log;
    bool has_log;      // `log` is open
    bool has_services; // services_prepare() has succeeded
};

static void reload_discard(struct server *server, struct reload *reload)
{
    if (reload->has_services) {
        services_discard(&server->services);
    }
    if (reload->has_log) {
        log_output_discard(&reload->log);
    }
    rule_set_unref(reload->rules);
    policies_discard(reload->policies);
    push_plan_free(reload->plan);
    settings_free(reload->fresh);
}

// Reads everything that can be wrong. The schedules come last, as they are applied at once.
static bool reload_prepare(struct server *server, struct reload *reload, struct error_text *why)
{
    struct settings_source source = *server->source;
    const struct server_settings *fresh;

    source.again = true;
    reload->fresh = settings_load(&source, why);
    if (!reload->fresh) {
        return false;
    }
    fresh = &reload->fresh->server;
    // If the settings of TLS are the same, services_prepare() reads its files.
    if (!(services_have_tls(&server->services) &&
          settings_same_tls(server->settings, reload->fresh)) &&
        !settings_check_tls(reload->fresh, why)) {
        return false;
    }
    reload->rules = *fresh->access_file ? rule_set_read(fresh->access_file, why) : NULL;
    if (*fresh->access_file && !reload->rules) {
        return false;
    }
    reload->policies = queue_policies_copy(&server->policies, reload->fresh, why);
    reload->has_services =
        reload->policies && services_prepare(&server->services, reload->fresh, why);
    if (!reload->has_services ||
        !push_service_plan(&server->push_service, reload->fresh, &reload->plan, why)) {
        return false;
    }
    reload->has_log =
        log_output_prepare(&reload->log, fresh->log_file, (enum log_format)fresh->log_format,
                           (enum log_level)fresh->log_level, why);
    return reload->has_log &&
           (!server->schedules || schedule_service_adopt(server->schedules, reload->fresh, why));
}

// Applies everything that was read. Nothing fails from here on.
static void reload_adopt(struct server *server, struct reload *reload)
{
    log_output_adopt(server->log, &reload->log);
    push_service_adopt(&server->push_service, reload->plan);
    config_adopt(&server->settings->config, &reload->fresh->config);
    server_apply(server);
    if (server->stage == SERVER_STARTS) {
        // The store's thread uses the broker: the policies are copied again when the store is open.
        policies_discard(reload->policies);
    } else {
        broker_use_policies(server->broker, reload->policies);
    }
    settings_free(reload->fresh);
    services_reload(&server->services);
    turn_set_rules(&server->loop.turn, reload->rules);
}

// A wrong file or value changes nothing. The log is still reopened by the present settings, as log
// rotation asks for no more than that.
static bool server_reload(struct server *server, struct error_text *why)
{
    struct reload reload = {.fresh = NULL};
    struct error_text log_why;

    if (!reload_prepare(server, &reload, why)) {
        reload_discard(server, &reload);
        if (!server_open_log(server, server->settings, &log_why)) {
            log_error("log_kept", log_string("why", log_why.text));
        }
        log_error("reload_failed", log_string("why", why->text),
                  log_string("note", "nothing has changed: what was read before holds"));
        return false;
    }
    reload_adopt(server, &reload);
    log_info("reloaded", log_string("file", server->source->path ? server->source->path : ""));
    return true;
}

// While the service manager waits for the start, it gets no other messages.
bool server_handle_reload(struct server *server, struct error_text *why)
{
    bool good;

    if (!server->is_ready) {
        return server_reload(server, why);
    }
    notify_reloading(&server->notifier);
    good = server_reload(server, why);
    notify_ready(&server->notifier);
    return good;
}
