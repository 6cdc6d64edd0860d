/* SPDX-License-Identifier: MIT */
// tandem_floor PORT REQUEST_BYTES REPLY: the least that a server on this kernel can do. It keeps
// nothing and understands nothing: for so many bytes received it sends one fixed reply (in
// hexadecimal digits), with one read and one write each time that it is woken. The address is
// 127.0.0.1.
// accept4 is a GNU function.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <err.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define READ_MAX 65536
#define REPLY_MAX 256
#define CONNS_MAX 65536
#define EVENTS_PER_WAIT 256

struct reply {
    size_t request_len;
    size_t len;
    char *copies; // as many as one read can ask for
};

// Bytes of a request that has begun, by descriptor.
static size_t begun[CONNS_MAX];

static void serve(int fd, const struct reply *reply)
{
    static char bytes[READ_MAX];
    ssize_t got = read(fd, bytes, sizeof bytes);
    if (got <= 0) {
        begun[fd] = 0;
        close(fd);
        return;
    }
    size_t arrived = begun[fd] + (size_t)got;
    size_t len = arrived / reply->request_len * reply->len;
    begun[fd] = arrived % reply->request_len;
    if (len > 0 && write(fd, reply->copies, len) != (ssize_t)len)
        close(fd);
}

static void accept_one(int listener, int epoll)
{
    const int on = 1;
    struct sockaddr_in peer;
    socklen_t len = sizeof peer;
    int fd = accept4(listener, (struct sockaddr *)&peer, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0 || fd >= CONNS_MAX)
        errx(1, "cannot take a connection");
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) < 0 ||
        epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) < 0)
        err(1, "cannot serve a connection");
}

static int listen_on(uint16_t port)
{
    const int on = 1;
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) < 0 ||
        bind(fd, (const struct sockaddr *)&address, sizeof address) < 0 || listen(fd, SOMAXCONN))
        err(1, "cannot listen on port %u", port);
    return fd;
}

static struct reply read_reply(const char *request_len, const char *digits)
{
    struct reply reply = {.request_len = strtoul(request_len, NULL, 10), .len = strlen(digits) / 2};
    if (reply.request_len == 0 || reply.len == 0 || reply.len > REPLY_MAX)
        errx(2, "no such requests or replies");
    size_t copies = READ_MAX / reply.request_len + 1;
    reply.copies = malloc(copies * reply.len);
    if (!reply.copies)
        err(1, "no memory");
    for (size_t i = 0; i < copies * reply.len; i++) {
        const char *at = digits + i % reply.len * 2;
        const char pair[] = {at[0], at[1], '\0'};
        reply.copies[i] = (char)strtoul(pair, NULL, 16);
    }
    return reply;
}

int main(int argc, char **argv)
{
    if (argc != 4)
        errx(2, "usage: tandem_floor PORT REQUEST_BYTES REPLY");
    struct reply reply = read_reply(argv[2], argv[3]);
    int listener = listen_on((uint16_t)strtoul(argv[1], NULL, 10));
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = listener};
    if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &event) < 0)
        err(1, "epoll");
    for (;;) {
        struct epoll_event events[EVENTS_PER_WAIT];
        int count = epoll_wait(epoll, events, EVENTS_PER_WAIT, -1);
        for (int i = 0; i < count; i++) {
            if (events[i].data.fd == listener)
                accept_one(listener, epoll);
            else
                serve(events[i].data.fd, &reply);
        }
    }
}
