/* SPDX-License-Identifier: MIT */
#include "server/conn.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

// Spans that one system call sends.
enum { FLUSH_SPANS = 128 };

// Sends one batch; returns how many bytes left. Sets `stalled` where the peer takes no more.
static size_t conn_send(struct conn *conn)
{
    struct slice spans[FLUSH_SPANS];
    struct iovec parts[FLUSH_SPANS];
    size_t count = output_peek(&conn->wire.out, spans, FLUSH_SPANS);
    struct msghdr message = {.msg_iov = parts};
    size_t total = 0;
    ssize_t sent;

    for (size_t i = 0; i < count && total < CONN_FLUSH_MAX; i++) {
        size_t most = CONN_FLUSH_MAX - total;

        parts[i].iov_base = (void *)(uintptr_t)spans[i].ptr;
        parts[i].iov_len = spans[i].len < most ? spans[i].len : most;
        total += parts[i].iov_len;
        message.msg_iovlen++;
    }
    // Not write or writev, for the flag's sake: a peer that has gone is no signal.
    sent = count == 1 ? send(conn->fd, parts[0].iov_base, parts[0].iov_len, MSG_NOSIGNAL)
                      : sendmsg(conn->fd, &message, MSG_NOSIGNAL);
    if (sent < 0) {
        if (errno == EAGAIN || errno == EINTR) {
            conn->wire.out.stalled = true;
        } else {
            conn_break(conn, strerror(errno));
        }
        return 0;
    }
    conn->wire.out.stalled = (size_t)sent < total;
    conn->untried = false;
    output_consume(&conn->wire.out, (size_t)sent);
    if (conn->deadline) {
        conn->deadline->stuck_at = NSEC_NEVER;
    }
    loop_count_bytes(conn_loop(conn), (size_t)sent);
    return (size_t)sent;
}

// Lets the connection rest while too much waits, and go on when half of that has left.
static void conn_measure(struct conn *conn)
{
    size_t pending = output_pending(&conn->wire.out);

    if (pending > CONN_OUTPUT_MAX) {
        conn->choked = true;
    } else if (!conn->choked || pending < CONN_OUTPUT_MAX / 2) {
        // Also where what a feed has staged was too much until a moment ago, or the store was not
        // at ease.
        conn->choked = false;
        conn_want_run(conn);
    }
}

void conn_flush(struct conn *conn)
{
    size_t sent = 0;

    while (!conn->wire.out.stalled && !conn->broken && output_sendable(&conn->wire.out) > 0) {
        if (sent >= CONN_FLUSH_MAX) {
            conn_touch(conn);
            break;
        }
        sent += conn_send(conn);
    }
    conn_measure(conn);
}
