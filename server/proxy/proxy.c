/* SPDX-License-Identifier: MIT */
#include "server/proxy/proxy.h"

#include "core/base/list.h"
#include "core/base/log.h"
#include "core/base/memory.h"
#include "server/net/admission.h"
#include "server/process/clock.h"
#include "server/proxy/host_lookup.h"
#include "server/proxy/owner_address.h"
#include "server/proxy/relay.h"
#include "server/transport/origin.h"
#include "server/transport/transport.h"

#include <errno.h>
#include <event2/event_struct.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

// Targets: the owner's addresses, one for each protocol, and the hosts in them. Names are looked up
// in the background: at once, repeatedly while that fails, and once more after the owner was not
// reached. A target that was not reached rests for a moment, in which it takes no connection.

struct proxy_host {
    const char *name; // NULL: unused
    struct event_base *base;
    struct lookup_result found; // the addresses known so far
    struct lookup *lookup;      // under way, or NULL
    struct event again;         // looks it up again
    bool is_numeric;            // the name is an address
    bool warned;                // a failure was logged since the last success
};

struct proxy_target {
    struct owner_place place;
    struct proxy_host *host;
    struct event rested; // ends a rest
};

struct proxy_targets {
    struct event_base *base;
    size_t count;
    struct proxy_target each[OWNER_PLACES_MAX];
    struct proxy_host hosts[OWNER_PLACES_MAX];
};

static void proxy_host_found(void *context, const struct lookup_result *result)
{
    static const struct timeval again_after = {.tv_sec = 2};
    struct proxy_host *host = context;

    host->lookup = NULL;
    if (result->count > 0) {
        host->found = *result;
        host->warned = false;
        return;
    }
    if (!host->warned) {
        host->warned = true;
        log_warn("proxy_lookup_failed", log_string("host", host->name),
                 log_string("why", result->why));
    }
    (void)event_add(&host->again, &again_after);
}

// The known addresses stay in use until the lookup has succeeded.
static void proxy_host_look_up(struct proxy_host *host)
{
    static const struct lookup_result nothing = {.why = "out of memory, descriptors or threads"};

    if (host->lookup || host->is_numeric) {
        return;
    }
    host->lookup = lookup_begin(host->base, host->name, proxy_host_found, host);
    if (!host->lookup) {
        proxy_host_found(host, &nothing);
    }
}

static void proxy_host_again(evutil_socket_t fd, short what, void *context)
{
    (void)fd;
    (void)what;
    proxy_host_look_up(context);
}

// After a rest, the name may have another address.
static void proxy_target_rested(evutil_socket_t fd, short what, void *context)
{
    const struct proxy_target *target = context;

    (void)fd;
    (void)what;
    proxy_host_look_up(target->host);
}

// The host of a target; several targets may share one.
static struct proxy_host *proxy_host_of(struct proxy_targets *targets,
                                        const struct proxy_target *target)
{
    struct proxy_host *host = targets->hosts;

    while (host->name && strcmp(host->name, target->place.host) != 0) {
        host++;
    }
    if (!host->name) {
        host->name = target->place.host;
        host->base = targets->base;
        (void)evtimer_assign(&host->again, targets->base, proxy_host_again, host);
        host->is_numeric = lookup_numeric(target->place.host, &host->found);
        proxy_host_look_up(host);
    }
    return host;
}

static void proxy_targets_clear(struct proxy_targets *targets)
{
    for (size_t i = 0; i < targets->count; i++) {
        (void)event_del(&targets->each[i].rested);
    }
    for (struct proxy_host *host = targets->hosts;
         host < targets->hosts + OWNER_PLACES_MAX && host->name; host++) {
        (void)event_del(&host->again);
        lookup_cancel(host->lookup);
    }
    memset(targets, 0, sizeof *targets);
}

static void proxy_targets_set(struct proxy_targets *targets, struct event_base *base,
                              const char *text)
{
    struct owner_place places[OWNER_PLACES_MAX];
    size_t count = owner_address_read(text, places);

    proxy_targets_clear(targets);
    targets->base = base;
    targets->count = count;
    for (size_t i = 0; i < count; i++) {
        struct proxy_target *target = &targets->each[i];

        target->place = places[i];
        (void)evtimer_assign(&target->rested, base, proxy_target_rested, target);
        target->host = proxy_host_of(targets, target);
    }
}

static struct proxy_target *proxy_targets_find(const struct proxy_targets *targets,
                                               const char *protocol, bool tls)
{
    for (size_t i = 0; i < targets->count; i++) {
        const struct proxy_target *target = &targets->each[i];

        if (target->place.tls == tls && strcmp(target->place.protocol, protocol) == 0) {
            bool ready =
                target->host->found.count > 0 && !event_pending(&target->rested, EV_TIMEOUT, NULL);

            return ready ? (struct proxy_target *)(uintptr_t)target : NULL;
        }
    }
    return NULL;
}

struct proxy {
    struct event_base *base;
    struct proxy_limits limits;
    char text[OWNER_TEXT_MAX]; // that proxy_aim() has set
    struct proxy_targets targets;
    struct proxy_list believed; // proxies whose heads the owner believes
    struct pipe_pool pipes;
    struct list_node all; // passed connections
    uint64_t open;
    uint64_t total;
    nsec_t limited_logged_at;
};

// A connection that is passed on. The text of its peer follows.
struct passed {
    struct list_node node;
    struct proxy *proxy;
    struct proxy_target *target;
    int client;
    int owner;                   // -1: no attempt was made
    size_t tried;                // attempts: addresses of the owner
    struct event answered;       // the owner has answered, or its time is over
    struct relay relay;          // from when it is connected
    struct client_address named; // the client
    bool has_named;              // false: this process speaks for itself
    char peer[];
};

struct proxy *proxy_new(struct event_base *base, const struct proxy_limits *limits)
{
    struct proxy *proxy = calloc(1, sizeof *proxy);

    if (!proxy) {
        return NULL;
    }
    proxy->base = base;
    proxy->limits = *limits;
    list_init(&proxy->all);
    return proxy;
}

void proxy_limit(struct proxy *proxy, uint64_t most)
{
    proxy->limits.most = most;
}

static void proxy_close_client(const struct proxy *proxy, int fd)
{
    peer_limits_leave(proxy->limits.peer_limits, fd);
    (void)close(fd);
}

static size_t passed_size(const char *peer)
{
    return sizeof(struct passed) + strlen(peer) + 1;
}

static void passed_close(struct passed *passed, const char *why)
{
    struct proxy *proxy = passed->proxy;
    const struct relay_way *ways = passed->relay.ways;

    log_debug("proxy_ended", log_string("peer", passed->peer),
              log_string("protocol", passed->target->place.protocol), log_string("why", why),
              log_number("to_owner", (int64_t)ways[0].passed),
              log_number("from_owner", (int64_t)ways[1].passed));
    relay_stop(&passed->relay);
    if (event_initialized(&passed->answered)) {
        (void)event_del(&passed->answered);
    }
    if (passed->owner >= 0) {
        (void)close(passed->owner);
    }
    proxy_close_client(proxy, passed->client);
    list_remove(&passed->node);
    proxy->open--;
    memory_free_of(MEMORY_CONNECTIONS, passed, passed_size(passed->peer));
}

static void proxy_complain(struct proxy *proxy, const struct passed *passed, const char *why)
{
    nsec_t now_at = clock_awake();

    if (proxy->limited_logged_at == 0 || now_at - proxy->limited_logged_at >= NSEC_PER_SEC) {
        proxy->limited_logged_at = now_at;
        log_warn("proxy_failed", log_string("peer", passed->peer),
                 log_string("protocol", passed->target->place.protocol),
                 log_string("host", passed->target->place.host),
                 log_string("port", passed->target->place.port), log_string("why", why));
    }
}

static void passed_fail(struct passed *passed, const char *why)
{
    static const struct timeval rest_for = {.tv_usec = 500000};

    proxy_complain(passed->proxy, passed, why);
    (void)event_add(&passed->target->rested, &rest_for);
    passed_close(passed, why);
}

static void passed_over(struct relay *relay, int error)
{
    struct passed *passed = container_of(relay, struct passed, relay);

    passed_close(passed, error == 0 ? "closed" : strerror(error));
}

static struct client_address passed_peer_of(int fd)
{
    struct sockaddr_storage addr = {0};
    socklen_t len = sizeof addr;

    (void)getpeername(fd, (void *)&addr, &len);
    return client_address_of(&addr);
}

static struct client_address passed_name_of(int fd)
{
    struct sockaddr_storage addr = {0};
    socklen_t len = sizeof addr;

    (void)getsockname(fd, (void *)&addr, &len);
    return client_address_of(&addr);
}

// Names the client to the owner, if that believes connections from this address. Nothing else was
// sent yet, so there is room. False: the connection is lost.
static bool passed_name_client(const struct passed *passed)
{
    struct client_address here = passed_name_of(passed->owner);
    struct client_address server = passed_name_of(passed->client);
    struct origin origin = origin_of_client(&here);
    unsigned char head[PROXY_HEAD_WRITE_MAX];
    size_t len;

    if (!proxy_list_has(&passed->proxy->believed, &origin)) {
        return true;
    }
    len = proxy_head_write(head, passed->has_named ? &passed->named : NULL, &server);
    return send(passed->owner, head, len, MSG_NOSIGNAL) == (ssize_t)len;
}

static void passed_begin(struct passed *passed)
{
    const int fds[] = {passed->client, passed->owner};

    if (!passed_name_client(passed)) {
        passed_fail(passed, "the client could not be named");
        return;
    }
    log_debug("proxy_began", log_string("peer", passed->peer),
              log_string("protocol", passed->target->place.protocol),
              log_string("host", passed->target->place.host),
              log_string("port", passed->target->place.port));
    if (!relay_start(&passed->relay, passed->proxy->base, &passed->proxy->pipes, fds,
                     passed_over)) {
        passed_fail(passed, "out of memory");
    }
}

// If no process listens at a port of this machine, and the kernel gives that port to a connection
// to it, the connection is connected to itself.
static bool is_connected_to_itself(int fd)
{
    struct sockaddr_storage here = {0};
    struct sockaddr_storage there = {0};
    socklen_t here_len = sizeof here;
    socklen_t there_len = sizeof there;

    return getsockname(fd, (void *)&here, &here_len) == 0 &&
           getpeername(fd, (void *)&there, &there_len) == 0 && here_len == there_len &&
           memcmp(&here, &there, here_len) == 0;
}

static void proxy_set_port(struct sockaddr_storage *addr, const char *port)
{
    in_port_t number = htons((in_port_t)strtoul(port, NULL, 10));

    if (addr->ss_family == AF_INET) {
        ((struct sockaddr_in *)(void *)addr)->sin_port = number;
    } else {
        ((struct sockaddr_in6 *)(void *)addr)->sin6_port = number;
    }
}

static void passed_answered(evutil_socket_t fd, short what, void *context);

// Waits for the owner's answer. All its addresses have the same time.
static bool passed_wait(struct passed *passed)
{
    nsec_t wait_for = passed->proxy->limits.connect_for / (nsec_t)passed->target->host->found.count;
    const struct timeval tv = {.tv_sec = (time_t)(wait_for / NSEC_PER_SEC),
                               .tv_usec = (suseconds_t)(wait_for % NSEC_PER_SEC / 1000)};

    return event_assign(&passed->answered, passed->proxy->base, passed->owner, EV_WRITE,
                        passed_answered, passed) == 0 &&
           event_add(&passed->answered, &tv) == 0;
}

// Begins to connect to one of the owner's addresses. False with errno.
static bool passed_try(struct passed *passed, const struct lookup_address *address)
{
    struct sockaddr_storage addr = address->addr;

    passed->owner = socket(addr.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (passed->owner < 0) {
        return false;
    }
    transport_prepare_tcp(passed->owner);
    proxy_set_port(&addr, passed->target->place.port);
    if (connect(passed->owner, (void *)&addr, address->len) != 0 && errno != EINPROGRESS) {
        return false;
    }
    // If it is connected already, the base reports that in its next round.
    if (!passed_wait(passed)) {
        errno = ENOMEM;
        return false;
    }
    return true;
}

// Tries the owner's next address; `error` is that of the last attempt. False: there is no other,
// and the connection is closed.
static bool passed_try_next(struct passed *passed, int error)
{
    const struct lookup_result *found = &passed->target->host->found;

    while (passed->tried < found->count) {
        if (passed->owner >= 0) {
            (void)close(passed->owner);
        }
        if (passed_try(passed, &found->addresses[passed->tried++])) {
            return true;
        }
        error = errno;
    }
    passed_fail(passed, strerror(error));
    return false;
}

static void passed_answered(evutil_socket_t fd, short what, void *context)
{
    struct passed *passed = context;
    int error = 0;
    socklen_t len = sizeof error;

    if (what & EV_TIMEOUT) {
        error = ETIMEDOUT;
    } else if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) == 0 && error == 0 &&
               is_connected_to_itself(fd)) {
        error = ECONNREFUSED;
    }
    if (error == 0) {
        passed_begin(passed);
    } else {
        (void)passed_try_next(passed, error);
    }
}

bool proxy_can_take(const struct proxy *proxy, const char *protocol, bool tls)
{
    return proxy->open < proxy->limits.most &&
           proxy_targets_find(&proxy->targets, protocol, tls) != NULL;
}

// Of a client without an address of its own that no proxy has named, this process is the client.
static void passed_know_client(struct passed *passed, const struct client_address *named)
{
    passed->named = named ? *named : passed_peer_of(passed->client);
    passed->has_named = named || passed->named.known;
}

bool proxy_take(struct proxy *proxy, const struct passed_client *from, const char *protocol)
{
    struct proxy_target *target = proxy->open < proxy->limits.most
                                      ? proxy_targets_find(&proxy->targets, protocol, from->tls)
                                      : NULL;
    struct passed *passed =
        target ? memory_zeroed_of(MEMORY_CONNECTIONS, passed_size(from->peer)) : NULL;

    if (!passed) {
        proxy_close_client(proxy, from->fd);
        return false;
    }
    passed->proxy = proxy;
    passed->target = target;
    passed->client = from->fd;
    passed->owner = -1;
    passed_know_client(passed, from->named);
    memcpy(passed->peer, from->peer, strlen(from->peer) + 1);
    list_append(&proxy->all, &passed->node);
    proxy->open++;
    proxy->total++;
    return passed_try_next(passed, 0);
}

static void proxy_close_all(struct proxy *proxy, const char *why)
{
    while (!list_empty(&proxy->all)) {
        passed_close(list_item(list_first(&proxy->all), struct passed, node), why);
    }
}

void proxy_aim(struct proxy *proxy, const char *address_text)
{
    size_t len = strlen(address_text);

    if (len >= sizeof proxy->text) {
        len = 0;
    }
    if (len == strlen(proxy->text) && memcmp(proxy->text, address_text, len) == 0) {
        return;
    }
    proxy_close_all(proxy, "the owner is another one");
    memcpy(proxy->text, address_text, len);
    proxy->text[len] = '\0';
    proxy_targets_set(&proxy->targets, proxy->base, proxy->text);
    owner_address_proxies(proxy->text, &proxy->believed);
    log_info("proxy_to", log_string("addresses", proxy->text));
}

void proxy_show(const struct proxy *proxy, uint64_t *open, uint64_t *total)
{
    *open = proxy->open;
    *total = proxy->total;
}

void proxy_free(struct proxy *proxy)
{
    if (!proxy) {
        return;
    }
    proxy_close_all(proxy, "stopped");
    proxy_targets_clear(&proxy->targets);
    pipe_pool_clear(&proxy->pipes);
    free(proxy);
}
