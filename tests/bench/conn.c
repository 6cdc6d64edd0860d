/* SPDX-License-Identifier: MIT */
#include "tests/bench/conn.h"

#include "tests/bench/args.h"
#include "tests/bench/tls.h"

#include <arpa/inet.h>
#include <assert.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

// How much one read takes at most.
#define READ_ROOM 65536
// From how many addresses of loopback connections come.
#define SOURCES 64

static void set_events(const struct conn *conn, int epoll, int operation, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.u32 = conn->index};
    if (epoll_ctl(epoll, operation, conn->fd, &event) < 0)
        err(1, "epoll_ctl");
}

// The port is left to connect(), which knows more of them that are free.
static void bind_source(int fd, uint32_t source)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK + source % SOURCES)};
    int on = 1;
    if (setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on) < 0 ||
        bind(fd, (struct sockaddr *)&address, sizeof address) < 0)
        err(1, "bind");
}

void conn_open(struct conn *conn, const struct args *args, struct tls *tls, uint32_t source,
               int epoll)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(args->port)};
    if (inet_pton(AF_INET, args->host, &address.sin_addr) != 1)
        errx(2, "%s: not an IPv4 address", args->host);
    conn->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (conn->fd < 0)
        err(1, "socket");
    if (ntohl(address.sin_addr.s_addr) == INADDR_LOOPBACK)
        bind_source(conn->fd, source);
    if (connect(conn->fd, (struct sockaddr *)&address, sizeof address) < 0)
        err(1, "cannot connect to %s:%u", args->host, args->port);
    int on = 1;
    if (setsockopt(conn->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) < 0 ||
        fcntl(conn->fd, F_SETFL, O_NONBLOCK) < 0)
        err(1, "cannot set up the connection");
    if (tls)
        conn->tls = tls_open(tls, conn->fd);
    set_events(conn, epoll, EPOLL_CTL_ADD, EPOLLIN);
}

void conn_close(struct conn *conn)
{
    if (conn->tls)
        tls_close(conn->tls);
    close(conn->fd);
    buffer_free(&conn->in);
    buffer_free(&conn->out);
    free(conn->ring);
}

static void ring_grow(struct conn *conn)
{
    uint32_t room = conn->ring_room ? 2 * conn->ring_room : 4;
    struct request *ring = calloc(room, sizeof *ring);
    if (!ring)
        err(1, "no memory for %u requests", room);
    for (uint32_t i = 0; i < conn->ring_count; i++)
        ring[i] = conn->ring[(conn->ring_head + i) % conn->ring_room];
    free(conn->ring);
    conn->ring = ring;
    conn->ring_room = room;
    conn->ring_head = 0;
}

void conn_expect(struct conn *conn, const struct request *request)
{
    if (conn->ring_count == conn->ring_room)
        ring_grow(conn);
    conn->ring[(conn->ring_head + conn->ring_count++) % conn->ring_room] = *request;
}

const struct request *conn_oldest(const struct conn *conn)
{
    return conn->ring_count ? &conn->ring[conn->ring_head] : NULL;
}

void conn_answered(struct conn *conn)
{
    assert(conn->ring_count > 0);
    conn->ring_head = (conn->ring_head + 1) % conn->ring_room;
    conn->ring_count--;
}

uint32_t conn_in_flight(const struct conn *conn)
{
    return conn->ring_count;
}

bool conn_read(struct conn *conn)
{
    if (conn->tls)
        return tls_receive(conn->tls, &conn->in);
    ssize_t got = read(conn->fd, buffer_room(&conn->in, READ_ROOM), READ_ROOM);
    if (got > 0)
        buffer_filled(&conn->in, (size_t)got);
    else if (got < 0 && errno != EAGAIN && errno != EINTR && errno != ECONNRESET)
        err(1, "read");
    return got > 0 || (got < 0 && errno != ECONNRESET);
}

static void send_plain(struct conn *conn)
{
    while (buffer_len(&conn->out) > 0) {
        ssize_t sent =
            send(conn->fd, buffer_bytes(&conn->out), buffer_len(&conn->out), MSG_NOSIGNAL);
        if (sent < 0 && errno == EAGAIN)
            return;
        if (sent < 0 && errno != EINTR)
            err(1, "send");
        if (sent > 0)
            buffer_used(&conn->out, (size_t)sent);
    }
}

void conn_flush(struct conn *conn, int epoll)
{
    if (conn->tls)
        tls_send(conn->tls, &conn->out);
    else
        send_plain(conn);
    bool ask = conn->tls ? tls_needs_room(conn->tls) : buffer_len(&conn->out) > 0;
    if (ask != conn->writable_asked)
        set_events(conn, epoll, EPOLL_CTL_MOD, ask ? EPOLLIN | EPOLLOUT : EPOLLIN);
    conn->writable_asked = ask;
}
