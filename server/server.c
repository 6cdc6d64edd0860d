/* SPDX-License-Identifier: MIT */
#include "server/server_private.h"

#include "core/base/log.h"
#include "core/base/memory.h"
#include "server/calendar.h"
#include "server/config/connection_memory.h"
#include "server/io/io.h"
#include "server/config/queue_push.h"
#include "server/process/capacity.h"
#include "server/rules.h"

#include <string.h>

// How long staged replies may take to leave when the server stops.
static const struct timeval STOP_PATIENCE = {.tv_sec = 2};

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
    chores_remove(&server->loop.turn, &server->calendar);
    if (server->loop.turn.io) {
        io_shut(server->loop.turn.io);
    }
    listeners_close(&server->listeners);
    handshakes_close(&server->handshakes);
    loop_stop_conns(&server->loop);
    pushing_stop(&server->pushing);
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

    if (server->stage == SERVER_STARTS) {
        return server_reload(server);
    }
    notify_reloading(&server->notifier);
    good = server_reload(server);
    notify_ready(&server->notifier);
    return good;
}

// The store is being opened, and only its thread may touch the broker: what concerns that has to
// wait, and of requests that contradict each other the last one counts. The service manager waits
// for the start, and is told of nothing else.
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
        (void)server_read_again(server);
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
        (void)server_read_again(server);
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
           (server->stage == SERVER_STOPS &&
            (server->loop.turn.open > 0 || pushing_is_busy(&server->pushing)))) {
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
    pushing_close(&server->pushing);
    good = store_close(server->store);
    if (server->loop.turn.base) {
        signals_close(&server->signals);
        (void)event_del(&server->patience);
        notifier_close(&server->notifier);
    }
    loop_close(&server->loop);
    crowd_free(server->crowd);
    opening_clear(&server->opening);
    schedules_free(server->schedules);
    queue_policies_clear(&server->policies);
    broker_free(server->broker);
    pid_file_release(&server->pid_file);
    shown_clear(&server->shown.settings);
    memset(server, 0, sizeof *server);
    return good;
}
