/* SPDX-License-Identifier: MIT */
#include "server/transport/transport.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

// After a short read, nothing is left except perhaps the end, or a reset, which the next send
// finds. (After urgent data or a passed descriptor there may be more. These protocols use neither;
// if a peer does, the rest waits for the next event.)
static struct received plain_receive(int fd, void *own, const struct iovec *parts, unsigned count,
                                     size_t len)
{
    ssize_t got = count == 1 ? recv(fd, parts->iov_base, len, 0) : readv(fd, parts, (int)count);

    (void)own;
    if (got > 0) {
        return (struct received){
            .result = TRANSFER_BYTES, .len = (size_t)got, .drained = (size_t)got < len};
    }
    if (got == 0) {
        return (struct received){.result = TRANSFER_END, .drained = true};
    }
    if (errno == EAGAIN || errno == EINTR) {
        return (struct received){.result = TRANSFER_NONE, .drained = errno == EAGAIN};
    }
    return (struct received){.result = TRANSFER_FAILED, .error = errno, .drained = true};
}

static struct sent plain_send(int fd, void *own, const struct iovec *parts, unsigned count,
                              size_t len)
{
    const struct msghdr message = {.msg_iov = (struct iovec *)(uintptr_t)parts,
                                   // An int in musl, a size_t in glibc.
                                   .msg_iovlen = (uint16_t)count};
    // write() and writev() have no MSG_NOSIGNAL.
    ssize_t left = count == 1 ? send(fd, parts->iov_base, len, MSG_NOSIGNAL)
                              : sendmsg(fd, &message, MSG_NOSIGNAL);

    (void)own;
    if (left >= 0) {
        return (struct sent){
            .result = TRANSFER_BYTES, .len = (size_t)left, .full = (size_t)left < len};
    }
    if (errno == EAGAIN || errno == EINTR) {
        return (struct sent){.result = TRANSFER_NONE, .full = true};
    }
    return (struct sent){.result = TRANSFER_FAILED, .error = errno};
}

static int plain_error(int fd, void *own)
{
    int error = 0;
    socklen_t len = sizeof error;

    (void)own;
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) == 0 ? error : 0;
}

static void plain_peer(int fd, const void *own, char *text, size_t room)
{
    struct sockaddr_storage addr;
    socklen_t len = sizeof addr;

    (void)own;
    if (getpeername(fd, (void *)&addr, &len) != 0 || addr.ss_family == AF_UNIX ||
        getnameinfo((void *)&addr, len, text, (socklen_t)room, NULL, 0, NI_NUMERICHOST) != 0) {
        (void)snprintf(text, room, "-");
    }
}

static bool plain_shut(int fd, void *own)
{
    (void)own;
    (void)shutdown(fd, SHUT_WR);
    return true;
}

static void plain_close(int fd, void *own)
{
    (void)own;
    (void)close(fd);
}

const struct transport transport_plain = {
    .receive = plain_receive,
    .send = plain_send,
    .error = plain_error,
    .peer = plain_peer,
    .shut = plain_shut,
    .close = plain_close,
};

static void socket_set_number(int fd, int level, int name, int value)
{
    (void)setsockopt(fd, level, name, &value, sizeof value);
}

void transport_prepare_tcp(int fd)
{
    socket_set_number(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    socket_set_number(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
    socket_set_number(fd, IPPROTO_TCP, TCP_KEEPIDLE, TRANSPORT_PROBE_AFTER);
    socket_set_number(fd, IPPROTO_TCP, TCP_KEEPINTVL, TRANSPORT_PROBE_EVERY);
    socket_set_number(fd, IPPROTO_TCP, TCP_KEEPCNT, TRANSPORT_PROBES);
}

void transport_prepare_like(int fd, int listening)
{
    int lost_after = 0;
    socklen_t len = sizeof lost_after;

    transport_prepare_tcp(fd);
    (void)getsockopt(listening, IPPROTO_TCP, TCP_USER_TIMEOUT, &lost_after, &len);
    socket_set_number(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, lost_after);
}

void transport_limit_silence(int fd, nsec_t unread_for)
{
    bool limited = unread_for > 0 && unread_for <= TRANSPORT_LOST_AFTER * NSEC_PER_SEC;

    socket_set_number(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, limited ? TRANSPORT_LOST_AFTER * 1000 : 0);
}
