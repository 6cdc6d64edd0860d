/* SPDX-License-Identifier: MIT */
#include "server/proxy/proxy.h"

#include "core/base/list.h"
#include "core/base/log.h"
#include "core/base/memory.h"
#include "server/net/crowd.h"
#include "server/process/clock.h"
#include "server/proxy/proxy_target.h"
#include "server/proxy/relay.h"
#include "server/transport/transport.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct proxy {
    struct event_base *base;
    struct proxy_limits limits;
    char text[OWNER_TEXT_MAX]; // that it is aimed by
    struct proxy_targets targets;
    struct pipe_pool pipes;
    struct list_node all; // passed connections
    uint64_t open;
    uint64_t total;
    nsec_t complained_at;
};

// A connection that is passed. The peer's text follows.
struct passed {
    struct list_node node;
    struct proxy *proxy;
    struct proxy_target *target;
    int client;
    int owner;             // -1: not tried yet
    size_t tried;          // addresses of the owner
    struct event answered; // the owner has, or has taken too long
    struct relay relay;    // once it is connected
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

static void close_client(const struct proxy *proxy, int fd)
{
    crowd_leave(proxy->limits.crowd, fd);
    (void)close(fd);
}

static size_t passed_size(const char *peer)
{
    return sizeof(struct passed) + strlen(peer) + 1;
}

static void passed_log_end(const struct passed *passed, const char *why)
{
    const struct relay_way *ways = passed->relay.ways;

    log_debug("proxy_ended", log_string("peer", passed->peer),
              log_string("protocol", passed->target->place.protocol), log_string("why", why),
              log_number("to_owner", (int64_t)ways[0].passed),
              log_number("from_owner", (int64_t)ways[1].passed));
}

static void passed_close(struct passed *passed, const char *why)
{
    struct proxy *proxy = passed->proxy;

    passed_log_end(passed, why);
    relay_stop(&passed->relay);
    if (event_initialized(&passed->answered)) {
        (void)event_del(&passed->answered);
    }
    if (passed->owner >= 0) {
        (void)close(passed->owner);
    }
    close_client(proxy, passed->client);
    list_remove(&passed->node);
    proxy->open--;
    memory_free_of(MEMORY_CONNECTIONS, passed, passed_size(passed->peer));
}

static void proxy_complain(struct proxy *proxy, const struct passed *passed, const char *why)
{
    nsec_t now_at = clock_awake();

    if (proxy->complained_at == 0 || now_at - proxy->complained_at >= NSEC_PER_SEC) {
        proxy->complained_at = now_at;
        log_warn("proxy_failed", log_string("peer", passed->peer),
                 log_string("protocol", passed->target->place.protocol),
                 log_string("host", passed->target->place.host),
                 log_string("port", passed->target->place.port), log_string("why", why));
    }
}

static void passed_fail(struct passed *passed, const char *why)
{
    proxy_complain(passed->proxy, passed, why);
    proxy_target_rest(passed->target);
    passed_close(passed, why);
}

static void passed_over(struct relay *relay, int error)
{
    struct passed *passed = container_of(relay, struct passed, relay);

    passed_close(passed, error == 0 ? "closed" : strerror(error));
}

static void passed_begin(struct passed *passed)
{
    const int fds[] = {passed->client, passed->owner};

    log_debug("proxy_began", log_string("peer", passed->peer),
              log_string("protocol", passed->target->place.protocol),
              log_string("host", passed->target->place.host),
              log_string("port", passed->target->place.port));
    if (!relay_start(&passed->relay, passed->proxy->base, &passed->proxy->pipes, fds,
                     passed_over)) {
        passed_fail(passed, "out of memory");
    }
}

// Where nobody listens at a port of this machine, a connection that is given that very port as its
// own is connected to itself.
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

static void set_port(struct sockaddr_storage *addr, const char *port)
{
    in_port_t number = htons((in_port_t)strtoul(port, NULL, 10));

    if (addr->ss_family == AF_INET) {
        ((struct sockaddr_in *)(void *)addr)->sin_port = number;
    } else {
        ((struct sockaddr_in6 *)(void *)addr)->sin6_port = number;
    }
}

static void passed_answered(evutil_socket_t fd, short what, void *context);

// Has the base say when the owner has answered. All its addresses have the same time.
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
    set_port(&addr, passed->target->place.port);
    if (connect(passed->owner, (void *)&addr, address->len) != 0 && errno != EINPROGRESS) {
        return false;
    }
    // Where it is connected already, the base says so in its next round.
    if (!passed_wait(passed)) {
        errno = ENOMEM;
        return false;
    }
    return true;
}

// Goes on to the owner's next address; `error` is what became of the last one. False where there is
// none: it is closed.
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

bool proxy_take(struct proxy *proxy, int fd, const char *peer, const char *protocol, bool tls)
{
    struct proxy_target *target = proxy->open < proxy->limits.most
                                      ? proxy_targets_find(&proxy->targets, protocol, tls)
                                      : NULL;
    struct passed *passed = target ? memory_zeroed_of(MEMORY_CONNECTIONS, passed_size(peer)) : NULL;

    if (!passed) {
        close_client(proxy, fd);
        return false;
    }
    passed->proxy = proxy;
    passed->target = target;
    passed->client = fd;
    passed->owner = -1;
    memcpy(passed->peer, peer, strlen(peer) + 1);
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
