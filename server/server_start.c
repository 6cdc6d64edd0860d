/* SPDX-License-Identifier: MIT */
#include "server/server_private.h"

#include "core/base/log.h"
#include "server/config/listen_address.h"
#include "server/config/settings.h"
#include "server/net/listener.h"
#include "server/process/resources.h"
#include "server/process/clock.h"
#include "server/process/daemon.h"
#include "server/conn/rule_set.h"

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
        .tls_context = &server->services.ways[SERVICE_TLS][index],
        .proxied_context = &server->services.ways[SERVICE_PROXIED][index],
        .proxied_tls_context = &server->services.ways[SERVICE_PROXIED_TLS][index],
        .kind = (unsigned)index,
    };
}

static bool server_adopt(void *context, int fd, size_t index, bool tls, bool proxied,
                         struct error_text *why)
{
    struct server *server = context;
    const struct listener_target target = server_target(server, index);

    server->inherited[index] = true;
    if (tls && !services_open_tls(&server->services, &server->settings->tls, why)) {
        (void)close(fd);
        return false;
    }
    return listeners_adopt(&server->listeners, fd, tls, proxied, &target, why);
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

static void server_resumed(void *context, nsec_t slept_for)
{
    struct server *server = context;

    if (slept_for > 0) {
        log_info("resumed", log_number("seconds", (slept_for + NSEC_PER_SEC / 2) / NSEC_PER_SEC));
    }
    loop_resumed(&server->loop, slept_for);
}

// Makes everything that is needed before the first address is opened.
static bool server_prepare(struct server *server, struct error_text *why)
{
    const struct siphash_key key = facts_key();
    const char *path = server->settings->server.access_file;
    struct rule_set *rules = NULL;

    error_set(why, "out of memory or descriptors, or the system has no epoll");
    server->peer_limits = peer_limits_new(&key);
    server->proxies = proxies_new();
    if (!server->peer_limits || !server->proxies ||
        !loop_init(&server->loop, opening_broker(&server->opening), clock_now)) {
        return false;
    }
    server->loop.turn.peer_limits = server->peer_limits;
    services_set_proxies(&server->services, server->proxies, server->peer_limits);
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
    server->io_threads = server_count_io_threads(server);
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
