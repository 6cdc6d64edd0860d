/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "server/net/socket.h"

#include "core/base/digits.h"
#include "server/process/safe_path.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BACKLOG = 1024 };

static void socket_set_flag(int fd, int level, int name)
{
    int on = 1;

    (void)setsockopt(fd, level, name, &on, sizeof on);
}

// The peer's address is written for each connection, logged or not; this takes a fraction of the
// time of getnameinfo().
static void socket_text_inet4(const struct sockaddr_in *addr, char *text, size_t room)
{
    uint32_t host = ntohl(addr->sin_addr.s_addr);
    char *at = text;

    ENSURE(room >= sizeof "255.255.255.255:65535");
    for (unsigned shift = 32; shift > 0; shift -= 8) {
        at = digits_write(at, host >> (shift - 8) & 0xff);
        *at++ = shift > 8 ? '.' : ':';
    }
    at = digits_write(at, ntohs(addr->sin_port));
    *at = '\0';
}

void socket_text(const struct sockaddr *addr, socklen_t len, char *text, size_t room)
{
    const struct sockaddr_un *un = (const void *)addr;
    char host[64] = "?";
    char port[8] = "?";

    switch (addr->sa_family) {
    case AF_INET:
        socket_text_inet4((const void *)addr, text, room);
        return;
    case AF_INET6:
        (void)getnameinfo(addr, len, host, sizeof host, port, sizeof port,
                          NI_NUMERICHOST | NI_NUMERICSERV);
        (void)snprintf(text, room, "[%s]:%s", host, port);
        return;
    default:
        // The client's end of a unix socket has no name: its path is not set then.
        (void)snprintf(text, room, "unix:%.*s",
                       len > sizeof un->sun_family ? (int)sizeof un->sun_path : 0, un->sun_path);
        return;
    }
}

// -1 with errno.
static int socket_listen_at(int family, const struct sockaddr *addr, socklen_t len)
{
    int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int saved;

    if (fd < 0) {
        return -1;
    }
    if (family != AF_UNIX) {
        socket_set_flag(fd, SOL_SOCKET, SO_REUSEADDR);
    }
    if (family == AF_INET6) {
        // An unspecified address has a separate IPv4 socket, whatever the system's default.
        socket_set_flag(fd, IPPROTO_IPV6, IPV6_V6ONLY);
    }
    if (bind(fd, addr, len) == 0 && listen(fd, BACKLOG) == 0) {
        return fd;
    }
    saved = errno;
    (void)close(fd);
    errno = saved;
    return -1;
}

static size_t socket_listen_inet(const struct listen_address *address, int fds[SOCKETS_MAX],
                                 struct error_text *why)
{
    const struct addrinfo hints = {.ai_family = AF_UNSPEC,
                                   .ai_socktype = SOCK_STREAM,
                                   .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    const char *host = address->host[0] ? address->host : NULL;
    struct addrinfo *found = NULL;
    int error = getaddrinfo(host, address->port, &hints, &found);
    size_t count = 0;
    int saved;

    if (error) {
        error_set(why, "%s:%s: %s", host ? host : "*", address->port, gai_strerror(error));
        return 0;
    }
    for (const struct addrinfo *ai = found; ai && count < SOCKETS_MAX; ai = ai->ai_next) {
        int fd = socket_listen_at(ai->ai_family, ai->ai_addr, ai->ai_addrlen);

        if (fd >= 0) {
            fds[count++] = fd;
            continue;
        }
        saved = errno;
        error_set(why, "%s:%s: %s", host ? host : "*", address->port, strerror(saved));
        if (saved != EAFNOSUPPORT && saved != EADDRNOTAVAIL) {
            while (count > 0) {
                (void)close(fds[--count]);
            }
            break;
        }
    }
    freeaddrinfo(found);
    return count;
}

// Whether a process accepts connections at the socket.
static bool unix_answers(const struct sockaddr_un *addr)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    bool answers = false;

    if (fd >= 0) {
        // A full backlog (EAGAIN) means that a process listens, too.
        answers = connect(fd, (const void *)addr, sizeof *addr) == 0 || errno != ECONNREFUSED;
        (void)close(fd);
    }
    return answers;
}

// Removes the socket file if no process listens there.
static bool unix_remove(const struct safe_path *place, const struct sockaddr_un *addr,
                        struct error_text *why)
{
    struct stat st;

    if (fstatat(place->dir, place->name, &st, AT_SYMLINK_NOFOLLOW) != 0) {
        return true;
    }
    if (!S_ISSOCK(st.st_mode)) {
        error_set(why, "the file there is not a socket");
        return false;
    }
    if (unix_answers(addr)) {
        return error_set(why, "another process listens there");
    }
    (void)unlinkat(place->dir, place->name, 0);
    return true;
}

// Clears the path for a socket. The socket is bound by its path, which clients use as its name; so
// the owner of a directory on the way could exchange that directory in between, and have an empty
// socket removed elsewhere.
static bool unix_clear(const struct sockaddr_un *addr, struct error_text *why)
{
    struct safe_path place;
    bool good = safe_path_find(&place, addr->sun_path, false, why);

    if (good) {
        good = unix_remove(&place, addr, why);
        safe_path_close(&place);
    }
    if (!good) {
        error_prefix(why, "unix:%s: ", addr->sun_path);
    }
    return good;
}

size_t socket_listen(const struct listen_address *address, int fds[SOCKETS_MAX],
                     struct error_text *why)
{
    struct sockaddr_un addr = {.sun_family = AF_UNIX};

    if (address->path[0] == '\0') {
        return socket_listen_inet(address, fds, why);
    }
    memcpy(addr.sun_path, address->path, sizeof addr.sun_path);
    if (!unix_clear(&addr, why)) {
        return 0;
    }
    fds[0] = socket_listen_at(AF_UNIX, (const void *)&addr, sizeof addr);
    if (fds[0] < 0) {
        error_set(why, "unix:%s: %s", address->path, strerror(errno));
        return 0;
    }
    return 1;
}

void socket_peer_text(int fd, char *text, size_t room)
{
    struct sockaddr_storage addr = {0};
    socklen_t len = sizeof addr;

    // After a reset the kernel does not know the peer.
    if (getpeername(fd, (struct sockaddr *)&addr, &len) == 0) {
        socket_text((const struct sockaddr *)&addr, len, text, room);
    } else {
        (void)snprintf(text, room, "-");
    }
}

void socket_client_text(const struct client_address *client, char *text, size_t room)
{
    struct sockaddr_in6 v6 = {
        .sin6_family = AF_INET6, .sin6_port = htons(client->port), .sin6_addr = client->address};
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(client->port)};

    if (!client->known) {
        (void)snprintf(text, room, "-");
    } else if (IN6_IS_ADDR_V4MAPPED(&client->address)) {
        memcpy(&v4.sin_addr, client->address.s6_addr + 12, sizeof v4.sin_addr);
        socket_text((const struct sockaddr *)&v4, sizeof v4, text, room);
    } else {
        socket_text((const struct sockaddr *)&v6, sizeof v6, text, room);
    }
}

void socket_speaker_text(const struct transport *transport, int fd, const void *own, char *text,
                         size_t room)
{
    const struct client_address *client = transport->client ? transport->client(own) : NULL;

    if (client) {
        socket_client_text(client, text, room);
    } else {
        socket_peer_text(fd, text, room);
    }
}

unsigned socket_waiting(int fd, unsigned least)
{
    struct tcp_info info = {0};
    socklen_t len = offsetof(struct tcp_info, tcpi_sacked);

    (void)getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len);
    return info.tcpi_unacked > least ? info.tcpi_unacked : least;
}

bool socket_error_passes(int error)
{
    return error == EINTR || error == ECONNABORTED || error == EPROTO || error == EPERM ||
           error == ENETDOWN || error == ENETUNREACH || error == EHOSTDOWN ||
           error == EHOSTUNREACH || error == ETIMEDOUT;
}

bool socket_is_local(int fd)
{
    int domain = 0;
    socklen_t len = sizeof domain;

    return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) == 0 && domain == AF_UNIX;
}
