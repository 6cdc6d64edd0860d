/* SPDX-License-Identifier: MIT */
#include "server/server_private.h"

#include "core/base/log.h"
#include "server/io/io.h"
#include "server/process/capacity.h"

#include <string.h>

// How long staged replies may take to leave when the server stops.
static const struct timeval STOP_PATIENCE = {.tv_sec = 2};

void server_apply(struct server *server)
{
    const struct server_settings *now = &server->settings->server;

    server->most_connections = capacity_connections(
        now->max_connections,
        listeners_count(&server->listeners) + IO_DESCRIPTORS(server_count_io_threads(server)));
    server->loop.turn.unread_for = nsec_from_seconds((uint64_t)now->write_timeout);
    server->loop.slow_for = now->slow_turn * NSEC_PER_MSEC;
    if (server->loop.turn.io) {
        server_limit_io(server);
    }
    handshakes_set_timeout(&server->handshakes,
                           nsec_from_seconds((uint64_t)now->handshake_timeout));
}

void server_patience_over(evutil_socket_t fd, short what, void *context)
{
    struct server *server = context;

    (void)fd;
    (void)what;
    server->stage = SERVER_GIVES_UP;
}

// Jobs that nothing keeps beyond the end of the process. Without a journal that is all of them;
// otherwise those that are not durable are looked for, one by one: nobody is served any more.
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
    broker_retire(server->broker);
    if (server->loop.turn.io) {
        io_shut(server->loop.turn.io);
    }
    listeners_close(&server->listeners);
    handshakes_close(&server->handshakes);
    loop_stop_conns(&server->loop);
    if (event_add(&server->patience, &STOP_PATIENCE) != 0) {
        server->stage = SERVER_GIVES_UP;
    }
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

// A file or a value that is wrong changes nothing.
static void server_reload(struct server *server)
{
    struct settings_source source = *server->source;
    struct reason why;
    struct settings *fresh;

    source.again = true;
    fresh = settings_load(&source, &why);

    if (!fresh || !server_take_tls(server, fresh, &why) || !server_open_log(server, fresh, &why)) {
        log_error("reload_failed", log_string("why", why.text),
                  log_string("note", "nothing has changed: what was read before holds"));
        settings_free(fresh);
        return;
    }
    server_reload_tls(server, fresh);
    config_adopt(&server->settings->config, &fresh->config);
    server_apply(server);
    settings_free(fresh);
    services_reload(&server->services);
    log_info("reloaded", log_string("file", server->source->path ? server->source->path : ""));
}

// The store is being opened, and only its thread may touch the broker. All requests can wait but
// that for the end.
static void server_signal_early(struct server *server, enum signal_request request)
{
    if (request != SIGNAL_STOP) {
        // Of those that contradict each other, the last one counts.
        if (request == SIGNAL_DRAIN || request == SIGNAL_ACCEPT) {
            server->deferred_signals &= ~(1u << SIGNAL_DRAIN | 1u << SIGNAL_ACCEPT);
        }
        server->deferred_signals |= 1u << request;
        return;
    }
    log_info("stopping", log_number("pid", server->facts.process.pid));
    notify_stopping(&server->notifier);
    opening_stop(&server->opening);
}

void server_signal(void *context, enum signal_request request)
{
    struct server *server = context;

    if (server->stage == SERVER_STARTS) {
        server_signal_early(server, request);
        return;
    }
    turn_tick(&server->loop.turn);
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
        notify_reloading(&server->notifier);
        server_reload(server);
        notify_ready(&server->notifier);
        return;
    }
    UNREACHABLE();
}

bool server_is_up(const struct server *server)
{
    return server->stage == SERVER_RUNS;
}

void server_run(struct server *server)
{
    notify_ready(&server->notifier);
    for (unsigned request = 0; request <= SIGNAL_RELOAD; request++) {
        if (server->deferred_signals & 1u << request) {
            server_signal(server, (enum signal_request)request);
        }
    }
    while (server->stage == SERVER_RUNS ||
           (server->stage == SERVER_STOPS && server->loop.turn.open > 0)) {
        loop_turn(&server->loop, true);
        server_limit_connections(server);
    }
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

// Signals are caught to the last, so that none ends the process while the journal is completed.
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
    io_close(server->loop.turn.io);
    server->loop.turn.io = NULL;
    services_stop(&server->services);
    good = store_close(server->store);
    if (server->loop.turn.base) {
        signals_close(&server->signals);
        (void)event_del(&server->patience);
        notifier_close(&server->notifier);
    }
    loop_close(&server->loop);
    broker_free(server->broker);
    pid_file_release(&server->pid_file);
    memset(server, 0, sizeof *server);
    return good;
}
