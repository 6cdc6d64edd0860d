/* SPDX-License-Identifier: MIT */
#include "server/server_private.h"

#include "core/base/log.h"
#include "core/base/slice.h"
#include "server/config/listen_address.h"
#include "server/config/settings.h"
#include "server/config/queue_section.h"
#include "server/net/proxied.h"
#include "server/process/resources.h"
#include "server/proxy/owner_address.h"
#include "server/process/clock.h"
#include "server/transport/transport.h"

#include <stdio.h>
#include <string.h>

struct advertised {
    const char *host;
    char *text;
    size_t size;
    size_t len;
    bool has[2]; // an address of the protocol, without TLS and with it
};

// Adds an address as logged: `[tls:]HOST:PORT` or `[tls:]unix:PATH`. Only the first of each kind is
// added, as no reader would try another, and none that is for proxies only.
static void advertise_add(struct advertised *advertised, const char *protocol, const char *address)
{
    const char *host = advertised->host;
    bool tls = strncmp(address, ADDRESS_TLS, strlen(ADDRESS_TLS)) == 0;
    bool bare = strchr(host, ':') && *host != '[';
    const char *port;
    size_t room = advertised->size - advertised->len;
    int len;

    address += tls ? strlen(ADDRESS_TLS) : 0;
    port = strrchr(address, ':');
    if (strncmp(address, "unix:", 5) == 0 ||
        strncmp(address, ADDRESS_PROXY, strlen(ADDRESS_PROXY)) == 0 || !port ||
        advertised->has[tls]) {
        return;
    }
    advertised->has[tls] = true;
    len = snprintf(advertised->text + advertised->len, room, "%s%s%s=%s%s%s%s",
                   advertised->len > 0 ? " " : "", protocol, tls ? "+tls" : "", bare ? "[" : "",
                   host, bare ? "]" : "", port);
    if (len < 0 || (size_t)len >= room) {
        advertised->text[advertised->len] = '\0';
        log_warn("not_advertised", log_string("protocol", protocol), log_string("address", address),
                 log_string("note", "the text that other processes read has no room for it"));
    } else {
        advertised->len += (size_t)len;
    }
}

// Adds the proxies that this process believes at each address, so that standbys among them name
// their clients. From now on it does.
static void advertise_proxies(struct advertised *advertised, struct proxies *proxies,
                              const char *text)
{
    char *word = advertised->text + advertised->len;
    size_t room = advertised->size - advertised->len;
    char *list = word + 1 + strlen(OWNER_PROXIES);
    int len = snprintf(word, room, " %s%s", OWNER_PROXIES, text);

    if (*text == '\0' || len < 0 || (size_t)len >= room) {
        *word = '\0';
        if (*text != '\0') {
            log_warn("not_advertised", log_string("addresses", text),
                     log_string("note", "the text that other processes read has no room for the "
                                        "proxies: standbys do not name their clients"));
        }
        return;
    }
    for (char *at = list; *at; at++) {
        if (*at == ' ' || *at == '\t') {
            *at = ',';
        }
    }
    advertised->len += (size_t)len;
    proxies_set_members(proxies, list);
}

// The addresses of this process for the others that share its store (proxy/owner_address.h). HOST
// is the configured one, or the name of the machine, because the process may listen on any address
// of the machine. Unix sockets are left out, and words for which there is no room.
void server_advertise(struct server *server)
{
    const char *host = server->settings->journal.address;
    struct advertised advertised = {.host = *host ? host : server->facts.machine.nodename,
                                    .text = server->standby.own,
                                    .size = sizeof server->standby.own};
    const char *address;

    if (!server->store || !server->store->shared) {
        return;
    }
    *advertised.text = '\0';
    for (size_t i = 0; i < FRONTENDS; i++) {
        const char *protocol = frontends[i]->name;

        memset(advertised.has, 0, sizeof advertised.has);
        for (size_t n = 0; (address = listeners_address(&server->listeners, protocol, n)); n++) {
            advertise_add(&advertised, protocol, address);
        }
    }
    advertise_proxies(&advertised, server->proxies, server->settings->server.proxies);
    server->store->shared->advertise(server->store, advertised.text);
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

static bool standby_proxies(const struct server *server)
{
    return server->settings->journal.standby == STANDBY_PROXY;
}

static uint64_t standby_proxy_limit(const struct server *server)
{
    return capacity_passed(server->settings->server.max_connections,
                           listeners_count(&server->listeners),
                           queue_push_descriptors(&server->settings->named[SETTINGS_QUEUES]));
}

static void standby_notify_status(struct server *server, const struct store_owner *owner)
{
    char text[sizeof "standing by: no process owns the jobs" + sizeof owner->name];

    (void)snprintf(text, sizeof text, "standing by: %s owns the jobs",
                   *owner->name ? owner->name : "no process");
    notify_status(&server->notifier, text);
}

// Begins to stand by, which may last for days, so the supervisor is notified that the process is
// ready.
static void standby_begin(struct server *server, const struct store_owner *owner)
{
    struct standby *standby = &server->standby;
    const struct proxy_limits limits = {.most = standby_proxy_limit(server),
                                        .connect_for = PROXY_CONNECT_FOR,
                                        .peer_limits = server->peer_limits};

    standby->on = true;
    standby->owner = *owner;
    log_info("standing_by", log_string("owner", owner->name), log_string("address", owner->address),
             log_number("epoch", (int64_t)owner->epoch));
    standby_notify_status(server, owner);
    opening_is_ready(&server->opening);
    if (standby_proxies(server)) {
        standby->proxy = proxy_new(server->loop.turn.base, &limits);
    }
    if (!server_is_ready(server, &standby->why)) {
        standby->failed = true;
        opening_stop(&server->opening);
    }
}

static void standby_note_owner(struct server *server, const struct store_owner *owner)
{
    struct standby *standby = &server->standby;
    bool changed = owner->epoch != standby->owner.epoch ||
                   strcmp(owner->name, standby->owner.name) != 0 ||
                   strcmp(owner->address, standby->owner.address) != 0;

    if (!changed) {
        return;
    }
    standby->owner = *owner;
    log_info("owner_changed", log_string("owner", owner->name),
             log_string("address", owner->address), log_number("epoch", (int64_t)owner->epoch));
    standby_notify_status(server, owner);
}

// True if another process owns the store, or if the settings forbid this process to own it
// (`role = standby`) and the database can be reached.
static bool standby_has_owner(const struct server *server, const struct store_owner *owner)
{
    struct introspect_cluster cluster = {.role = CLUSTER_ALONE};

    if (*owner->name) {
        return true;
    }
    server->store->shared->cluster(server->store, &cluster);
    return server->settings->journal.role == STORE_ROLE_STANDBY && cluster.connected;
}

// Whether connections for the protocol are left in the kernel's queue, for the process that becomes
// the owner.
static bool standby_leaves_waiting(void *context, const char *protocol, bool tls)
{
    const struct server *server = context;
    const struct standby *standby = &server->standby;

    for (size_t i = 0; i < FRONTENDS; i++) {
        if (frontends[i]->administers && strcmp(frontends[i]->name, protocol) == 0) {
            return false;
        }
    }
    if (standby_proxies(server)) {
        return !standby->proxy || !proxy_can_take(standby->proxy, protocol, tls);
    }
    return *standby->owner.name == '\0';
}

static bool text_has_word(const char *text, struct slice word)
{
    for (size_t len; *text; text += len + strspn(text + len, " ")) {
        len = strcspn(text, " ");
        if (len == word.len && memcmp(text, word.ptr, len) == 0) {
            return true;
        }
    }
    return false;
}

// Whether both texts contain the same address. Brokers may have the same proxies.
static bool addresses_overlap(const char *text, const char *other)
{
    for (size_t len; *text; text += len + strspn(text + len, " ")) {
        len = strcspn(text, " ");
        if (len > 0 && strncmp(text, OWNER_PROXIES, strlen(OWNER_PROXIES)) != 0 &&
            text_has_word(other, slice_of(text, len))) {
            return true;
        }
    }
    return false;
}

// The owner, unless that is this process: for a while after it has given the store up, or when
// another process names the same address. Then no process is the owner, as connections must not be
// passed on to this process.
static void standby_find_owner(const struct server *server, struct store_owner *owner)
{
    server->store->shared->owner(server->store, owner);
    if (addresses_overlap(owner->address, server->standby.own)) {
        *owner = (struct store_owner){.epoch = owner->epoch};
    }
}

void server_standby_turned(struct server *server)
{
    struct store_owner owner = {.epoch = 0};

    if (store_standing(server->store) != STORE_FOLLOWS || !store_is_opening(server->store)) {
        server_end_standby(server);
        return;
    }
    standby_find_owner(server, &owner);
    if (*owner.name) {
        server->standby.free_at = 0;
    } else if (server->standby.free_at == 0) {
        server->standby.free_at = clock_boot();
    }
    if (server->standby.on) {
        standby_note_owner(server, &owner);
    } else if (standby_has_owner(server, &owner)) {
        standby_begin(server, &owner);
    }
    if (server->standby.on) {
        if (server->standby.proxy) {
            proxy_limit(server->standby.proxy, standby_proxy_limit(server));
            proxy_aim(server->standby.proxy, owner.address);
        }
        listeners_shut(&server->listeners, standby_leaves_waiting, server);
    }
}

void server_pass_on(struct server *server, const struct service *service, int fd, const char *peer,
                    const struct client_address *client)
{
    struct proxy *proxy = server->standby.proxy;
    const struct passed_client passed = {
        .fd = fd, .peer = peer, .named = client, .tls = service->tls};

    if (proxy) {
        (void)proxy_take(proxy, &passed, service->frontend->name);
        // This connection may have been the last that can be passed on now, and others are about to
        // be accepted.
        listeners_shut(&server->listeners, standby_leaves_waiting, server);
    } else {
        peer_limits_leave(server->peer_limits, fd);
        transport_plain.close(fd, NULL);
    }
}

void server_count_passed(const struct server *server, uint64_t *open, uint64_t *total)
{
    *open = 0;
    *total = 0;
    if (server->standby.proxy) {
        proxy_show(server->standby.proxy, open, total);
    }
    *total += server->standby.passed;
}

void server_end_standby(struct server *server)
{
    struct standby *standby = &server->standby;
    uint64_t open, total;

    if (!standby->on) {
        return;
    }
    server_count_passed(server, &open, &total);
    standby->passed = total;
    proxy_free(standby->proxy);
    standby->proxy = NULL;
    standby->on = false;
    listeners_shut(&server->listeners, NULL, NULL);
}

void server_took_over(struct server *server)
{
    struct standby *standby = &server->standby;
    struct store_owner owner = {.epoch = 0};
    nsec_t free_for = standby->free_at > 0 ? clock_boot() - standby->free_at : 0;

    if (store_standing(server->store) == STORE_ALONE) {
        return;
    }
    standby->takeovers++;
    server->store->shared->owner(server->store, &owner);
    log_info("took_over", log_number("epoch", (int64_t)owner.epoch),
             log_number("ms", free_for / NSEC_PER_MSEC));
    notify_status(&server->notifier, "owns the jobs");
    standby->free_at = 0;
}
