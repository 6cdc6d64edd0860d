/* SPDX-License-Identifier: MIT */
#include "server/server_private.h"

#include "core/base/log.h"
#include "core/base/memory.h"
#include "server/io/io.h"
#include "server/process/clock.h"

// How long staged replies may take to leave before another process takes over: all of that is to be
// done within a second.
static const struct timeval HAND_OVER_PATIENCE = {.tv_usec = 300000};

void server_lose(struct server *server, const char *why)
{
    log_info("starts_again", log_string("why", why),
             log_string("note", "all connections are closed; this process follows from now on"));
    server->stage = SERVER_AGAIN;
}

static void note_unsure(struct server *server)
{
    nsec_t now_at = clock_awake();

    if (server->unsure_at == 0) {
        server->unsure_at = now_at;
        log_info("owner_unsure",
                 log_string("note", "another process may have taken over: nobody is answered"));
    } else if (now_at - server->unsure_at >=
               server->settings->journal.fail_timeout * NSEC_PER_SEC) {
        server_lose(server, "for journal.fail_timeout, it has not been sure that no other owns it");
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
        note_unsure(server);
        return;
    case STORE_LOST:
        server_lose(server, "another process owns it");
        return;
    }
    UNREACHABLE();
}

// By one that would take over, and has looked since this process owns the journal: one that was
// heard of before may be its own predecessor, or another that has died since.
static bool is_followed(const struct server *server)
{
    struct sight_cluster cluster = {.role = SIGHT_ALONE};
    nsec_t ttl_for = nsec_from_seconds((uint64_t)server->settings->journal.lease_ttl);

    server->store->ops->cluster(server->store, &cluster);
    for (size_t i = 0; i < cluster.count; i++) {
        const struct sight_member *member = &cluster.members[i];

        if (!member->self && member->takes_over && member->epoch == cluster.epoch &&
            member->seen_for <= ttl_for) {
            return true;
        }
    }
    return false;
}

bool server_may_hand_over(const struct server *server)
{
    return server->stage == SERVER_RUNS && store_standing(server->store) == STORE_OWNS &&
           is_followed(server);
}

void server_drain_conns(struct server *server)
{
    broker_retire(server->broker);
    chores_remove(&server->loop.turn, &server->calendar);
    if (server->loop.turn.io) {
        io_shut(server->loop.turn.io);
    }
    handshakes_close(&server->handshakes);
    loop_stop_conns(&server->loop);
    pushing_stop(&server->pushing);
}

void server_hand_over(struct server *server)
{
    server->hand_over_wanted = false;
    server->stage = SERVER_HANDS_OVER;
    server->options.yields = true;
    server->store->ops->hand_over(server->store);
    server_drain_conns(server);
    if (event_add(&server->patience, &HAND_OVER_PATIENCE) != 0) {
        server->stage = SERVER_AGAIN;
    }
}

// Nothing that is staged leaves.
static void server_drop_all(struct server *server)
{
    if (server->loop.turn.io) {
        io_shut(server->loop.turn.io);
    }
    handshakes_close(&server->handshakes);
    loop_drop_all(&server->loop);
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

bool server_begin_anew(struct server *server, struct error_text *why)
{
    struct broker_info info;

    (void)event_del(&server->patience);
    broker_info(server->broker, &info);
    // One that came while it followed is deferred still.
    server->deferred_signals |= info.draining ? 1u << SIGNAL_DRAIN : 0;
    server->unsure_at = 0;
    server_drop_all(server);
    loop_leave_store(&server->loop);
    // The loop does not wait for a database that may hang: others take over when the lease lapses.
    if (!server->options.yields) {
        server->store->ops->stop_opening(server->store);
    }
    // Of a store that is lost, what cannot be made to last was not answered.
    if (!server_close_store(server) && server->options.yields) {
        log_error("journal_incomplete", log_string("why", "not everything could be written"));
    }
    // Jobs that come back are never refused.
    memory_set_limit(0);
    server->stage = SERVER_STARTS;
    server->options.again = true;
    if (!server_make_again(server, why)) {
        return false;
    }
    server->options.yields = false;
    return true;
}

// It may be lost as soon as it is had, before anything is served.
enum exit_reason server_come_up(struct server *server, struct error_text *why)
{
    enum exit_reason result = server_open_store(server, why);

    while (result == EXIT_REASON_JOURNAL && store_standing(server->store) == STORE_LOST) {
        server_lose(server, why->text);
        result =
            server_begin_anew(server, why) ? server_open_store(server, why) : EXIT_REASON_OTHER;
    }
    return result;
}
