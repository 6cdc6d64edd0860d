/* SPDX-License-Identifier: MIT */
#include "server/conn/conn_private.h"

#include <string.h>

bool conn_is_paused(const struct conn *conn)
{
    enum store_pressure pressure = conn_turn(conn)->pressure;

    if (conn_turn(conn)->fenced && !conn->service->frontend->administers) {
        return true;
    }
    return pressure == STORE_STUCK || (pressure == STORE_BEHIND && conn->wire.submits);
}

// Output may have grown since the end of the last turn.
static bool conn_has_too_much_output(const struct conn *conn)
{
    return conn->too_much_output || output_pending(&conn->wire.out) > CONN_OUTPUT_MAX;
}

// Whether it can be fed without new input.
static bool conn_can_run(const struct conn *conn)
{
    return !conn_has_too_much_output(conn) && !conn_is_paused(conn) && !conn->broken &&
           !conn->authorizing &&
           (conn->state == FEED_AGAIN || (conn->state == FEED_BLOCKED && conn->woken));
}

void conn_want_run(struct conn *conn)
{
    if (conn_can_run(conn)) {
        conn->runs = true;
        conn_await_turn(conn);
    }
}

// Keeps input for later.
static void conn_keep(struct conn *conn, struct slice input)
{
    if (conn->state == FEED_FINISHED) {
        return;
    }
    if (!backlog_append(&conn->input, input)) {
        conn_out_of_memory(conn, "input_dropped");
    }
}

// Notes the result of a feed.
static void conn_fed(struct conn *conn, struct feed fed)
{
    conn->state = (uint8_t)fed.state;
    conn->into = fed.state == FEED_MORE ? fed.into : NULL;
    conn->into_len = fed.into_len < UINT32_MAX ? (uint32_t)fed.into_len : UINT32_MAX;
    conn_rate(conn, fed.dear || output_pending(&conn->wire.out) > CONN_SMALL_MAX);
    conn_touch(conn);
    conn_want_run(conn);
}

static struct feed conn_call_feed(struct conn *conn, struct slice input)
{
    struct feed fed;

    conn->woken = false;
    fed = conn->service->frontend->feed(conn->frontend_state, input, CONN_COMMANDS_MAX);
    ENSURE(fed.used <= input.len && (!fed.into || fed.used == input.len));
    return fed;
}

// Feeds new input, while no input is kept, and keeps the rest.
static void conn_feed(struct conn *conn, struct slice input)
{
    struct feed fed = conn_call_feed(conn, input);

    conn_fed(conn, fed);
    conn_keep(conn, slice_from(input, fed.used));
}

// Feeds the kept input, which may be empty.
static void conn_feed_kept(struct conn *conn)
{
    struct feed fed = conn_call_feed(conn, backlog_slice(&conn->input));

    backlog_drop(&conn->input, fed.used);
    conn_fed(conn, fed);
}

bool conn_run(struct conn *conn)
{
    bool runs = conn->runs;

    conn->runs = false;
    if (runs && turn_walks(conn_turn(conn), WALK_AUTHORIZE)) {
        conn_authorize_before_feed(conn);
    }
    if (runs && conn_can_run(conn)) {
        conn_feed_kept(conn);
    }
    return runs;
}

void conn_take_turn(struct conn *conn)
{
    if (turn_walks(conn_turn(conn), WALK_AUTHORIZE)) {
        conn_authorize_before_feed(conn);
    }
    if (!conn_run(conn) && conn_may_read(conn)) {
        conn_read(conn);
    }
}

// Tells the front-end, once, that the peer's input ends.
static void conn_tell_end(struct conn *conn)
{
    if (!conn->end_told) {
        conn->end_told = true;
        conn_touch(conn);
        if (!conn->service->frontend->eof(conn->frontend_state)) {
            conn_break(conn, "closed by the peer");
        }
    }
}

// `len` bytes were read: the first to the front-end's buffer, the others to the shared one.
static void conn_fill(struct conn *conn, size_t len)
{
    size_t filled = len < conn->into_len ? len : conn->into_len;
    struct slice rest = slice_of(conn_turn(conn)->buffer + CONN_JOIN_MAX, len - filled);

    conn->woken = false;
    conn_fed(conn,
             conn->service->frontend->filled(conn->frontend_state, filled, CONN_COMMANDS_MAX));
    if (rest.len == 0) {
        return;
    }
    if (conn->state == FEED_MORE) {
        conn_feed(conn, rest);
    } else {
        conn_keep(conn, rest);
    }
}

// `len` bytes were read to the shared buffer.
static void conn_take(struct conn *conn, size_t len)
{
    char *bytes = conn_turn(conn)->buffer + CONN_JOIN_MAX;
    struct slice kept = backlog_slice(&conn->input);

    if (conn->state == FEED_BLOCKED) {
        conn_keep(conn, slice_of(bytes, len));
        conn_touch(conn);
    } else if (kept.len <= CONN_JOIN_MAX) {
        bytes -= kept.len;
        memcpy(bytes, kept.ptr, kept.len);
        backlog_drop(&conn->input, kept.len);
        conn_feed(conn, slice_of(bytes, kept.len + len));
    } else {
        conn_keep(conn, slice_of(bytes, len));
        if (!conn->broken) {
            conn_feed_kept(conn);
        }
    }
}

// How many bytes can be used now, beside those for the front-end's buffer.
static size_t conn_input_room(const struct conn *conn)
{
    // A connection that runs still has input to be fed: more would only be kept.
    if (conn->runs || conn->input_ended || conn->broken || conn->authorizing ||
        conn->state == FEED_FINISHED || conn_has_too_much_output(conn) || conn_is_paused(conn)) {
        return 0;
    }
    return conn->state == FEED_BLOCKED ? CONN_INPUT_MAX - backlog_len(&conn->input) : CONN_READ_MAX;
}

bool conn_may_read(const struct conn *conn)
{
    return conn->edge.readable && conn_input_room(conn) > 0;
}

bool conn_takes_input(const struct conn *conn)
{
    return conn_input_room(conn) > 0;
}

void conn_tell_room(const struct conn *conn)
{
    size_t room = conn_input_room(conn);

    if (room > 0) {
        link_read_on(conn->link, room);
    } else {
        link_hold(conn->link);
    }
}

// Reads once: to the front-end's buffer, and then up to `room` bytes to the shared buffer.
static struct received conn_receive(const struct conn *conn, size_t room)
{
    const struct transport *transport = conn_transport(conn);
    void *own = conn_transport_own(conn);
    size_t direct = conn->into_len < CONN_DIRECT_MAX ? conn->into_len : CONN_DIRECT_MAX;
    struct iovec parts[2] = {
        {.iov_base = conn->into, .iov_len = direct},
        {.iov_base = conn_turn(conn)->buffer + CONN_JOIN_MAX, .iov_len = room},
    };

    if (!conn->into) {
        return transport->receive(conn->fd, own, &parts[1], 1, room);
    }
    // Bytes reach the shared buffer only after the front-end's is full.
    if (direct < conn->into_len) {
        return transport->receive(conn->fd, own, parts, 1, direct);
    }
    return transport->receive(conn->fd, own, parts, 2, direct + room);
}

void conn_read(struct conn *conn)
{
    struct received received = conn_receive(conn, conn_input_room(conn));

    edge_received(&conn->edge, &received);
    // An I/O thread checks for a reset itself (link_continue_reading).
    conn->edge.may_be_reset = conn->edge.may_be_reset && !conn->remote;
    switch ((enum transfer)received.result) {
    case TRANSFER_BYTES:
        turn_count_bytes(conn_turn(conn), received.len);
        conn->received += received.len;
        conn->service->counters->received += received.len;
        if (conn->into) {
            conn_fill(conn, received.len);
        } else {
            conn_take(conn, received.len);
        }
        if (received.len > CONN_SMALL_MAX) {
            conn_rate(conn, true);
        }
        return;
    case TRANSFER_NONE:
        // What it waits for, unless that is more input, is set at the end of the turn.
        if (conn->edge.readable || conn->edge.read_needs_room) {
            conn_touch(conn);
        }
        return;
    case TRANSFER_END:
        conn->input_ended = true;
        conn_touch(conn);
        conn_tell_end(conn);
        if (!conn->broken && conn->state == FEED_MORE) {
            conn_feed_kept(conn);
        }
        return;
    case TRANSFER_FAILED:
        conn_break(conn, strerror(received.error));
        return;
    }
    UNREACHABLE();
}

void conn_check_peer(struct conn *conn)
{
    int error;

    if (output_pending(&conn->wire.out) == 0) {
        edge_check_reset(&conn->edge);
    }
    if (conn->broken || conn->runs || conn_may_read(conn)) {
        return;
    }
    error =
        conn->edge.reported ? conn_transport(conn)->error(conn->fd, conn_transport_own(conn)) : 0;
    if (error) {
        conn_break(conn, strerror(error));
    } else if (conn->edge.peer_closed && !(conn->remote && link_reads_on(conn->link)) &&
               output_sendable(&conn->wire.out) == 0 && conn->state != FEED_FINISHED) {
        // The end of the peer's input is known, and the input before it is not read now.
        conn_tell_end(conn);
    }
    conn->edge.reported = false;
}

// Gathers the first spans of output that may be sent, for one system call; returns their count.
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

// Sends once; returns how many bytes were sent. Sets `stalled` if the peer takes no more.
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
    conn->wire.out.stalled = edge_sent(&conn->edge, &sent);
    if (sent.result == TRANSFER_NONE) {
        return 0;
    }
    output_consume(&conn->wire.out, sent.len);
    conn->wire.out.sent = (conn->wire.out.sent + sent.len) & OUTPUT_SENT_MAX;
    conn->service->counters->sent += sent.len;
    if (conn->deadline) {
        conn->deadline->unread_at = NSEC_NEVER;
    }
    turn_count_bytes(conn_turn(conn), sent.len);
    return sent.len;
}

void conn_flush(struct conn *conn)
{
    size_t sent = 0;
    size_t pending;

    while (!conn->wire.out.stalled && !conn->broken && output_sendable(&conn->wire.out) > 0 &&
           (turn_may_send(conn_turn(conn)) || conn->service->frontend->administers)) {
        if (sent >= CONN_SEND_MAX) {
            conn_touch(conn);
            break;
        }
        sent += conn_send(conn);
    }
    // Stops feeding while too much output waits, until half of it was sent.
    pending = output_pending(&conn->wire.out);
    if (pending > CONN_OUTPUT_MAX) {
        conn->too_much_output = true;
    } else if (!conn->too_much_output || pending < CONN_OUTPUT_MAX / 2) {
        // The connection may also have waited for output that one feed has staged, or for the
        // store.
        conn->too_much_output = false;
        conn_want_run(conn);
    }
}
