/* SPDX-License-Identifier: MIT */
#include "server/server_private.h"

#include "core/base/log.h"
#include "core/base/memory.h"
#include "proto_common/introspect_queues.h"
#include "server/io/io.h"
#include "server/process/resources.h"
#include "server/conn/conn.h"

#include <stdio.h>
#include <string.h>

// For how long figures of the system are used before they are asked for again.
#define USAGE_FOR NSEC_PER_SEC

static nsec_t server_now(const struct server *server)
{
    return broker_now(server->loop.turn.broker).mono;
}

static void server_renew_usage(struct server *server)
{
    struct server_introspection *introspection = &server->introspection;
    nsec_t now_at = server_now(server);

    if (now_at >= introspection->renew_at) {
        introspection->renew_at = now_at + USAGE_FOR;
        introspection->resident = usage_resident();
        introspection->descriptors = usage_descriptors();
        if (introspection->descriptors == 0) {
            // The system does not tell: count the known ones.
            introspection->descriptors = server->loop.turn.open + server->handshakes.count +
                                         listeners_count(&server->listeners) +
                                         IO_DESCRIPTORS(server->io_threads);
        }
    }
}

static bool introspect_opening(void *host, struct restore_progress *progress)
{
    const struct server *server = host;

    return opening_progress(&server->opening, progress);
}

// While the store is being opened, no other thread may use it.
static void introspect_journal(void *host, struct introspect_journal *journal)
{
    const struct server *server = host;
    const struct store_settings *settings = &server->settings->journal;

    *journal = (struct introspect_journal){
        .enabled = server->store != NULL,
        .directory = settings->dir,
        .fsync = settings->fsync,
        .segment_bytes = server->store ? settings->segment_size : 0,
        .disk_free = UINT64_MAX,
    };
    if (server->store && server->stage != SERVER_STARTS) {
        server->store->ops->show(server->store, journal);
    }
}

// Without other processes that may own the store, nothing is set.
static void introspect_cluster(void *host, struct introspect_cluster *cluster)
{
    const struct server *server = host;
    const struct store *store = server->store;

    if (store && store->shared) {
        store->shared->cluster(store, cluster);
        server_count_passed(server, &cluster->proxied, &cluster->proxied_total);
        cluster->takeovers = server->standby.takeovers;
    }
    cluster->required = server->settings->journal.quorum == QUORUM_YES;
    cluster->trusted = server->settings->journal.quorum == QUORUM_NO;
}

static bool introspect_protocol(void *host, size_t index, struct introspect_protocol *protocol)
{
    const struct server *server = host;
    const struct service *service;
    const struct service_counters *counters;

    if (index >= FRONTENDS) {
        return false;
    }
    service = &server->services.each[index];
    counters = service->counters;
    *protocol = (struct introspect_protocol){
        .name = service->frontend->name,
        .open = counters->open,
        .accepted = counters->accepted,
        .commands = counters->commands + service->frontend->commands(service->shared),
        .received = counters->received,
        .sent = counters->sent,
    };
    memcpy(protocol->refusals, counters->refusals, sizeof protocol->refusals);
    return true;
}

static const char *introspect_address(void *host, size_t protocol, size_t index)
{
    const struct server *server = host;

    return listeners_address(&server->listeners, frontends[protocol]->name, index);
}

static bool introspect_connection_next(void *host, uint64_t *after,
                                       struct introspect_connection *connection)
{
    const struct server *server = host;

    return conn_introspect_next(&server->loop.turn, after, connection);
}

static bool introspect_connection(void *host, uint64_t number,
                                  struct introspect_connection *connection)
{
    const struct server *server = host;

    return conn_introspect_find(&server->loop.turn, number, connection);
}

static uint64_t introspect_connection_of(void *host, const struct session *session)
{
    const struct server *server = host;

    return conn_introspect_of_session(&server->loop.turn, session);
}

static void introspect_loop(void *host, struct introspect_loop *loop)
{
    struct server *server = host;
    struct loop_window worst = loop_watch_worst(&server->loop.watch, server_now(server));

    *loop = (struct introspect_loop){
        .turns = server->loop.watch.turns,
        .slow_turns = server->loop.watch.slow_turns,
        .longest_for = worst.longest_for,
        .lag_for = worst.lag_for,
        .io_threads = server->loop.turn.io ? server->io_threads : 0,
    };
}

static void introspect_memory(void *host, struct introspect_memory *memory)
{
    struct server *server = host;
    size_t limit = memory_limit();

    for (size_t i = 0; i < SERVER_MEMORY_KINDS; i++) {
        server->introspection.memory_kinds[i] = memory_kind_word((enum memory_kind)i);
        server->introspection.memory[i] = memory_counted_of((enum memory_kind)i);
    }
    server_renew_usage(server);
    *memory = (struct introspect_memory){
        .used = memory_counted(),
        .limit = limit == SIZE_MAX ? 0 : limit,
        .resident = server->introspection.resident,
        .is_short = memory_is_short(),
        .kinds = server->introspection.memory_kinds,
        .by_kind = server->introspection.memory,
    };
}

static void introspect_descriptors(void *host, struct introspect_descriptors *descriptors)
{
    struct server *server = host;

    server_renew_usage(server);
    *descriptors = (struct introspect_descriptors){.open = server->introspection.descriptors,
                                                   .limit = usage_descriptors_limit()};
}

static bool introspect_setting(void *host, size_t index, struct introspect_setting *setting)
{
    struct server *server = host;

    return config_introspect_setting(&server->introspection.settings, &server->settings->config,
                                     index, setting);
}

static struct schedules *introspect_schedules(void *host)
{
    const struct server *server = host;

    return server->schedules;
}

static bool introspect_push(void *host, size_t index, struct introspect_push *push)
{
    const struct server *server = host;

    return push_service_show(&server->push_service, index, push);
}

static bool introspect_push_of(void *host, const struct queue *queue, struct introspect_push *push)
{
    const struct server *server = host;

    return push_service_show_of(&server->push_service, queue, push);
}

static void introspect_push_seconds(void *host, struct introspect_distribution *seconds)
{
    const struct server *server = host;

    push_service_show_seconds(&server->push_service, seconds);
}

static bool introspect_push_resume(void *host, struct slice section)
{
    const struct server *server = host;

    return push_service_resume(&server->push_service, section);
}

static const struct introspect_pushes introspect_pushes = {.at = introspect_push,
                                                           .of = introspect_push_of,
                                                           .seconds = introspect_push_seconds,
                                                           .resume = introspect_push_resume};

static const char *introspect_config_file(void *host)
{
    const struct server *server = host;

    return server->source->path;
}

static void introspect_drain(void *host, bool on)
{
    server_signal(host, on ? SIGNAL_DRAIN : SIGNAL_ACCEPT);
}

// The handover begins when the reply to this request is staged.
static bool introspect_hand_over(void *host)
{
    struct server *server = host;

    server->hand_over_wanted = server_may_hand_over(server);
    return server->hand_over_wanted;
}

static bool introspect_reload(void *host, struct error_text *why)
{
    return server_handle_reload(host, why);
}

// The value replaces that of the file, and is shown with the settings.
static bool introspect_log_commands(void *host, const char *whose)
{
    struct server *server = host;
    struct error_text unsaid;
    char before[256];

    (void)snprintf(before, sizeof before, "%s", server->settings->server.log_commands);
    if (!config_set(&server->settings->config, "server", "log_commands", whose, &unsaid)) {
        return false;
    }
    log_info("log_commands", log_string("whose", whose), log_string("before", before));
    server_apply(server);
    return true;
}

static bool introspect_section(void *host, size_t index, struct introspect_section *section)
{
    const struct server *server = host;

    return config_introspect_section(&server->settings->config, index, section);
}

static bool introspect_section_key(void *host, size_t index, size_t key,
                                   struct introspect_key *shown)
{
    struct server *server = host;

    return config_introspect_section_key(&server->introspection.settings, &server->settings->config,
                                         index, key, shown);
}

static bool introspect_policy(void *host, size_t index, struct introspect_policy *policy)
{
    const struct server *server = host;

    return queue_policies_show(&server->policies, server->settings, index, policy);
}

static bool introspect_policy_key(void *host, size_t index, size_t key,
                                  struct introspect_key *shown)
{
    struct server *server = host;

    return queue_policies_show_key(&server->policies, server->settings,
                                   &server->introspection.settings, index, key, shown);
}

static enum status introspect_set_policy(void *host, const struct introspect_new_policy *policy,
                                         struct error_text *why)
{
    struct server *server = host;

    return queue_policies_set(&server->policies, server->broker, server->settings, policy, why);
}

static enum status introspect_drop_policy(void *host, struct slice glob)
{
    struct server *server = host;

    return queue_policies_drop(&server->policies, server->broker, server->settings, glob);
}

static const struct introspect_policies introspect_policies = {.section = introspect_section,
                                                               .section_key =
                                                                   introspect_section_key,
                                                               .at = introspect_policy,
                                                               .key = introspect_policy_key,
                                                               .set = introspect_set_policy,
                                                               .drop = introspect_drop_policy};

void server_init_introspect(struct server *server)
{
    server->introspection.introspect =
        (struct introspect){.host = server,
                            .protocol = introspect_protocol,
                            .address = introspect_address,
                            .connection_next = introspect_connection_next,
                            .connection = introspect_connection,
                            .connection_of = introspect_connection_of,
                            .loop = introspect_loop,
                            .memory = introspect_memory,
                            .descriptors = introspect_descriptors,
                            .journal = introspect_journal,
                            .cluster = introspect_cluster,
                            .hand_over = introspect_hand_over,
                            .opening = introspect_opening,
                            .setting = introspect_setting,
                            .schedules = introspect_schedules,
                            .pushes = &introspect_pushes,
                            .policies = &introspect_policies,
                            .config_file = introspect_config_file,
                            .drain = introspect_drain,
                            .reload = introspect_reload,
                            .log_commands = introspect_log_commands};
    server->facts.process.introspect = &server->introspection.introspect;
}
