/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "server/net/listener.h"

#include "core/base/digits.h"
#include "core/base/log.h"
#include "server/config/settings.h"
#include "server/net/admission.h"
#include "server/net/budget.h"
#include "server/net/socket.h"
#include "server/transport/transport.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

// The descriptor of the first socket that systemd passes, and the name of one that has none.
#define INHERITED_FIRST 3
#define INHERITED_UNNAMED "unknown"

#define LISTENER_TEXT_MAX (sizeof ADDRESS_PROXY ADDRESS_TLS + PEER_TEXT_MAX)

// How long the listeners rest when the process cannot open more sockets.
static const struct timeval LISTENERS_REST_FOR = {.tv_usec = 200000};

struct listener {
    struct list_node node;
    struct listeners *owner;
    listener_accept accept;
    void *context;
    int fd;
    bool tcp;
    bool tls;
    bool is_shut;
    unsigned kind; // of its connections (net/admission.h)
    // Connections that wait and may have come before the socket was prepared; they are first in the
    // queue.
    unsigned unprepared;
    struct event event;
    const char *protocol;
    char text[LISTENER_TEXT_MAX];
    char path[sizeof(((struct listen_address *)0)->path)]; // of a unix socket, otherwise empty
    dev_t device;                                          // of the path, to recognize it
    ino_t inode;
};

static bool listener_is_held(const struct listener *listener)
{
    return listener->is_shut || (listener->owner->held & 1u << listener->kind) != 0;
}

// Watches the listeners that may accept.
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

static void listeners_rest_over(evutil_socket_t fd, short what, void *context)
{
    struct listeners *listeners = context;

    (void)fd;
    (void)what;
    listeners->resting = false;
    listeners_watch(listeners);
}

// One line for each episode, as accepting is tried again often.
static void listeners_rest(struct listeners *listeners, int error)
{
    if (!listeners->warned) {
        log_warn("accept_failed", log_string("why", strerror(error)));
        listeners->warned = true;
    }
    if (event_add(&listeners->rest, &LISTENERS_REST_FOR) == 0) {
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
    (void)evtimer_assign(&listeners->rest, base, listeners_rest_over, listeners);
}

// Accepts one connection; false: there is none, or accepting fails.
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
        listener->owner->warned = false;
        listener->accept(listener->context, fd, peer);
        return true;
    }
    if (errno != EAGAIN && !socket_error_passes(errno)) {
        listeners_rest(listener->owner, errno);
        return false;
    }
    return errno != EAGAIN;
}

// Tries only as often as connections wait, if that is known: for a failed attempt the kernel
// allocates and frees a socket. Connections that come meanwhile are reported by the next wait.
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

// Frees a listener; the caller removes it from the list.
static void listener_close(struct listener *listener)
{
    struct stat st;

    (void)event_del(&listener->event);
    (void)close(listener->fd);
    // Another process may have replaced the file.
    if (listener->path[0] && lstat(listener->path, &st) == 0 && st.st_dev == listener->device &&
        st.st_ino == listener->inode) {
        (void)unlink(listener->path);
    }
    free(listener);
}

// Logs the address as a `listen` key would name it.
static void listener_announce(struct listener *listener, const struct listen_address *address,
                              const struct listener_target *target)
{
    struct sockaddr_storage addr = {0};
    socklen_t len = sizeof addr;
    char text[PEER_TEXT_MAX];

    (void)getsockname(listener->fd, (struct sockaddr *)&addr, &len);
    socket_text((const struct sockaddr *)&addr, len, text, sizeof text);
    (void)snprintf(listener->text, sizeof listener->text, "%s%s%s",
                   address->proxied ? ADDRESS_PROXY : "", address->tls ? ADDRESS_TLS : "", text);
    log_info("listening", log_string("address", listener->text),
             log_string("protocol", target->protocol));
}

// Accepted sockets inherit the options of their listening socket.
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

static void *listener_context(const struct listen_address *address,
                              const struct listener_target *target)
{
    if (address->proxied) {
        return address->tls ? target->proxied_tls_context : target->proxied_context;
    }
    return address->tls ? target->tls_context : target->context;
}

// Owns the descriptor in any case.
static bool listener_add(struct listeners *listeners, int fd, const struct listen_address *address,
                         const struct listener_target *target)
{
    struct listener *listener = malloc(sizeof *listener);
    struct stat st;

    if (!listener) {
        (void)close(fd);
        return false;
    }
    *listener = (struct listener){
        .owner = listeners,
        .accept = target->accept,
        .context = listener_context(address, target),
        .fd = fd,
        .tls = address->tls,
        .protocol = target->protocol,
    };
    list_init(&listener->node);
    list_append(&listeners->all, &listener->node);
    if (address->path[0] && lstat(address->path, &st) == 0) {
        memcpy(listener->path, address->path, sizeof listener->path);
        listener->device = st.st_dev;
        listener->inode = st.st_ino;
    }
    listener_prepare(listener);
    listener->kind = slot_kind(target->kind, !listener->tcp);
    if (event_assign(&listener->event, listeners->base, fd, EV_READ | EV_PERSIST, listener_ready,
                     listener) != 0 ||
        event_add(&listener->event, NULL) != 0) {
        list_remove(&listener->node);
        listener_close(listener);
        return false;
    }
    return true;
}

static bool listeners_add(struct listeners *listeners, const struct listen_address *address,
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
    struct listen_address address;
    enum address_next next;

    while ((next = address_next(&addresses, &address, why)) == ADDRESS_FOUND) {
        if (!listeners_add(listeners, &address, target, why)) {
            return false;
        }
    }
    return next == ADDRESS_END;
}

bool listeners_adopt(struct listeners *listeners, int fd, bool tls, bool proxied,
                     const struct listener_target *target, struct error_text *why)
{
    const struct listen_address nowhere = {.tls = tls, .proxied = proxied};

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

// An option of the socket; -1: this is not a socket.
static int inherited_option(int fd, int option)
{
    int value = -1;
    socklen_t len = sizeof value;

    return getsockopt(fd, SOL_SOCKET, option, &value, &len) == 0 ? value : -1;
}

static bool inherited_is_usable(int fd)
{
    int domain = inherited_option(fd, SO_DOMAIN);

    return (domain == AF_INET || domain == AF_INET6 || domain == AF_UNIX) &&
           inherited_option(fd, SO_TYPE) == SOCK_STREAM && inherited_option(fd, SO_ACCEPTCONN) == 1;
}

// Names that mean that a socket was not named: ours, which is systemd's for one without
// LISTEN_FDNAMES, and the name that systemd gives the socket of Debian's unit for beanstalkd.
static bool inherited_is_unnamed(const char *name)
{
    static const char *const names[] = {INHERITED_UNNAMED, "beanstalkd.socket"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(names[i], name) == 0) {
            return true;
        }
    }
    return false;
}

// What the name of an inherited socket says.
struct inherited_name {
    size_t index; // of the front-end; FRONTENDS: none has that name
    bool tls;
    bool proxied;
};

// Takes the ending off the name, if it is there.
static bool inherited_ends(const char **name, const char *ending)
{
    size_t len = strlen(ending);
    bool ends = strncmp(*name, ending, len) == 0;

    *name += ends ? len : 0;
    return ends;
}

// Whether the name is that of the front-end, by itself or with endings.
static bool inherited_is_for(const struct frontend *frontend, const char *name,
                             struct inherited_name *found)
{
    if (!inherited_ends(&name, frontend->name)) {
        return false;
    }
    found->proxied = inherited_ends(&name, "-proxy");
    found->tls = inherited_ends(&name, "-tls");
    return *name == '\0';
}

// Finds the front-end that the socket is for. A guess could offer a protocol at an address that is
// meant for another.
static struct inherited_name inherited_find(int fd, const char *name)
{
    struct inherited_name found = {.index = 0};

    for (; found.index < FRONTENDS; found.index++) {
        if (inherited_is_for(frontends[found.index], name, &found)) {
            return found;
        }
    }
    if (!inherited_is_unnamed(name)) {
        return found;
    }
    log_info("inherited_by_default", log_number("fd", fd), log_string("name", name),
             log_string("protocol", frontends[0]->name));
    return (struct inherited_name){.index = 0};
}

static bool inherited_hand(int fd, const char *name, inherited_taker take, void *context,
                           struct error_text *why)
{
    struct inherited_name found;

    if (!inherited_is_usable(fd) || fcntl(fd, F_SETFD, FD_CLOEXEC) < 0) {
        error_set(why,
                  "descriptor %d (%s), handed over in LISTEN_FDS, is not a listening "
                  "stream socket of TCP or Unix",
                  fd, name);
        return false;
    }
    found = inherited_find(fd, name);
    if (found.index == FRONTENDS) {
        error_set(why,
                  "descriptor %d, handed over in LISTEN_FDS, is named `%s`, which is not "
                  "a protocol: FileDescriptorName= is beanstalk, gearman or http, each "
                  "optionally followed by -proxy, -tls or -proxy-tls",
                  fd, name);
        return false;
    }
    return take(context, fd, found.index, found.tls, found.proxied, why);
}

// Reads a variable of the service manager; a missing one is 0. False: it is not a number.
static bool inherited_number(const char *name, uint64_t *number, struct error_text *why)
{
    const char *text = getenv(name);

    *number = 0;
    if (text && !digits_read(slice_str(text), number)) {
        error_set(why, "%s: `%s` is not a number", name, text);
        return false;
    }
    return true;
}

// The number of sockets, which is 0 if they are meant for another process: a program that this one
// was started by may have left the variables.
static bool inherited_count(int *count, struct error_text *why)
{
    uint64_t pid;
    uint64_t fds;

    *count = 0;
    if (!inherited_number("LISTEN_PID", &pid, why)) {
        return false;
    }
    if (pid != (uint64_t)getpid()) {
        return true;
    }
    if (!inherited_number("LISTEN_FDS", &fds, why)) {
        return false;
    }
    if (fds > INT_MAX - INHERITED_FIRST) {
        error_set(why, "LISTEN_FDS: there cannot be %" PRIu64 " sockets", fds);
        return false;
    }
    *count = (int)fds;
    return true;
}

// A name for each socket, with colons between them.
static bool inherited_names_fit(const char *names, int count, struct error_text *why)
{
    int named = 1;

    for (const char *at = names; (at = strchr(at, ':')); at++) {
        named++;
    }
    if (named != count) {
        error_set(why, "LISTEN_FDNAMES has %d names, but LISTEN_FDS says %d", named, count);
    }
    return named == count;
}

bool inherited_each(inherited_taker take, void *context, struct error_text *why)
{
    const char *given = getenv("LISTEN_FDNAMES");
    char *names = strdup(given ? given : "");
    char *rest = given ? names : NULL;
    int count = 0;
    bool good = inherited_count(&count, why);

    if (!names) {
        error_set(why, "no memory for the names in LISTEN_FDNAMES");
        good = false;
    }
    if (good && count > 0 && rest) {
        good = inherited_names_fit(rest, count, why);
    }
    (void)unsetenv("LISTEN_PID");
    (void)unsetenv("LISTEN_FDS");
    (void)unsetenv("LISTEN_FDNAMES");
    for (int i = 0; i < count && good; i++) {
        good = inherited_hand(INHERITED_FIRST + i, rest ? strsep(&rest, ":") : INHERITED_UNNAMED,
                              take, context, why);
    }
    free(names);
    return good;
}
