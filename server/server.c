/* SPDX-License-Identifier: MIT */
#include "server/server.h"

#include "core/base/log.h"
#include "server/config/listen_address.h"
#include "server/config/settings.h"
#include "server/conn/rule_set.h"
#include "server/io/io.h"
#include "server/net/listener.h"
#include "server/process/clock.h"
#include "server/process/daemon.h"
#include "server/process/resources.h"
#include "server/server_private.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// The target of connections of the protocol with that index.
static struct listener_target server_target(struct server *server, size_t index)
{
    return (struct listener_target){
        .protocol = frontends[index]->name,
        .accept = server_accept,
        .context = &server->services.each[index],
        .tls_context = &server->services.tls_each[index],
        .kind = (unsigned)index,
    };
}

static bool server_adopt(void *context, int fd, size_t index, bool tls, struct error_text *why)
{
    struct server *server = context;
    const struct listener_target target = server_target(server, index);

    server->inherited[index] = true;
    if (tls && !services_open_tls(&server->services, &server->settings->tls, why)) {
        (void)close(fd);
        return false;
    }
    return listeners_adopt(&server->listeners, fd, tls, &target, why);
}

// Listens at the addresses of the `listen` keys, except for protocols with inherited sockets.
static bool server_listen_at(struct server *server, struct error_text *why)
{
    for (size_t i = 0; i < FRONTENDS; i++) {
        const char *addresses = server->settings->protocols[i].listen;
        const struct listener_target target = server_target(server, i);

        if (server->inherited[i]) {
            log_info("listen_replaced", log_string("protocol", frontends[i]->name),
                     log_string("addresses", addresses), log_string("by", "inherited sockets"));
        } else if ((address_list_has_tls(addresses) &&
                    !services_open_tls(&server->services, &server->settings->tls, why)) ||
                   !listeners_open(&server->listeners, addresses, &target, why)) {
            return false;
        }
    }
    if (listeners_empty(&server->listeners)) {
        return error_set(why, "no address to listen at: every `listen` key is empty");
    }
    return true;
}

// The mode of unix sockets is set by the umask, so that no socket ever has another mode.
static bool server_listen(struct server *server, struct error_text *why)
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

// Warns if the user cannot read files that a reload reads: often only root may read a private key.
static void server_check_reload(const struct server *server, const char *user)
{
    struct error_text why;

    if (services_have_tls(&server->services) && !settings_check_tls(server->settings, &why)) {
        log_warn("tls_not_readable", log_string("user", user), log_string("why", why.text),
                 log_string("note", "SIGHUP cannot read it again"));
    }
    if (!settings_check_access(server->settings, &why)) {
        log_warn("access_not_readable", log_string("user", user), log_string("why", why.text),
                 log_string("note", "SIGHUP cannot read it again, and then changes nothing"));
    }
}

// The log is reopened, and files that settings name are read, at once: a failure now is better than
// one at the first SIGHUP.
static enum exit_reason server_drop_privilege(struct server *server, struct error_text *why)
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
        error_prefix(why, "as user %s: ", user);
        return EXIT_REASON_OTHER;
    }
    server_check_reload(server, user);
    return EXIT_REASON_NONE;
}

static bool server_claim_pid_file(struct server *server, const char *spare, struct error_text *why)
{
    const char *path = server->settings->server.pid_file;

    if (*path == '\0' || pid_file_claim(&server->pid_file, path, why)) {
        return true;
    }
    if (!spare || strcmp(path, spare) != 0) {
        return false;
    }
    log_warn("pid_file_not_had", log_string("why", why->text));
    return true;
}

// The time for output that is still to be sent is over.
static void server_patience_over(evutil_socket_t fd, short what, void *context)
{
    struct server *server = context;

    (void)fd;
    (void)what;
    server->stage = server->stage == SERVER_HANDS_OVER ? SERVER_RESTARTS : SERVER_GIVES_UP;
}

bool server_is_ready(struct server *server, struct error_text *why)
{
    if (server->is_ready) {
        return true;
    }
    if (!pid_file_write(&server->pid_file, why)) {
        return false;
    }
    server->is_ready = true;
    server->ready(server->ready_context);
    notify_ready(&server->notifier);
    return true;
}

static void server_resumed(void *context, nsec_t slept_for)
{
    struct server *server = context;

    if (slept_for > 0) {
        log_info("resumed", log_number("seconds", (slept_for + NSEC_PER_SEC / 2) / NSEC_PER_SEC));
    }
    loop_resumed(&server->loop, slept_for);
}

// Makes what is needed before the first address is opened.
static bool server_prepare(struct server *server, struct error_text *why)
{
    const struct siphash_key key = facts_key();
    const char *path = server->settings->server.access_file;
    struct rule_set *rules = NULL;

    error_set(why, "out of memory or descriptors, or the system has no epoll");
    server->peer_limits = peer_limits_new(&key);
    if (!server->peer_limits ||
        !loop_init(&server->loop, opening_broker(&server->opening), clock_now)) {
        return false;
    }
    server->loop.turn.peer_limits = server->peer_limits;
    // The rules are in force before the first connection begins.
    if (*path) {
        rules = rule_set_read(path, why);
        if (!rules) {
            return false;
        }
    }
    turn_set_rules(&server->loop.turn, rules);
    capacity_raise();
    listeners_init(&server->listeners, server->loop.turn.base);
    server_init_handshakes(server);
    notifier_open(&server->notifier, server->loop.turn.base);
    suspend_watch_open(&server->suspend_watch, server->loop.turn.base, server_resumed, server);
    server->loop.suspend_watch = &server->suspend_watch;
    (void)evtimer_assign(&server->patience, server->loop.turn.base, server_patience_over, server);
    return signals_open(&server->signals, server->loop.turn.base, server_signal, server) &&
           server_start_services(server, why);
}

enum exit_reason server_open(struct server *server, const struct server_start *start,
                             struct error_text *why)
{
    enum exit_reason result;

    memset(server, 0, sizeof *server);
    server->settings = start->settings;
    server->source = start->source;
    server->log = start->log;
    server->options = start->options;
    server->ready = start->ready;
    server->ready_context = start->context;
    facts_gather(&server->facts, clock_now());
    server_init_introspect(server);
    if (!server_make_store(server, why) ||
        !server_claim_pid_file(server, start->spare_pid_file, why) ||
        !server_prepare(server, why)) {
        return EXIT_REASON_OTHER;
    }
    if (!inherited_each(server_adopt, server, why) || !server_listen(server, why)) {
        return EXIT_REASON_ADDRESS;
    }
    peer_limits_slots(server->peer_limits)->listened = listeners_kinds(&server->listeners);
    server_advertise(server);
    server_apply(server);
    result = server_drop_privilege(server, why);
    if (result == EXIT_REASON_NONE) {
        result = server_come_up(server, why);
    }
    if (result == EXIT_REASON_NONE && server_is_up(server) && !server_is_ready(server, why)) {
        result = EXIT_REASON_OTHER;
    }
    return result;
}

// The time to send staged replies when the server stops.
static const struct timeval STOP_PATIENCE = {.tv_sec = 2};

// The jobs that are lost with the process: without a store all; otherwise those that are not
// durable, which are searched one by one, as no client is served any more.
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

// Whether the loop goes on: when it does not run any more, as long as output is to be sent.
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
    pid_file_release(&server->pid_file);
    config_introspect_clear(&server->introspection.settings);
    memset(server, 0, sizeof *server);
    return good;
}
