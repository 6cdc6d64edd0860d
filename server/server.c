/* SPDX-License-Identifier: MIT */
#include "server/server_private.h"

#include "core/base/log.h"
#include "server/io/io.h"

#include <string.h>

// The time to send staged replies when the server stops.
static const struct timeval STOP_PATIENCE = {.tv_sec = 2};

void server_patience_over(evutil_socket_t fd, short what, void *context)
{
    struct server *server = context;

    (void)fd;
    (void)what;
    server->stage = server->stage == SERVER_HANDS_OVER ? SERVER_RESTARTS : SERVER_GIVES_UP;
}

// The number of jobs that are lost with the process: without a store all; otherwise all that are
// not durable, which are searched one by one, because no client is served any more.
static uint64_t count_in_memory(const struct server *server)
{
    struct job_walk walk = {0};
    const struct job *job = NULL;
    struct broker_info info;
    uint64_t count = 0;
    enum status status;

    broker_info(server->broker, &info);
    if (!server->store) {
        for (size_t i = 0; i < JOB_STATES; i++) {
            count += info.jobs[i];
        }
        return count;
    }
    while ((status = broker_job_next(server->broker, &walk, &job)) != STATUS_EMPTY) {
        count += status == STATUS_OK && !job_is_durable(job) ? 1 : 0;
    }
    return count;
}

static void server_stop(struct server *server)
{
    uint64_t lost;

    if (server->stage != SERVER_RUNS) {
        server->stage = SERVER_GIVES_UP;
        return;
    }
    log_info("stopping", log_number("pid", server->facts.process.pid));
    lost = count_in_memory(server);
    if (lost > 0) {
        log_warn("jobs_lost", log_number("jobs", (int64_t)lost),
                 log_string("why", "they were in memory only"));
    }
    notify_stopping(&server->notifier);
    server->stage = SERVER_STOPS;
    server_drain_conns(server);
    listeners_close(&server->listeners);
    if (event_add(&server->patience, &STOP_PATIENCE) != 0) {
        server->stage = SERVER_GIVES_UP;
    }
}

// The sender of a signal finds the reason in the log.
static void server_signal_reload(struct server *server)
{
    struct error_text why;

    (void)server_handle_reload(server, &why);
}

// The store is being opened, and only its thread may use the broker. Requests to the broker are
// deferred; of contradictory ones, the last counts. The service manager waits for the start, and is
// told of nothing else.
static void server_signal_early(struct server *server, enum signal_request request)
{
    switch (request) {
    case SIGNAL_STOP:
        log_info("stopping", log_number("pid", server->facts.process.pid));
        notify_stopping(&server->notifier);
        opening_stop(&server->opening);
        return;
    case SIGNAL_DRAIN:
    case SIGNAL_ACCEPT:
        server->deferred_signals = 1u << request;
        return;
    case SIGNAL_RELOAD:
        server_signal_reload(server);
        return;
    }
    UNREACHABLE();
}

void server_signal(void *context, enum signal_request request)
{
    struct server *server = context;

    turn_tick(&server->loop.turn);
    if (server->stage == SERVER_STARTS) {
        server_signal_early(server, request);
        return;
    }
    switch (request) {
    case SIGNAL_STOP:
        server_stop(server);
        return;
    case SIGNAL_DRAIN:
        log_info("draining", log_number("pid", server->facts.process.pid));
        broker_drain(server->broker);
        return;
    case SIGNAL_ACCEPT:
        log_info("accepting_jobs", log_number("pid", server->facts.process.pid));
        broker_end_drain(server->broker);
        return;
    case SIGNAL_RELOAD:
        server_signal_reload(server);
        return;
    }
    UNREACHABLE();
}

bool server_is_up(const struct server *server)
{
    return server->stage == SERVER_RUNS;
}

static void server_obey_deferred(struct server *server)
{
    unsigned deferred = server->deferred_signals;

    server->deferred_signals = 0;
    for (unsigned request = 0; request <= SIGNAL_RELOAD; request++) {
        if (deferred & 1u << request) {
            server_signal(server, (enum signal_request)request);
        }
    }
}

// Whether the loop must turn: while the server runs, and then until all output is sent.
static bool server_goes_on(const struct server *server)
{
    bool drains = server->stage == SERVER_STOPS || server->stage == SERVER_HANDS_OVER;

    return server->stage == SERVER_RUNS ||
           (drains && (server->loop.turn.open > 0 || push_service_is_busy(&server->push_service)));
}

static void server_serve(struct server *server)
{
    while (server_goes_on(server)) {
        loop_turn(&server->loop, true);
        server_limit_connections(server);
        if (server->loop.turn.fence && server->stage == SERVER_RUNS) {
            server_watch_store(server);
        }
        if (server->hand_over_wanted && server->stage == SERVER_RUNS) {
            server_hand_over(server);
        }
    }
    if (server->stage == SERVER_HANDS_OVER) {
        server->stage = SERVER_RESTARTS;
    }
}

enum exit_reason server_run(struct server *server, struct error_text *why)
{
    enum exit_reason result = EXIT_REASON_NONE;

    while (result == EXIT_REASON_NONE && server_is_up(server)) {
        server_obey_deferred(server);
        server_serve(server);
        if (server->stage == SERVER_RESTARTS) {
            result =
                server_begin_again(server, why) ? server_come_up(server, why) : EXIT_REASON_OTHER;
        }
    }
    return result;
}

bool server_hangs(const struct server *server)
{
    return server->hangs;
}

void server_leave(struct server *server)
{
    listeners_close(&server->listeners);
    pid_file_release(&server->pid_file);
}

// Signals are caught until the end, so that none ends the process while the store is completed.
bool server_close(struct server *server)
{
    bool good;

    if (server->loop.turn.io) {
        io_shut(server->loop.turn.io);
    }
    if (server->loop.turn.base) {
        listeners_close(&server->listeners);
        handshakes_close(&server->handshakes);
        loop_close_all(&server->loop);
    }
    good = server_close_store(server);
    services_stop(&server->services);
    if (server->loop.turn.base) {
        signals_close(&server->signals);
        (void)event_del(&server->patience);
        notifier_close(&server->notifier);
        suspend_watch_close(&server->suspend_watch);
    }
    loop_close(&server->loop);
    peer_limits_free(server->peer_limits);
    proxies_free(server->proxies);
    pid_file_release(&server->pid_file);
    config_introspect_clear(&server->introspection.settings);
    memset(server, 0, sizeof *server);
    return good;
}
