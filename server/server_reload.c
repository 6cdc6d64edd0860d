/* SPDX-License-Identifier: MIT */
#include "server/server_private.h"

#include "core/base/log.h"
#include "core/base/memory.h"
#include "server/calendar.h"
#include "server/config/connection_memory.h"
#include "server/config/queue_push.h"
#include "server/io/io.h"
#include "server/process/capacity.h"
#include "server/rules.h"

void server_limit_broker(const struct server *server)
{
    broker_set_max_queues(server->broker, (uint64_t)server->settings->server.max_queues);
    memory_set_limit(server->settings->server.max_memory);
    broker_memo_limit(server->broker, MEMO_RESULT, server->settings->server.max_kept_results);
    broker_memo_limit(server->broker, MEMO_UNIQUE, server->settings->server.max_kept_keys);
}

void server_apply(struct server *server)
{
    const struct server_settings *now = &server->settings->server;

    server->most_connections = capacity_connections(
        now->max_connections,
        listeners_count(&server->listeners) + IO_DESCRIPTORS(server_count_io_threads(server)),
        queue_push_descriptors(&server->settings->named[SETTINGS_QUEUES]));
    crowd_limit(server->crowd, (uint64_t)now->max_connections_per_address);
    server->loop.turn.unread_for = nsec_from_seconds((uint64_t)now->write_timeout);
    listeners_limit_silence(&server->listeners, server->loop.turn.unread_for);
    server->loop.turn.kept_most = connection_memory_before(server->settings);
    if (services_limit(&server->services, server->settings)) {
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
                     struct reason *why)
{
    const struct server_settings *now = &settings->server;

    return log_output_open(server->log, now->log_file, (enum log_format)now->log_format,
                           (enum log_level)now->log_level, why);
}

// New settings of TLS must be good. Files of the old ones that are not any more leave those that
// were read before, and do not keep the log from being opened anew.
static bool server_take_tls(const struct server *server, const struct settings *fresh,
                            struct reason *why)
{
    return (services_have_tls(&server->services) && settings_same_tls(server->settings, fresh)) ||
           settings_check_tls(fresh, why);
}

static void server_reload_tls(const struct server *server, const struct settings *fresh)
{
    struct reason why;

    if (!services_reload_tls(&server->services, &fresh->tls, &why)) {
        log_error("tls_kept", log_string("why", why.text),
                  log_string("note", "what was read before holds"));
    }
}

// Rules that are wrong leave those that are in force.
static bool server_read_rules(const struct settings *fresh, struct rules **rules,
                              struct reason *why)
{
    *rules = *fresh->server.access_file ? rules_read(fresh->server.access_file, why) : NULL;
    return *rules || *fresh->server.access_file == '\0';
}

// While the store is opened, the broker is not ours: they are copied again when that is over.
static void server_use_policies(const struct server *server, struct policy_copies *policies)
{
    if (server->stage == SERVER_STARTS) {
        policies_discard(policies);
    } else {
        broker_use_policies(server->broker, policies);
    }
}

static bool server_set_schedules(const struct server *server, const struct settings *fresh,
                                 struct reason *why)
{
    return !server->schedules || calendar_adopt(server->schedules, fresh, why);
}

// A file or a value that is wrong changes nothing.
static bool server_reload(struct server *server)
{
    struct settings_source source = *server->source;
    struct reason why;
    struct settings *fresh;
    struct rules *rules = NULL;
    struct push_plan *plan = NULL;
    struct policy_copies *policies = NULL;

    source.again = true;
    fresh = settings_load(&source, &why);

    if (!fresh || !server_take_tls(server, fresh, &why) ||
        !server_read_rules(fresh, &rules, &why) ||
        !(policies = queue_policies_copy(&server->policies, fresh, &why)) ||
        !server_open_log(server, fresh, &why) ||
        !pushing_plan(&server->pushing, fresh, &plan, &why) ||
        !server_set_schedules(server, fresh, &why)) {
        log_error("reload_failed", log_string("why", why.text),
                  log_string("note", "nothing has changed: what was read before holds"));
        rules_unref(rules);
        policies_discard(policies);
        push_plan_free(plan);
        settings_free(fresh);
        return false;
    }
    pushing_adopt(&server->pushing, plan);
    server_reload_tls(server, fresh);
    config_adopt(&server->settings->config, &fresh->config);
    server_apply(server);
    server_use_policies(server, policies);
    settings_free(fresh);
    services_reload(&server->services);
    turn_set_rules(&server->loop.turn, rules);
    log_info("reloaded", log_string("file", server->source->path ? server->source->path : ""));
    return true;
}

// The service manager that waits for the start is told of nothing else.
bool server_read_again(struct server *server)
{
    bool good;

    if (!server->is_ready) {
        return server_reload(server);
    }
    notify_reloading(&server->notifier);
    good = server_reload(server);
    notify_ready(&server->notifier);
    return good;
}
