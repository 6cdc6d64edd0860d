/* SPDX-License-Identifier: MIT */
#include "server/net/proxied.h"

#include "core/base/memory.h"
#include "server/net/admission.h"
#include "server/transport/origin.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

//
// Who may be a proxy
//

struct proxies {
    atomic_bool has_members;
    pthread_mutex_t lock; // of the lists
    struct proxy_list list;
    struct proxy_list members;
};

struct proxies *proxies_new(void)
{
    struct proxies *proxies = calloc(1, sizeof *proxies);

    if (proxies && pthread_mutex_init(&proxies->lock, NULL) != 0) {
        free(proxies);
        proxies = NULL;
    }
    return proxies;
}

void proxies_free(struct proxies *proxies)
{
    if (proxies) {
        (void)pthread_mutex_destroy(&proxies->lock);
        free(proxies);
    }
}

// `local`: peers at unix sockets may be among them.
static void proxies_read(struct proxies *proxies, struct proxy_list *list, const char *text,
                         bool local)
{
    struct error_text why;

    (void)pthread_mutex_lock(&proxies->lock);
    ENSURE(proxy_list_read(list, text, &why));
    list->local = list->local && local;
    (void)pthread_mutex_unlock(&proxies->lock);
}

void proxies_set(struct proxies *proxies, const char *text)
{
    proxies_read(proxies, &proxies->list, text, true);
}

void proxies_set_members(struct proxies *proxies, const char *text)
{
    // A unix socket leads to no other broker.
    proxies_read(proxies, &proxies->members, text, false);
    atomic_store(&proxies->has_members, proxies->members.count > 0);
}

static bool proxies_find(struct proxies *proxies, const struct proxy_list *list,
                         const struct origin *origin)
{
    bool found;

    (void)pthread_mutex_lock(&proxies->lock);
    found = proxy_list_has(list, origin);
    (void)pthread_mutex_unlock(&proxies->lock);
    return found;
}

bool proxies_have_member(struct proxies *proxies, int fd)
{
    struct origin origin;

    if (!atomic_load_explicit(&proxies->has_members, memory_order_relaxed)) {
        return false;
    }
    origin = origin_of(fd);
    return proxies_find(proxies, &proxies->members, &origin);
}

// After a reset, as by a check of health, the peer is not known; what it has sent before may still
// be there, and must not be believed.
static const char *proxies_admit(struct proxies *proxies, int fd)
{
    struct origin origin = origin_of(fd);

    if (!origin.has_address && !origin.has_user) {
        return "";
    }
    return proxies_find(proxies, &proxies->list, &origin) ? NULL : PROXIED_STRANGER;
}

const char *proxied_admit(struct proxies *proxies, enum proxied_by by, struct peer_limits *limits,
                          int fd, unsigned kind)
{
    const char *why = NULL;

    if (by == PROXIED_BY_NONE) {
        return peer_limits_enter(limits, fd, kind) ? NULL : PEER_LIMITS_REACHED;
    }
    if (by == PROXIED_BY_PROXY) {
        why = proxies_admit(proxies, fd);
    }
    if (!why) {
        peer_limits_enter_proxy(limits, fd, kind);
    }
    return why;
}

//
// The transport
//

// The state of a connection. `head` is freed when it was read.
struct proxied {
    const struct transport *inner;
    void *inner_shared;
    struct peer_limits *peer_limits;
    struct proxy_head *head;
    struct client_address client;
    bool optional;    // the head may be missing
    bool has_client;  // the proxy speaks for it
    bool inner_begun; // the inner transport has
};

// The transport's bytes in a connection: the state, then the inner transport's bytes.
enum { PROXIED_INNER_AT = sizeof(struct proxied *), PROXIED_INNER_MOST = sizeof(void *) };

static struct proxied *proxied_of(const void *own)
{
    return *(struct proxied *const *)own;
}

static void *proxied_inner(const void *own)
{
    return (char *)(uintptr_t)own + PROXIED_INNER_AT;
}

static bool proxied_begin(int fd, void *own, void *shared)
{
    const struct proxied_service *service = shared;
    struct proxied *proxied = memory_zeroed_of(MEMORY_CONNECTIONS, sizeof *proxied);

    (void)fd;
    if (!proxied) {
        return false;
    }
    memcpy(own, &proxied, sizeof(struct proxied *));
    proxied->inner = service->inner;
    proxied->inner_shared = service->inner_shared;
    proxied->peer_limits = service->peer_limits;
    proxied->optional = service->optional;
    ENSURE(!proxied->inner || proxied->inner->state_size <= PROXIED_INNER_MOST);
    proxied->head = memory_zeroed_of(MEMORY_CONNECTIONS, sizeof *proxied->head);
    return proxied->head != NULL;
}

static void proxied_drop_head(struct proxied *proxied)
{
    if (proxied->head) {
        memory_free_of(MEMORY_CONNECTIONS, proxied->head, sizeof *proxied->head);
        proxied->head = NULL;
    }
}

// The head is complete: takes the client from it. False with the reason in `why`.
static bool proxied_take_client(struct proxied *proxied, int fd, struct error_text *why)
{
    const struct client_address *client = &proxied->head->client;
    struct origin named = origin_of_client(client);
    struct origin peer = origin_of(fd);

    proxied->has_client = proxied->head->says == PROXY_SAYS_CLIENT &&
                          (!origin_is_local(&named) || origin_is_local(&peer));
    proxied->client = *client;
    proxied_drop_head(proxied);
    if (proxied->has_client && proxied->client.known &&
        !peer_limits_enter_client(proxied->peer_limits, fd, &proxied->client.address)) {
        return error_set(why, PEER_LIMITS_REACHED);
    }
    return true;
}

// Takes bytes of the head off the socket that were looked at before.
static bool proxied_drop_bytes(int fd, char *bytes, size_t len)
{
    return len == 0 || recv(fd, bytes, len, 0) == (ssize_t)len;
}

// The connection has no head: the peer speaks for itself, as at any other connection. False with
// the reason in `why`.
static bool proxied_take_peer(struct proxied *proxied, int fd, struct error_text *why)
{
    struct origin peer = origin_of(fd);

    proxied_drop_head(proxied);
    if (peer.has_address && !peer_limits_enter_client(proxied->peer_limits, fd, &peer.address)) {
        return error_set(why, PEER_LIMITS_REACHED);
    }
    return true;
}

// Looks at the first bytes, and leaves them where they are. HANDSHAKE_DONE if they are no head.
static enum handshake proxied_look(struct proxied *proxied, int fd, struct slice bytes,
                                   struct error_text *why)
{
    bool whole;

    if (!proxy_head_begins(bytes, &whole)) {
        return proxied_take_peer(proxied, fd, why) ? HANDSHAKE_DONE : HANDSHAKE_FAILED;
    }
    proxied->optional = !whole;
    return HANDSHAKE_NEEDS_INPUT;
}

// The bytes of a head that are looked at at once: most heads.
enum { PROXIED_PIECE = 512 };

// Reads the head, and not a byte behind it, as those belong to the inner transport.
static enum handshake proxied_read_head(struct proxied *proxied, int fd, struct error_text *why)
{
    enum proxy_head_step step = PROXY_HEAD_MORE;
    char bytes[PROXIED_PIECE];
    size_t taken;

    while (step == PROXY_HEAD_MORE) {
        ssize_t got = recv(fd, bytes, sizeof bytes, MSG_PEEK);

        if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
            return HANDSHAKE_NEEDS_INPUT;
        }
        if (got <= 0) {
            // A peer that has sent nothing has only checked whether the port is open.
            error_set(why, "%s",
                      proxied->head->len == 0 ? ""
                      : got < 0               ? strerror(errno)
                                              : "closed by the peer");
            return HANDSHAKE_FAILED;
        }
        if (proxied->optional) {
            enum handshake looked = proxied_look(proxied, fd, slice_of(bytes, (size_t)got), why);

            if (looked != HANDSHAKE_NEEDS_INPUT || proxied->optional) {
                return looked;
            }
        }
        step = proxy_head_feed(proxied->head, slice_of(bytes, (size_t)got), &taken);
        if (step == PROXY_HEAD_BAD || !proxied_drop_bytes(fd, bytes, taken)) {
            error_set(why, PROXIED_NO_HEAD);
            return HANDSHAKE_FAILED;
        }
    }
    return proxied_take_client(proxied, fd, why) ? HANDSHAKE_DONE : HANDSHAKE_FAILED;
}

static enum handshake proxied_handshake(int fd, void *own, struct error_text *why)
{
    struct proxied *proxied = proxied_of(own);
    const struct transport *inner = proxied->inner;
    enum handshake result = proxied->head ? proxied_read_head(proxied, fd, why) : HANDSHAKE_DONE;

    if (result != HANDSHAKE_DONE || !inner || !inner->handshake) {
        return result;
    }
    if (!proxied->inner_begun) {
        proxied->inner_begun = true;
        if (!inner->begin(fd, proxied_inner(own), proxied->inner_shared)) {
            error_set(why, "out of memory");
            return HANDSHAKE_FAILED;
        }
    }
    return inner->handshake(fd, proxied_inner(own), why);
}

// A client that sends nothing yet, and is not behind TLS, may be silent for as long as others.
static bool proxied_late(int fd, void *own)
{
    struct proxied *proxied = proxied_of(own);
    struct error_text why;

    return proxied->optional && proxied->head && !(proxied->inner && proxied->inner->handshake) &&
           proxied_take_peer(proxied, fd, &why);
}

static const struct client_address *proxied_client(const void *own)
{
    const struct proxied *proxied = proxied_of(own);

    return proxied && proxied->has_client ? &proxied->client : NULL;
}

static const struct peer_identity *proxied_identity(const void *own)
{
    const struct transport *inner = proxied_of(own)->inner;

    return inner->identity ? inner->identity(proxied_inner(own)) : NULL;
}

static const char *proxied_protection(const void *own)
{
    const struct transport *inner = proxied_of(own)->inner;

    return inner->protection ? inner->protection(proxied_inner(own)) : NULL;
}

static struct received proxied_receive(int fd, void *own, const struct iovec *parts, unsigned count,
                                       size_t len)
{
    return proxied_of(own)->inner->receive(fd, proxied_inner(own), parts, count, len);
}

static struct sent proxied_send(int fd, void *own, const struct iovec *parts, unsigned count,
                                size_t len)
{
    return proxied_of(own)->inner->send(fd, proxied_inner(own), parts, count, len);
}

static int proxied_error(int fd, void *own)
{
    return proxied_of(own)->inner->error(fd, proxied_inner(own));
}

static void proxied_peer(int fd, const void *own, char *text, size_t room)
{
    const struct proxied *proxied = proxied_of(own);
    struct origin origin = origin_of_client(&proxied->client);
    char address[ORIGIN_TEXT_MAX];

    if (!proxied->has_client) {
        transport_plain.peer(fd, NULL, text, room);
        return;
    }
    origin_text(&origin, address);
    (void)snprintf(text, room, "%s", address);
}

static bool proxied_shut(int fd, void *own)
{
    return proxied_of(own)->inner->shut(fd, proxied_inner(own));
}

static void proxied_free(struct proxied *proxied)
{
    proxied_drop_head(proxied);
    memory_free_of(MEMORY_CONNECTIONS, proxied, sizeof *proxied);
}

static void proxied_close(int fd, void *own)
{
    struct proxied *proxied = proxied_of(own);

    if (proxied && proxied->inner) {
        proxied->inner->close(fd, proxied_inner(own));
    } else {
        transport_plain.close(fd, NULL);
    }
    if (proxied) {
        proxied_free(proxied);
    }
}

bool proxied_is_head_alone(const void *own)
{
    return !proxied_of(own)->inner;
}

bool proxied_release(void *own, struct client_address *client)
{
    struct proxied *proxied = proxied_of(own);
    bool has_client = proxied->has_client;

    ENSURE(!proxied->inner);
    *client = proxied->client;
    proxied_free(proxied);
    return has_client;
}

const struct transport transport_proxied = {
    .state_size = PROXIED_INNER_AT + PROXIED_INNER_MOST,
    .begin = proxied_begin,
    .handshake = proxied_handshake,
    .late = proxied_late,
    .client = proxied_client,
    .identity = proxied_identity,
    .protection = proxied_protection,
    .receive = proxied_receive,
    .send = proxied_send,
    .error = proxied_error,
    .peer = proxied_peer,
    .shut = proxied_shut,
    .close = proxied_close,
};
