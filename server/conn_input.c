/* SPDX-License-Identifier: MIT */
#include "server/conn_private.h"

#include <string.h>

bool conn_is_paused(const struct conn *conn)
{
    enum store_pressure pressure = conn_turn(conn)->pressure;

    if (conn_turn(conn)->fenced && !conn->service->frontend->administers) {
        return true;
    }
    return pressure == STORE_STUCK || (pressure == STORE_BEHIND && conn->wire.submits);
}

// Whether too much output waits. It may have grown so since the connection was last looked at.
static bool conn_has_too_much_output(const struct conn *conn)
{
    return conn->too_much_output || output_pending(&conn->wire.out) > CONN_OUTPUT_MAX;
}

// Whether feeding is called for without new input.
static bool conn_can_run(const struct conn *conn)
{
    return !conn_has_too_much_output(conn) && !conn_is_paused(conn) && !conn->broken &&
           !conn->unjudged &&
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
        conn_lacks_memory(conn, "input_dropped");
    }
}

// Takes note of what the front-end answered.
static void conn_fed(struct conn *conn, struct feed fed)
{
    conn->state = (uint8_t)fed.state;
    conn->into = fed.state == FEED_MORE ? fed.into : NULL;
    conn->into_len = fed.into_len < UINT32_MAX ? (uint32_t)fed.into_len : UINT32_MAX;
    conn_rate(conn, fed.dear || output_pending(&conn->wire.out) > CONN_SMALL_MAX);
    conn_touch(conn);
    conn_want_run(conn);
}

// Feeds bytes that are not in the kept buffer while that is empty, and keeps the rest.
static void conn_feed(struct conn *conn, struct slice input)
{
    struct feed fed;

    conn->woken = false;
    fed = conn->service->frontend->feed(conn->frontend_state, input, CONN_COMMANDS_MAX);
    ENSURE(fed.used <= input.len && (!fed.into || fed.used == input.len));
    conn_fed(conn, fed);
    conn_keep(conn, slice_from(input, fed.used));
}

// Feeds the kept bytes, or none.
static void conn_feed_kept(struct conn *conn)
{
    struct slice input = backlog_slice(&conn->input);
    struct feed fed;

    conn->woken = false;
    fed = conn->service->frontend->feed(conn->frontend_state, input, CONN_COMMANDS_MAX);
    ENSURE(fed.used <= input.len && (!fed.into || fed.used == input.len));
    backlog_drop(&conn->input, fed.used);
    conn_fed(conn, fed);
}

bool conn_run(struct conn *conn)
{
    bool runs = conn->runs;

    conn->runs = false;
    if (runs && turn_walks(conn_turn(conn), WALK_JUDGE)) {
        conn_judge_before_feed(conn);
    }
    if (runs && conn_can_run(conn)) {
        conn_feed_kept(conn);
    }
    return runs;
}

void conn_take_turn(struct conn *conn)
{
    if (turn_walks(conn_turn(conn), WALK_JUDGE)) {
        conn_judge_before_feed(conn);
    }
    if (!conn_run(conn) && conn_may_read(conn)) {
        conn_read(conn);
    }
}

// Tells the front-end, once, that the peer sends nothing more.
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

static void conn_end_input(struct conn *conn)
{
    conn->input_ended = true;
    conn_touch(conn);
    conn_tell_end(conn);
    if (!conn->broken && conn->state == FEED_MORE) {
        conn_feed_kept(conn);
    }
}

// `len` bytes were read: first where the front-end wanted them, the others to the shared buffer.
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

// How many bytes can be used now, beside those that have their place.
static size_t conn_input_room(const struct conn *conn)
{
    // One that runs is fed when the turn comes to it: reading on would only pile up what waits.
    if (conn->runs || conn->input_ended || conn->broken || conn->unjudged ||
        conn->state == FEED_FINISHED || conn_has_too_much_output(conn) || conn_is_paused(conn)) {
        return 0;
    }
    return conn->state == FEED_BLOCKED ? CONN_INPUT_MAX - backlog_len(&conn->input) : CONN_READ_MAX;
}

bool conn_may_read(const struct conn *conn)
{
    return conn->readable && conn_input_room(conn) > 0;
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

// One read of up to `room` bytes to the shared buffer, after what goes to its place.
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
    // What does not go to its place follows only what fills that.
    if (direct < conn->into_len) {
        return transport->receive(conn->fd, own, parts, 1, direct);
    }
    return transport->receive(conn->fd, own, parts, 2, direct + room);
}

// Takes note of whether another read is called for without an event. What the socket is drained of
// may be followed by the peer's end, if that has been reported, or by a reset.
static void conn_note_drained(struct conn *conn, const struct received *received)
{
    bool some = received->result == TRANSFER_BYTES;

    conn->readable =
        received->drained ? some && conn->peer_closed : some || received->result == TRANSFER_NONE;
    conn->read_needs_room = received->needs_room;
    // An I/O thread finds out itself (link_go_on_reading).
    conn->may_be_reset = some && !conn->readable && !conn->remote;
}

void conn_read(struct conn *conn)
{
    size_t room = conn_input_room(conn);
    struct received received;

    conn->reported = false;
    received = conn_receive(conn, room);
    conn_note_drained(conn, &received);
    switch ((enum transfer)received.result) {
    case TRANSFER_BYTES:
        turn_count_bytes(conn_turn(conn), received.len);
        conn->received += received.len;
        conn->service->tally->received += received.len;
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
        // What it waits for is set at the end of the turn, where it is not more input.
        if (conn->readable || conn->read_needs_room) {
            conn_touch(conn);
        }
        return;
    case TRANSFER_END:
        conn_end_input(conn);
        return;
    case TRANSFER_FAILED:
        conn_break(conn, strerror(received.error));
        return;
    }
    UNREACHABLE();
}

// Whether the peer's end is known and what comes before it is not read now.
static bool conn_waits_before_end(const struct conn *conn)
{
    return conn->peer_closed && !(conn->remote && link_reads_on(conn->link));
}

void conn_check_peer(struct conn *conn)
{
    int error;

    if (conn->may_be_reset && output_pending(&conn->wire.out) == 0) {
        // Nothing was answered: another read tells whether the peer is still there.
        conn->may_be_reset = false;
        conn->readable = true;
    }
    if (conn->broken || conn->runs || conn_may_read(conn)) {
        return;
    }
    error = conn->reported ? conn_transport(conn)->error(conn->fd, conn_transport_own(conn)) : 0;
    if (error) {
        conn_break(conn, strerror(error));
    } else if (conn_waits_before_end(conn) && output_sendable(&conn->wire.out) == 0 &&
               conn->state != FEED_FINISHED) {
        conn_tell_end(conn);
    }
    conn->reported = false;
}
