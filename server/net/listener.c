/* SPDX-License-Identifier: MIT */
// accept4 is a GNU function.
#define _GNU_SOURCE
#include "server/net/listener.h"

#include "core/base/log.h"
#include "server/net/budget.h"
#include "server/net/seats.h"
#include "server/net/socket.h"
#include "server/transport/transport.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LISTENER_TEXT_MAX (sizeof ADDRESS_TLS + PEER_TEXT_MAX)

// How long the listeners rest when the process can hold no more connections.
static const struct timeval REST = {.tv_usec = 200000};

struct listener {
    struct list_node node;
    struct listeners *owner;
    listener_accept accept;
    void *context;
    int fd;
    bool tcp;
    bool tls;
    bool is_shut;
    unsigned kind; // of the seats that its connections take
    // How many of those that wait have come before the socket was prepared. They are first.
    unsigned unprepared;
    struct event event;
    const char *protocol;
    char text[LISTENER_TEXT_MAX];
    char path[sizeof(((struct address *)0)->path)]; // of a unix socket, else empty
    dev_t device;                                   // of the path, to know it again
    ino_t inode;
};

static bool listener_is_held(const struct listener *listener)
{
    return listener->is_shut || (listener->owner->held & 1u << listener->kind) != 0;
}

// Sets the events of all listeners to what their state asks for.
static void listeners_watch(struct listeners *listeners)
{
    list_each (node, &listeners->all) {
        struct listener *listener = list_item(node, struct listener, node);

        if (listener_is_held(listener) || listeners->resting) {
            (void)event_del(&listener->event);
        } else {
            (void)event_add(&listener->event, NULL);
        }
    }
}

static void rest_over(evutil_socket_t fd, short what, void *context)
{
    struct listeners *listeners = context;

    (void)fd;
    (void)what;
    listeners->resting = false;
    listeners_watch(listeners);
}

// One line an episode: it tries again often.
static void listeners_rest(struct listeners *listeners, int error)
{
    if (!listeners->complained) {
        log_warn("accept_failed", log_string("why", strerror(error)));
        listeners->complained = true;
    }
    if (event_add(&listeners->rest, &REST) == 0) {
        listeners->resting = true;
        listeners_watch(listeners);
    }
}

void listeners_hold(struct listeners *listeners, unsigned kinds)
{
    if (listeners->held != kinds) {
        listeners->held = kinds;
        listeners_watch(listeners);
    }
}

void listeners_shut(struct listeners *listeners,
                    bool (*shuts)(void *context, const char *protocol, bool tls), void *context)
{
    bool changed = false;

    list_each (node, &listeners->all) {
        struct listener *listener = list_item(node, struct listener, node);
        bool is_shut = shuts && shuts(context, listener->protocol, listener->tls);

        changed |= listener->is_shut != is_shut;
        listener->is_shut = is_shut;
    }
    if (changed) {
        listeners_watch(listeners);
    }
}

void listeners_init(struct listeners *listeners, struct event_base *base)
{
    *listeners = (struct listeners){.base = base};
    list_init(&listeners->all);
    (void)evtimer_assign(&listeners->rest, base, rest_over, listeners);
}

// Accepts one; false where there is no other to try.
static bool listener_take(struct listener *listener)
{
    struct sockaddr_storage addr = {0};
    socklen_t len = sizeof addr;
    char peer[PEER_TEXT_MAX];
    int fd = accept4(listener->fd, (struct sockaddr *)&addr, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);

    if (fd >= 0) {
        if (listener->unprepared > 0) {
            listener->unprepared--;
            transport_prepare_like(fd, listener->fd);
        }
        socket_text((const struct sockaddr *)&addr, len, peer, sizeof peer);
        listener->owner->complained = false;
        listener->accept(listener->context, fd, peer);
        return true;
    }
    if (errno != EAGAIN && !socket_error_passes(errno)) {
        listeners_rest(listener->owner, errno);
        return false;
    }
    return errno != EAGAIN;
}

// Tries no more often than there are connections, where it can be known: an attempt in vain makes
// the kernel allocate a socket and free it again. Who comes meanwhile is reported by the next wait.
static void listener_ready(evutil_socket_t fd, short what, void *context)
{
    struct listener *listener = context;
    unsigned waiting = listener->tcp ? socket_waiting(listener->fd, 1) : LISTENER_ACCEPT_MAX;
    unsigned most = waiting < LISTENER_ACCEPT_MAX ? waiting : LISTENER_ACCEPT_MAX;

    (void)fd;
    (void)what;
    for (unsigned i = 0; i < most && !listener_is_held(listener); i++) {
        if (!listener_take(listener)) {
            return;
        }
    }
}

unsigned listeners_kinds(const struct listeners *listeners)
{
    unsigned kinds = 0;

    list_each (node, &listeners->all) {
        kinds |= 1u << list_item(node, struct listener, node)->kind;
    }
    return kinds;
}

void listeners_limit_silence(const struct listeners *listeners, nsec_t unread_for)
{
    list_each (node, &listeners->all) {
        const struct listener *listener = list_item(node, struct listener, node);

        if (listener->tcp) {
            transport_limit_silence(listener->fd, unread_for);
        }
    }
}

// Frees a listener, which the caller takes off the list.
static void listener_close(struct listener *listener)
{
    struct stat st;

    (void)event_del(&listener->event);
    (void)close(listener->fd);
    // Somebody may have put a socket of his own there meanwhile.
    if (listener->path[0] && lstat(listener->path, &st) == 0 && st.st_dev == listener->device &&
        st.st_ino == listener->inode) {
        (void)unlink(listener->path);
    }
    free(listener);
}

static void listener_note_path(struct listener *listener, const struct address *address)
{
    struct stat st;

    if (address->path[0] && lstat(address->path, &st) == 0) {
        memcpy(listener->path, address->path, sizeof listener->path);
        listener->device = st.st_dev;
        listener->inode = st.st_ino;
    }
}

// As it would stand in a `listen` key.
static void listener_announce(struct listener *listener, const struct address *address,
                              const struct listener_target *target)
{
    static const char prefix[] = ADDRESS_TLS;
    size_t skipped = address->tls ? sizeof prefix - 1 : 0;
    struct sockaddr_storage addr = {0};
    socklen_t len = sizeof addr;

    (void)getsockname(listener->fd, (struct sockaddr *)&addr, &len);
    memcpy(listener->text, prefix, skipped);
    socket_text((const struct sockaddr *)&addr, len, listener->text + skipped,
                sizeof listener->text - skipped);
    log_info("listening", log_string("address", listener->text),
             log_string("protocol", target->protocol));
}

// A socket that is accepted has what its listening socket was given, so that this need not be done
// for each.
static void listener_prepare(struct listener *listener)
{
    struct sockaddr_storage addr = {0};
    socklen_t len = sizeof addr;

    (void)getsockname(listener->fd, (struct sockaddr *)&addr, &len);
    listener->tcp = addr.ss_family == AF_INET || addr.ss_family == AF_INET6;
    if (listener->tcp) {
        transport_prepare_tcp(listener->fd);
        listener->unprepared = socket_waiting(listener->fd, 0);
    }
}

// Takes the descriptor over in any case.
static bool listener_add(struct listeners *listeners, int fd, const struct address *address,
                         const struct listener_target *target)
{
    struct listener *listener = malloc(sizeof *listener);

    if (!listener) {
        (void)close(fd);
        return false;
    }
    *listener = (struct listener){
        .owner = listeners,
        .accept = target->accept,
        .context = address->tls ? target->tls_context : target->context,
        .fd = fd,
        .tls = address->tls,
        .protocol = target->protocol,
    };
    list_init(&listener->node);
    list_append(&listeners->all, &listener->node);
    listener_note_path(listener, address);
    listener_prepare(listener);
    listener->kind = seats_kind(target->kind, !listener->tcp);
    if (event_assign(&listener->event, listeners->base, fd, EV_READ | EV_PERSIST, listener_ready,
                     listener) != 0 ||
        event_add(&listener->event, NULL) != 0) {
        list_remove(&listener->node);
        listener_close(listener);
        return false;
    }
    return true;
}

static bool listeners_add(struct listeners *listeners, const struct address *address,
                          const struct listener_target *target, struct error_text *why)
{
    int fds[SOCKETS_MAX];
    size_t count = socket_listen(address, fds, why);
    bool good = count > 0;

    for (size_t i = 0; i < count; i++) {
        if (!listener_add(listeners, fds[i], address, target)) {
            error_set(why, "out of memory");
            good = false;
            continue;
        }
        listener_announce(list_item(listeners->all.prev, struct listener, node), address, target);
    }
    return good;
}

bool listeners_open(struct listeners *listeners, const char *addresses,
                    const struct listener_target *target, struct error_text *why)
{
    struct address address;
    enum address_next next;

    while ((next = address_next(&addresses, &address, why)) == ADDRESS_FOUND) {
        if (!listeners_add(listeners, &address, target, why)) {
            return false;
        }
    }
    return next == ADDRESS_END;
}

bool listeners_adopt(struct listeners *listeners, int fd, bool tls,
                     const struct listener_target *target, struct error_text *why)
{
    const struct address nowhere = {.tls = tls};

    if (evutil_make_socket_nonblocking(fd) != 0 || !listener_add(listeners, fd, &nowhere, target)) {
        return error_set(why, "out of memory");
    }
    listener_announce(list_item(listeners->all.prev, struct listener, node), &nowhere, target);
    return true;
}

void listeners_close(struct listeners *listeners)
{
    struct list_node *next;

    for (struct list_node *node = listeners->all.next; node != &listeners->all; node = next) {
        next = node->next;
        listener_close(list_item(node, struct listener, node));
    }
    list_init(&listeners->all);
    if (listeners->resting) {
        listeners->resting = false;
        (void)event_del(&listeners->rest);
    }
}

bool listeners_each(const struct listeners *listeners,
                    bool (*visit)(void *context, int fd, void *target), void *context)
{
    list_each (node, &listeners->all) {
        const struct listener *listener = list_item(node, struct listener, node);

        if (!visit(context, listener->fd, listener->context)) {
            return false;
        }
    }
    return true;
}

bool listeners_empty(const struct listeners *listeners)
{
    return list_empty(&listeners->all);
}

size_t listeners_count(const struct listeners *listeners)
{
    size_t count = 0;

    list_each (node, &listeners->all) {
        count++;
    }
    return count;
}

const char *listeners_address(const struct listeners *listeners, const char *protocol, size_t index)
{
    list_each (node, &listeners->all) {
        const struct listener *listener = list_item(node, struct listener, node);

        if (strcmp(listener->protocol, protocol) == 0 && index-- == 0) {
            return listener->text;
        }
    }
    return NULL;
}
