/* SPDX-License-Identifier: MIT */
#include "server/conn_private.h"

#include <string.h>

// The first spans that may leave, no more than one system call and one turn send; returns how many.
static unsigned conn_gather(const struct conn *conn, struct iovec parts[CONN_SEND_PARTS_MAX],
                            size_t *len)
{
    struct slice spans[CONN_SEND_PARTS_MAX];
    size_t found = output_peek(&conn->wire.out, spans, CONN_SEND_PARTS_MAX);
    unsigned count = 0;

    *len = 0;
    for (; count < found && *len < CONN_SEND_MAX; count++) {
        size_t most = CONN_SEND_MAX - *len;

        parts[count].iov_base = (void *)(uintptr_t)spans[count].ptr;
        parts[count].iov_len = spans[count].len < most ? spans[count].len : most;
        *len += parts[count].iov_len;
    }
    return count;
}

// Sends one batch; returns how many bytes left. Sets `stalled` where the peer takes no more.
static size_t conn_send(struct conn *conn)
{
    struct iovec parts[CONN_SEND_PARTS_MAX];
    size_t len;
    unsigned count = conn_gather(conn, parts, &len);
    struct sent sent =
        conn_transport(conn)->send(conn->fd, conn_transport_own(conn), parts, count, len);

    if (sent.result == TRANSFER_FAILED) {
        conn_break(conn, strerror(sent.error));
        return 0;
    }
    conn->send_needs_input = sent.needs_input;
    conn->wire.out.stalled = sent.full || sent.needs_input;
    if (sent.result == TRANSFER_NONE) {
        return 0;
    }
    conn->may_be_reset = false;
    output_consume(&conn->wire.out, sent.len);
    conn->wire.out.sent = (conn->wire.out.sent + sent.len) & OUTPUT_SENT_MAX;
    conn->service->tally->sent += sent.len;
    if (conn->deadline) {
        conn->deadline->unread_at = NSEC_NEVER;
    }
    turn_count_bytes(conn_turn(conn), sent.len);
    return sent.len;
}

// Lets the connection rest while too much waits, and go on when half of that has left.
static void conn_limit_output(struct conn *conn)
{
    size_t pending = output_pending(&conn->wire.out);

    if (pending > CONN_OUTPUT_MAX) {
        conn->too_much_output = true;
    } else if (!conn->too_much_output || pending < CONN_OUTPUT_MAX / 2) {
        // Also where what a feed has staged was too much until a moment ago, or the store was not
        // at ease.
        conn->too_much_output = false;
        conn_want_run(conn);
    }
}

// Whether what is staged may leave at this moment.
static bool conn_may_send(const struct conn *conn)
{
    return turn_may_send(conn_turn(conn)) || conn->service->frontend->administers;
}

void conn_flush(struct conn *conn)
{
    size_t sent = 0;

    while (!conn->wire.out.stalled && !conn->broken && output_sendable(&conn->wire.out) > 0 &&
           conn_may_send(conn)) {
        if (sent >= CONN_SEND_MAX) {
            conn_touch(conn);
            break;
        }
        sent += conn_send(conn);
    }
    conn_limit_output(conn);
}
