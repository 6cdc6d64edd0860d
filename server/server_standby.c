/* SPDX-License-Identifier: MIT */
#include "server/server_private.h"

#include "core/base/log.h"
#include "core/base/slice.h"
#include "server/advertise.h"
#include "server/config/queue_push.h"
#include "server/process/capacity.h"
#include "server/process/clock.h"
#include "server/transport/transport.h"

#include <string.h>

void server_advertise(struct server *server)
{
    const char *host = server->settings->journal.address;
    char *text = server->standby.own;

    if (!server->store || !server->store->ops->advertise) {
        return;
    }
    advertise_write(&server->listeners, *host ? host : server->facts.machine.nodename, text,
                    sizeof server->standby.own);
    server->store->ops->advertise(server->store, text);
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

static bool proxies(const struct server *server)
{
    return server->settings->journal.standby == STANDBY_PROXY;
}

static uint64_t most_passed(const struct server *server)
{
    return capacity_passed(server->settings->server.max_connections,
                           listeners_count(&server->listeners),
                           queue_push_descriptors(&server->settings->named[SETTINGS_QUEUES]));
}

static void tell_status(struct server *server, const struct store_owner *owner)
{
    char text[sizeof "standing by:  owns the jobs" + sizeof owner->name];

    (void)snprintf(text, sizeof text, "standing by: %s owns the jobs",
                   *owner->name ? owner->name : "nobody");
    notify_status(&server->notifier, text);
}

// From now on it is ready for whoever supervises it: to stand by may last for days.
static void begin(struct server *server, const struct store_owner *owner)
{
    struct standby *standby = &server->standby;
    const struct proxy_limits limits = {
        .most = most_passed(server), .connect_for = PROXY_CONNECT_FOR, .crowd = server->crowd};

    standby->on = true;
    standby->owner = *owner;
    log_info("standing_by", log_string("owner", owner->name), log_string("address", owner->address),
             log_number("epoch", (int64_t)owner->epoch));
    tell_status(server, owner);
    opening_is_ready(&server->opening);
    if (proxies(server)) {
        standby->proxy = proxy_new(server->loop.turn.base, &limits);
    }
    if (!server_is_ready(server, &standby->why)) {
        standby->failed = true;
        opening_stop(&server->opening);
    }
}

static void note_owner(struct server *server, const struct store_owner *owner)
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
    tell_status(server, owner);
}

// Whether somebody else is known to own the journal, or this process would never.
static bool has_others(const struct server *server, const struct store_owner *owner)
{
    struct sight_cluster cluster = {.role = SIGHT_ALONE};

    if (*owner->name) {
        return true;
    }
    server->store->ops->cluster(server->store, &cluster);
    return server->settings->journal.role == STORE_ROLE_STANDBY && cluster.connected;
}

// Whether connections for the protocol are left where they wait to be accepted: whoever comes to
// own the jobs will serve them.
static bool leaves_waiting(void *context, const char *protocol, bool tls)
{
    const struct server *server = context;
    const struct standby *standby = &server->standby;

    for (size_t i = 0; i < FRONTENDS; i++) {
        if (frontends[i]->administers && strcmp(frontends[i]->name, protocol) == 0) {
            return false;
        }
    }
    if (proxies(server)) {
        return !standby->proxy || !proxy_can_take(standby->proxy, protocol, tls);
    }
    return *standby->owner.name == '\0';
}

static bool has_word(const char *text, struct slice word)
{
    for (size_t len; *text; text += len + strspn(text + len, " ")) {
        len = strcspn(text, " ");
        if (len == word.len && memcmp(text, word.ptr, len) == 0) {
            return true;
        }
    }
    return false;
}

// Whether both name a place, which is a word.
static bool share_place(const char *text, const char *other)
{
    for (size_t len; *text; text += len + strspn(text + len, " ")) {
        len = strcspn(text, " ");
        if (len > 0 && has_word(other, slice_of(text, len))) {
            return true;
        }
    }
    return false;
}

// What this process has let go of may be its own for a while yet: nobody serves that. Nor does this
// process pass anybody on to itself, where another says that it is to be found here.
static void find_owner(const struct server *server, struct store_owner *owner)
{
    server->store->ops->owner(server->store, owner);
    if (share_place(owner->address, server->standby.own)) {
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
    find_owner(server, &owner);
    if (*owner.name) {
        server->standby.free_at = 0;
    } else if (server->standby.free_at == 0) {
        server->standby.free_at = clock_boot();
    }
    if (server->standby.on) {
        note_owner(server, &owner);
    } else if (has_others(server, &owner)) {
        begin(server, &owner);
    }
    if (server->standby.on) {
        if (server->standby.proxy) {
            proxy_limit(server->standby.proxy, most_passed(server));
            proxy_aim(server->standby.proxy, owner.address);
        }
        listeners_shut(&server->listeners, leaves_waiting, server);
    }
}

void server_pass_on(struct server *server, const struct service *service, int fd, const char *peer)
{
    struct proxy *proxy = server->standby.proxy;

    if (proxy) {
        (void)proxy_take(proxy, fd, peer, service->frontend->name,
                         service->transport->handshake != NULL);
        // It may have been the last one that is taken now; others are about to be accepted.
        listeners_shut(&server->listeners, leaves_waiting, server);
    } else {
        crowd_leave(server->crowd, fd);
        transport_plain.close(fd, NULL);
    }
}

void server_show_passed(const struct server *server, uint64_t *open, uint64_t *total)
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
    server_show_passed(server, &open, &total);
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
    server->store->ops->owner(server->store, &owner);
    log_info("took_over", log_number("epoch", (int64_t)owner.epoch),
             log_number("ms", free_for / NSEC_PER_MSEC));
    notify_status(&server->notifier, "owns the jobs");
    standby->free_at = 0;
}
