/* SPDX-License-Identifier: MIT */

// How a process that has lost its store, or hands it over, starts again as a standby.

#include "server/server_private.h"

#include "core/base/log.h"
#include "core/base/memory.h"
#include "server/io/io.h"
#include "server/process/clock.h"

// The time to send staged replies before another process takes over: all of the handover is to take
// less than a second.
static const struct timeval HAND_OVER_PATIENCE = {.tv_usec = 300000};

// Makes the process start again as a standby, and logs that.
static void server_restart_as_standby(struct server *server, const char *why)
{
    log_info("starts_again", log_string("why", why),
             log_string("note", "all connections are closed; this process is now a standby"));
    server->stage = SERVER_RESTARTS;
}

static void server_note_unsure(struct server *server)
{
    nsec_t now_at = clock_awake();

    if (server->unsure_at == 0) {
        server->unsure_at = now_at;
        log_info("owner_unsure",
                 log_string("note", "another process may have taken over: no client is answered"));
    } else if (now_at - server->unsure_at >=
               server->settings->journal.fail_timeout * NSEC_PER_SEC) {
        server_restart_as_standby(server,
                                  "ownership could not be confirmed for journal.fail_timeout");
    }
}

void server_watch_store(struct server *server)
{
    switch (store_standing(server->store)) {
    case STORE_ALONE:
    case STORE_FOLLOWS:
        return;
    case STORE_OWNS:
        if (server->unsure_at != 0) {
            server->unsure_at = 0;
            log_info("owner_sure", log_string("note", "no other process has taken over"));
        }
        return;
    case STORE_UNSURE:
        server_note_unsure(server);
        return;
    case STORE_LOST:
        server_restart_as_standby(server, "another process owns it");
        return;
    }
    UNREACHABLE();
}

// Another process must be ready to take over, and have read the store since this one owns it: an
// older entry may be that of this process's predecessor, or of a process that has ended.
bool server_may_hand_over(const struct server *server)
{
    struct introspect_cluster cluster = {.role = CLUSTER_ALONE};
    nsec_t ttl_for = nsec_from_seconds((uint64_t)server->settings->journal.lease_ttl);

    if (server->stage != SERVER_RUNS || store_standing(server->store) != STORE_OWNS) {
        return false;
    }
    server->store->shared->cluster(server->store, &cluster);
    for (size_t i = 0; i < cluster.count; i++) {
        const struct introspect_member *member = &cluster.members[i];

        if (!member->self && member->takes_over && member->epoch == cluster.epoch &&
            member->seen_for <= ttl_for) {
            return true;
        }
    }
    return false;
}

void server_drain_conns(struct server *server)
{
    broker_retire(server->broker);
    turn_remove_task(&server->loop.turn, &server->schedule_task);
    if (server->loop.turn.io) {
        io_shut(server->loop.turn.io);
    }
    handshakes_close(&server->handshakes);
    loop_stop_conns(&server->loop);
    push_service_stop(&server->push_service);
}

void server_hand_over(struct server *server)
{
    server->hand_over_wanted = false;
    server->stage = SERVER_HANDS_OVER;
    server->options.yields = true;
    server->store->shared->hand_over(server->store);
    server_drain_conns(server);
    if (event_add(&server->patience, &HAND_OVER_PATIENCE) != 0) {
        server->stage = SERVER_RESTARTS;
    }
}

static bool server_make_again(struct server *server, struct error_text *why)
{
    if (!server_make_store(server, why)) {
        return false;
    }
    loop_use_broker(&server->loop, opening_broker(&server->opening));
    server_init_handshakes(server);
    if (!server_start_services(server, why)) {
        return false;
    }
    server_apply(server);
    server_advertise(server);
    return true;
}

bool server_begin_again(struct server *server, struct error_text *why)
{
    struct broker_info info;

    (void)event_del(&server->patience);
    broker_info(server->broker, &info);
    // A signal that came while it stood by is still deferred.
    server->deferred_signals |= info.draining ? 1u << SIGNAL_DRAIN : 0;
    server->unsure_at = 0;
    if (server->loop.turn.io) {
        io_shut(server->loop.turn.io);
    }
    handshakes_close(&server->handshakes);
    loop_drop_all(&server->loop);
    loop_leave_store(&server->loop);
    // The loop does not wait for a database that may hang: others take over when the lease expires.
    if (!server->options.yields) {
        server->store->ops->stop_opening(server->store);
    }
    // Of a lost store, records that could not be made durable were not acknowledged.
    if (!server_close_store(server) && server->options.yields) {
        log_error("journal_incomplete", log_string("why", "not everything could be written"));
    }
    // Restored jobs are never refused.
    memory_set_limit(0);
    server->stage = SERVER_STARTS;
    server->options.again = true;
    if (!server_make_again(server, why)) {
        return false;
    }
    server->options.yields = false;
    return true;
}

// The store may be lost at once, before anything is served.
enum exit_reason server_come_up(struct server *server, struct error_text *why)
{
    enum exit_reason result = server_open_store(server, why);

    while (result == EXIT_REASON_JOURNAL && store_standing(server->store) == STORE_LOST) {
        server_restart_as_standby(server, why->text);
        result =
            server_begin_again(server, why) ? server_open_store(server, why) : EXIT_REASON_OTHER;
    }
    return result;
}
