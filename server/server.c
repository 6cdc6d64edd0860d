/* SPDX-License-Identifier: MIT */
#include "server/server.h"

#include "core/base/log.h"
#include "server/process/capacity.h"
#include "server/process/clock.h"
#include "server/config/file_mode.h"
#include "server/inherited.h"
#include "server/process/privilege.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// How long staged replies may take to leave when the server stops.
static const struct timeval STOP_PATIENCE = {.tv_sec = 2};

// Accepting goes on while there is room. The log is told once, until there is some ease again.
static void server_review_room(struct server *server)
{
    uint64_t open = server->loop.turn.open;
    bool full = open >= server->most_connections;

    if (full && !server->full_said) {
        server->full_said = true;
        log_warn("connections_limit", log_number("connections", (int64_t)open));
    } else if (open < server->most_connections - server->most_connections / 8) {
        server->full_said = false;
    }
    listeners_hold(&server->listeners, full);
}

// Takes over what may change while the server runs.
static void server_apply(struct server *server)
{
    const struct server_settings *now = &server->settings->server;

    server->most_connections =
        capacity_connections(now->max_connections, listeners_count(&server->listeners));
    server->loop.turn.unread_for = nsec_from_seconds((uint64_t)now->write_timeout);
    server->loop.slow_for = now->slow_turn * NSEC_PER_MSEC;
}

static void server_accept(void *context, int fd, const char *peer)
{
    const struct service *service = context;

    turn_tick(service->turn);
    conn_open(service, fd, peer);
    server_review_room(container_of(service->turn, struct server, loop.turn));
}

static void patience_over(evutil_socket_t fd, short what, void *context)
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
    listeners_close(&server->listeners);
    loop_finish_all(&server->loop);
    if (event_add(&server->patience, &STOP_PATIENCE) != 0) {
        server->stage = SERVER_GIVES_UP;
    }
}

static bool server_open_log(const struct server *server, const struct settings *settings,
                            struct reason *why)
{
    const struct server_settings *now = &settings->server;

    return log_output_open(server->log, now->log_file, (enum log_format)now->log_format,
                           (enum log_level)now->log_level, why);
}

// A file or a value that is wrong changes nothing.
static void server_reload(struct server *server)
{
    struct settings_source source = *server->source;
    struct reason why;
    struct settings *fresh;

    source.again = true;
    fresh = settings_load(&source, &why);

    if (!fresh || !server_open_log(server, fresh, &why)) {
        log_error("reload_failed", log_string("why", why.text),
                  log_string("note", "nothing has changed: what was read before holds"));
        settings_free(fresh);
        return;
    }
    config_adopt(&server->settings->config, &fresh->config);
    server_apply(server);
    settings_free(fresh);
    for (size_t i = 0; i < FRONTENDS; i++) {
        if (frontends[i]->reload) {
            frontends[i]->reload(server->services[i].shared);
        }
    }
    log_info("reloaded", log_string("file", server->source->path ? server->source->path : ""));
}

// The broker is not ours yet. What may be wished for can wait, but for the end.
static void server_signal_early(struct server *server, enum signal_wish wish)
{
    if (wish != SIGNAL_STOP) {
        // Of those that contradict each other, the last one counts.
        if (wish == SIGNAL_DRAIN || wish == SIGNAL_ACCEPT) {
            server->wished &= ~(1u << SIGNAL_DRAIN | 1u << SIGNAL_ACCEPT);
        }
        server->wished |= 1u << wish;
        return;
    }
    log_info("stopping", log_number("pid", server->facts.process.pid));
    notify_stopping(&server->notifier);
    opening_stop(&server->opening);
}

static void server_signal(void *context, enum signal_wish wish)
{
    struct server *server = context;

    if (server->stage == SERVER_STARTS) {
        server_signal_early(server, wish);
        return;
    }
    turn_tick(&server->loop.turn);
    switch (wish) {
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

static bool server_start_frontends(struct server *server, struct reason *why)
{
    for (size_t i = 0; i < FRONTENDS; i++) {
        const struct frontend *frontend = frontends[i];
        struct service *service = &server->services[i];
        enum status status = STATUS_NO_MEMORY;

        service->frontend = frontend;
        service->turn = &server->loop.turn;
        service->transport = &transport_plain;
        service->shared = calloc(1, frontend->shared_size ? frontend->shared_size : 1);
        if (service->shared) {
            status =
                frontend->start(service->shared, server->broker,
                                server->settings->protocols[i].options, &server->facts.process);
        }
        if (status != STATUS_OK) {
            free(service->shared);
            reason_set(why, "%s: %s", frontend->name, status_text(status));
            return false;
        }
        server->started++;
    }
    return true;
}

static bool server_adopt(void *context, int fd, size_t index, struct reason *why)
{
    struct server *server = context;

    server->inherited[index] = true;
    return listeners_adopt(&server->listeners, fd, frontends[index]->name, server_accept,
                           &server->services[index], why);
}

// Opens what the `listen` keys say, but for the protocols that were handed their sockets.
static bool server_listen_at(struct server *server, struct reason *why)
{
    for (size_t i = 0; i < FRONTENDS; i++) {
        const char *addresses = server->settings->protocols[i].listen;

        if (server->inherited[i]) {
            log_info("listen_replaced", log_string("protocol", frontends[i]->name),
                     log_string("addresses", addresses), log_string("by", "inherited sockets"));
        } else if (!listeners_open(&server->listeners, addresses, frontends[i]->name, server_accept,
                                   &server->services[i], why)) {
            return false;
        }
    }
    if (listeners_empty(&server->listeners)) {
        reason_set(why, "no address to listen at: every `listen` key is empty");
        return false;
    }
    return true;
}

// The mode of unix sockets is set by the umask, so that no socket is there with another one.
static bool server_listen(struct server *server, struct reason *why)
{
    const char *text = server->settings->server.socket_mode;
    mode_t mode = 0;
    mode_t saved;
    bool good;

    if (*text == '\0') {
        return server_listen_at(server, why);
    }
    if (!file_mode_parse(text, &mode, why)) {
        return false;
    }
    saved = umask(0777 & ~mode);
    good = server_listen_at(server, why);
    (void)umask(saved);
    return good;
}

// The log is opened anew right away, and files that settings name are read: better that it fails
// now than at the first SIGHUP.
static enum exit_reason server_drop_privilege(struct server *server, struct reason *why)
{
    const char *user = server->settings->server.user;
    struct identity identity;
    enum exit_reason result;

    if (*user == '\0') {
        return EXIT_REASON_NONE;
    }
    result = privilege_find(user, &identity, why);
    if (result != EXIT_REASON_NONE) {
        return result;
    }
    log_output_give(server->log, identity.uid, identity.gid);
    result = privilege_become(&identity, why);
    if (result != EXIT_REASON_NONE) {
        return result;
    }
    log_info("user_changed", log_string("user", user), log_number("uid", identity.uid),
             log_number("gid", identity.gid));
    if (!server_open_log(server, server->settings, why) || !settings_check(server->settings, why)) {
        reason_wrap(why, "as user %s: ", user);
        return EXIT_REASON_OTHER;
    }
    return EXIT_REASON_NONE;
}

// What is there before the first address is listened at.
static bool server_prepare(struct server *server, struct reason *why)
{
    struct broker_options broker_options = {.secret = facts_secret()};
    const char *pid_file = server->settings->server.pid_file;
    struct instant now = clock_now();

    if (*pid_file && !pid_file_claim(&server->pid_file, pid_file, why)) {
        return false;
    }
    store_record(server->store, &broker_options);
    reason_set(why, "out of memory or descriptors, or the system has no epoll");
    server->broker = broker_new(&broker_options, now);
    if (!server->broker || !loop_init(&server->loop, server->broker, clock_now)) {
        return false;
    }
    capacity_raise();
    listeners_init(&server->listeners, server->loop.turn.base);
    notifier_open(&server->notifier, server->loop.turn.base);
    (void)evtimer_assign(&server->patience, server->loop.turn.base, patience_over, server);
    return signals_open(&server->signals, server->loop.turn.base, server_signal, server) &&
           server_start_frontends(server, why);
}

// Nobody is accepted before all jobs are back.
static enum exit_reason server_open_store(struct server *server, struct reason *why)
{
    server->opening.store = server->store;
    server->opening.notifier = &server->notifier;
    listeners_hold(&server->listeners, true);
    switch (opening_run(&server->opening, &server->loop, why)) {
    case OPENING_DONE:
        server->stage = SERVER_RUNS;
        server_review_room(server);
        return EXIT_REASON_NONE;
    case OPENING_FAILED:
        return EXIT_REASON_JOURNAL;
    case OPENING_HANGS:
        server->hangs = true;
        server->stage = SERVER_GIVES_UP;
        return EXIT_REASON_NONE;
    case OPENING_STOPPED:
        server->stage = SERVER_GIVES_UP;
        return EXIT_REASON_NONE;
    }
    UNREACHABLE();
}

// A journal that has moved to another host, or whose host has a new name, as a container that is
// made anew has: handles that clients keep go on to be good.
static void server_name_host(const struct server *server)
{
    const char *host = store_host(server->store);
    const char *here = server->facts.process.hostname;

    if (*host == '\0' || strcmp(host, here) == 0) {
        return;
    }
    log_info("journal_host", log_string("host", host), log_string("here", here),
             log_string("note", "default handles go on to begin with the name in the journal"));
    for (size_t i = 0; i < FRONTENDS; i++) {
        if (frontends[i]->name_host) {
            frontends[i]->name_host(server->services[i].shared, host);
        }
    }
}

enum exit_reason server_open(struct server *server, const struct server_start *start,
                             struct reason *why)
{
    enum exit_reason result;

    memset(server, 0, sizeof *server);
    server->settings = start->settings;
    server->source = start->source;
    server->log = start->log;
    facts_gather(&server->facts, clock_now());
    if (!store_make(&server->store, start->settings, &start->wishes, server->facts.machine.nodename,
                    why) ||
        !server_prepare(server, why)) {
        return EXIT_REASON_OTHER;
    }
    if (!inherited_each(server_adopt, server, why) || !server_listen(server, why)) {
        return EXIT_REASON_ADDRESS;
    }
    server_apply(server);
    result = server_drop_privilege(server, why);
    if (result == EXIT_REASON_NONE) {
        result = server_open_store(server, why);
    }
    if (result == EXIT_REASON_NONE && server_is_up(server)) {
        server_name_host(server);
    }
    if (result == EXIT_REASON_NONE && server_is_up(server) &&
        !pid_file_write(&server->pid_file, why)) {
        result = EXIT_REASON_OTHER;
    }
    return result;
}

bool server_is_up(const struct server *server)
{
    return server->stage == SERVER_RUNS;
}

void server_run(struct server *server)
{
    notify_ready(&server->notifier);
    for (unsigned wish = 0; wish <= SIGNAL_RELOAD; wish++) {
        if (server->wished & 1u << wish) {
            server_signal(server, (enum signal_wish)wish);
        }
    }
    while (server->stage == SERVER_RUNS ||
           (server->stage == SERVER_STOPS && !list_empty(&server->loop.turn.all))) {
        loop_turn(&server->loop, true);
        server_review_room(server);
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

    if (server->loop.turn.base) {
        listeners_close(&server->listeners);
        loop_close_all(&server->loop);
    }
    while (server->started > 0) {
        struct service *service = &server->services[--server->started];

        service->frontend->stop(service->shared);
        free(service->shared);
    }
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
