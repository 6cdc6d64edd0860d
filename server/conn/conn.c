/* SPDX-License-Identifier: MIT */
#include "server/conn/conn_private.h"

#include "core/base/log.h"
#include "core/base/memory.h"
#include "server/conn/conn_log.h"
#include "server/net/admission.h"

#include <string.h>

static const struct wire_host conn_host;

struct conn *conn_of(struct turn_member *member)
{
    return container_of(member, struct conn, member);
}

//
// Where a connection waits
//

void conn_unpark(struct conn *conn)
{
    conn->parked = false;
}

bool conn_is_held(const struct conn *conn)
{
    return output_sendable(&conn->wire.out) < output_pending(&conn->wire.out);
}

bool conn_is_expensive(const struct conn *conn)
{
    return conn->expensive > 0;
}

bool conn_is_bulky(const struct conn *conn)
{
    return !conn->broken && !conn->wire.out.stalled &&
           output_sendable(&conn->wire.out) > CONN_SMALL_MAX;
}

void conn_rate(struct conn *conn, bool expensive)
{
    if (expensive) {
        conn->expensive = CONN_EXPENSIVE_FEEDS;
    } else if (conn->expensive > 0) {
        conn->expensive--;
    }
}

static void conn_join(struct conn *conn, struct list_node *list)
{
    if (conn->parked) {
        conn->parked = false;
        list_remove(&conn->member.touched);
    }
    if (!list_linked(&conn->member.touched)) {
        list_append(list, &conn->member.touched);
    }
}

void conn_touch(struct conn *conn)
{
    conn_join(conn, &conn_turn(conn)->touched);
}

void conn_await_turn(struct conn *conn)
{
    conn_join(conn,
              conn_is_expensive(conn) ? &conn_turn(conn)->expensive : &conn_turn(conn)->touched);
}

// At the end of a turn, puts the connection into the list in which it waits until it is touched.
static void conn_park(struct conn *conn)
{
    struct turn *turn = conn_turn(conn);
    bool waits = conn_is_held(conn) && output_sendable(&conn->wire.out) == 0;

    if (conn->runs || (conn_is_expensive(conn) && conn_may_read(conn))) {
        conn_await_turn(conn);
    } else if (conn_may_read(conn)) {
        // The socket does not report its input again.
        if (conn->remote) {
            link_call_again(conn->link);
        } else {
            event_active(&conn->event, EV_READ, 1);
        }
    }
    if (!list_linked(&conn->member.touched) && (waits || conn_is_paused(conn))) {
        conn->parked = true;
        list_append(waits ? &turn->held : &turn->paused, &conn->member.touched);
    }
}

void conn_review(struct conn *conn)
{
    conn_choose_trace(conn);
    conn_touch(conn);
}

//
// Why it ends
//

void conn_break(struct conn *conn, const char *why)
{
    if (!conn->broken) {
        log_debug("connection_broken", log_number("conn", (int64_t)conn->wire.number),
                  log_string("why", why));
    }
    conn->broken = true;
    conn_touch(conn);
}

void conn_out_of_memory(struct conn *conn, const char *event)
{
    const char *why = status_text(STATUS_NO_MEMORY);

    if (turn_may_log(conn_turn(conn), LIMITED_LOG_MEMORY)) {
        log_warn(event, log_number("conn", (int64_t)conn->wire.number), log_string("why", why));
    }
    service_count_refusal(conn->service->counters, REFUSAL_MEMORY);
    conn_break(conn, why);
}

void conn_evict(struct conn *conn, size_t held)
{
    if (conn->broken) {
        return;
    }
    service_count_refusal(conn->service->counters, REFUSAL_MEMORY);
    log_warn("shed", log_number("conn", (int64_t)conn->wire.number),
             log_string("protocol", conn->service->frontend->name),
             log_number("bytes", (int64_t)held),
             log_string("why", "memory in use exceeds server.max_memory, and this connection holds "
                               "more than most"));
    conn_break(conn, "memory in use exceeds server.max_memory");
}

void conn_give_up(struct conn *conn)
{
    size_t handed_over = conn->remote ? link_unread(conn->link) : 0;

    if (!conn->broken) {
        service_count_refusal(conn->service->counters, REFUSAL_UNREAD);
        log_warn("not_reading", log_number("conn", (int64_t)conn->wire.number),
                 log_number("bytes", (int64_t)(output_pending(&conn->wire.out) + handed_over)));
    }
    conn_break(conn, "does not read");
}

// Reads and parses no more, and closes when the output was sent.
static void conn_finish(struct conn *conn)
{
    conn->state = FEED_FINISHED;
    conn->runs = false;
    conn_touch(conn);
}

void conn_stop(struct conn *conn)
{
    const struct frontend *frontend = conn->service->frontend;

    if (frontend->stopping && conn->state != FEED_FINISHED && !conn->broken) {
        frontend->stopping(conn->frontend_state);
    }
    conn_finish(conn);
}

//
// Authorization
//

void conn_authorize_first(struct conn *conn)
{
    if (!conn_find_caller(conn)) {
        conn_out_of_memory(conn, "caller_unknown");
    }
}

bool conn_authorize_again(struct conn *conn)
{
    if (conn->broken) {
        return true;
    }
    if (conn->authorizing) {
        // If this call completes it, reading may go on.
        conn_touch(conn);
    }
    switch (conn_find_caller_again(conn)) {
    case CALLER_STAYS:
        return true;
    case CALLER_MORE:
        return false;
    case CALLER_LOST:
        conn_log_access_lost(conn);
        conn_break(conn, "has lost the right to what it waits for");
        return true;
    case CALLER_NOT_FOUND:
        conn_out_of_memory(conn, "caller_unknown");
        return true;
    }
    UNREACHABLE();
}

void conn_authorize_before_feed(struct conn *conn)
{
    if (conn_caller_is_old(conn)) {
        (void)conn_authorize_again(conn);
    }
}

//
// The host of its front-end
//

static void conn_wire_wake(struct wire *wire)
{
    struct conn *conn = conn_of_wire(wire);

    conn->woken = true;
    conn_touch(conn);
    conn_want_run(conn);
}

static void conn_wire_drop(struct wire *wire, const char *why)
{
    struct conn *conn = conn_of_wire(wire);

    if (!conn->broken) {
        service_count_refusal(conn->service->counters, REFUSAL_UNREAD);
        log_warn("dropped", log_number("conn", (int64_t)wire->number),
                 log_number("unread", (int64_t)output_pending(&wire->out)), log_string("why", why));
    }
    conn_break(conn, why);
}

static void conn_wire_finish(struct wire *wire)
{
    conn_finish(conn_of_wire(wire));
}

static void conn_wire_shut(struct wire *wire)
{
    struct conn *conn = conn_of_wire(wire);

    conn->shut_wanted = true;
    conn_touch(conn);
}

static void conn_wire_peer(const struct wire *wire, char *text)
{
    const struct conn *conn = conn_of_wire(wire);

    conn_transport(conn)->peer(conn->fd, conn_transport_own(conn), text, WIRE_PEER_MAX);
}

static struct wire_caller conn_wire_identify(struct wire *wire, const struct wire_claim *claim)
{
    struct conn *conn = conn_of_wire(wire);
    struct wire_caller found;

    if (!conn_find_claimed(conn, claim, &found)) {
        conn_out_of_memory(conn, "caller_unknown");
    }
    return found;
}

static bool conn_wire_is_local(const struct wire *wire)
{
    struct origin origin = conn_origin(conn_of_wire(wire));

    return origin_is_local(&origin);
}

size_t conn_holds(const struct conn *conn)
{
    const struct frontend *frontend = conn->service->frontend;

    return output_kept(&conn->wire.out) + (conn->remote ? link_unread(conn->link) : 0) +
           backlog_holds(&conn->input) +
           (frontend->holds ? frontend->holds(conn->frontend_state) : 0);
}

static bool conn_wire_overflows(struct wire *wire)
{
    const struct conn *conn = conn_of_wire(wire);
    uint64_t most = conn_turn(conn)->kept_most;

    if (most == 0 || conn_holds(conn) <= most) {
        return false;
    }
    conn_wire_drop(wire, "leaves more unread than server.max_connection_memory allows");
    return true;
}

static void conn_wire_refused(struct wire *wire, enum refusal_kind refusal)
{
    service_count_refusal(conn_of_wire(wire)->service->counters, refusal);
}

static const struct wire_host conn_host = {
    .wake = conn_wire_wake,
    .drop = conn_wire_drop,
    .finish = conn_wire_finish,
    .shut = conn_wire_shut,
    .peer = conn_wire_peer,
    .tls_hello = conn_log_tls_hello,
    .proxy_head = conn_log_proxy_head,
    .identify = conn_wire_identify,
    .is_local = conn_wire_is_local,
    .overflows = conn_wire_overflows,
    .refused = conn_wire_refused,
    .too_large = conn_log_too_large,
    .command = conn_log_command,
};

//
// Its life
//

static size_t conn_size(const struct service *service)
{
    return sizeof(struct conn) + conn_frontend_room(service) + service->transport->state_size;
}

struct conn *conn_new(const struct service *service, enum status *status)
{
    struct conn *conn = memory_zeroed_of(MEMORY_CONNECTIONS, conn_size(service));

    *status = STATUS_NO_MEMORY;
    if (!conn) {
        return NULL;
    }
    conn->wire.host = &conn_host;
    conn->wire.deadline_at = NSEC_NEVER;
    conn->wire.number = ++service->turn->connections & WIRE_NUMBER_MAX;
    output_init(&conn->wire.out, &service->turn->pool);
    conn->service = service;
    conn->fd = -1;
    conn->connected_s = (uint32_t)(broker_now(service->turn->broker).mono / NSEC_PER_SEC);
    conn->state = FEED_MORE;
    list_init(&conn->member.touched);

    *status = service->frontend->open(conn->frontend_state, service->shared, &conn->wire);
    if (*status != STATUS_OK) {
        output_clear(&conn->wire.out);
        memory_free_of(MEMORY_CONNECTIONS, conn, conn_size(service));
        return NULL;
    }
    conn_registry_add(conn);
    service->counters->open++;
    service->counters->accepted++;
    conn_touch(conn);
    return conn;
}

void conn_open(const struct service *service, int fd, void *own, const char *peer)
{
    enum status status = STATUS_NO_MEMORY;
    struct turn *turn = service->turn;
    struct conn *conn =
        admission_has_memory(turn->members, peer, turn->peer_limits, service->io.kind)
            ? conn_new(service, &status)
            : NULL;

    if (!conn) {
        conn_log_refused(service, peer, status);
        peer_limits_leave(turn->peer_limits, fd);
        service->transport->close(fd, own);
        return;
    }
    // Nothing points to the transport's state, so it can move.
    conn->fd = fd;
    if (service->transport->state_size > 0) {
        memcpy(conn_transport_state(conn), own, service->transport->state_size);
    }
    turn->open++;
    if (log_most() >= LOG_LEVEL_DEBUG) {
        conn_log_opened(conn, peer);
    }
    conn_choose_trace(conn);
    conn_authorize_first(conn);

    // Most clients send a command at once, which need not be reported first. Input that the
    // handshake has taken from the socket together with its end would not be reported at all.
    conn->edge.readable = true;
    turn_count_event(turn);
    if (!turn->spent && conn_may_read(conn)) {
        conn_read(conn);
    }
}

// The turn in which a deadline was due may have had no time left to finish the connection.
void conn_expire(struct conn *conn)
{
    nsec_t now_at = broker_now(conn_turn(conn)->broker).mono;

    conn_forget_deadline(conn);
    if (conn->deadline->unread_at <= now_at && !conn_take_more_time(conn)) {
        conn_give_up(conn);
        return;
    }
    if (conn->wire.deadline_at <= now_at) {
        conn->wire.deadline_at = NSEC_NEVER;
        conn->service->frontend->expired(conn->frontend_state);
    } else if (conn->paced && conn->deadline->timer->check_at <= now_at &&
               !conn_check_pace(conn, conn_takes_input(conn))) {
        // A check of the pace does not count as activity of the peer.
        conn_arm_deadline(conn);
        return;
    }
    conn_touch(conn);
}

void conn_event(struct conn *conn, short what)
{
    turn_tick(conn_turn(conn));
    turn_count_event(conn_turn(conn));
    if (turn_walks(conn_turn(conn), WALK_AUTHORIZE)) {
        conn_authorize_before_feed(conn);
    }
    if (what & EV_WRITE) {
        if (edge_has_room(&conn->edge)) {
            conn->wire.out.stalled = false;
        }
        conn_touch(conn);
    }
    if (what & (EV_READ | EV_CLOSED) && edge_has_input(&conn->edge, what & EV_CLOSED)) {
        conn->wire.out.stalled = false;
        conn_touch(conn);
    }
    if (!conn_may_read(conn)) {
        // The end of the turn determines what the event means without a read.
        conn_touch(conn);
    } else if (conn_is_expensive(conn)) {
        conn_await_turn(conn);
    } else {
        conn_read(conn);
    }
}

static void conn_ready(evutil_socket_t fd, short what, void *context)
{
    (void)fd;
    conn_event(context, what);
}

// The socket has nothing under way that would have to come before what an I/O thread does with it.
static bool conn_may_leave(const struct conn *conn)
{
    return !conn->wire.out.stalled && !conn->edge.read_needs_room && !conn->shut_wanted &&
           conn->state != FEED_FINISHED && !conn->input_ended && !conn->broken;
}

// Has the socket served by the loop or by an I/O thread, as the load demands.
static void conn_place(struct conn *conn)
{
    struct io *io = conn_turn(conn)->io;
    bool spreads = io_spreads(io);
    struct io_link *link;

    if (conn->remote && !spreads) {
        link_ask_back(conn->link);
    } else if (!conn->remote && spreads && conn_may_leave(conn)) {
        link = io_take(io, &conn->service->io, conn->fd, conn_transport_state(conn), conn);
        if (link) {
            edge_unwatch(&conn->edge, &conn->event);
            conn->remote = true;
            conn->link = link;
            // The thread finds out whether there is input.
            conn->edge.readable = false;
        }
    }
}

void conn_end_turn(struct conn *conn)
{
    size_t pending;

    if (output_failed(&conn->wire.out)) {
        conn_out_of_memory(conn, "output_failed");
    }
    if (!conn->broken) {
        // The order to read on goes to the I/O thread together with replies, if there are some.
        if (conn->remote) {
            conn_tell_room(conn);
        }
        conn_flush(conn);
        conn_check_peer(conn);
    }
    pending = output_pending(&conn->wire.out);
    // A connection whose front-end has finished has only the output that is staged.
    if (conn->broken || (pending == 0 && (conn->state == FEED_FINISHED ||
                                          (conn->input_ended && conn->state == FEED_MORE)))) {
        conn_close(conn);
        return;
    }
    if (conn->shut_wanted && pending == 0) {
        conn->shut_wanted = !conn_transport(conn)->shut(conn->fd, conn_transport_own(conn));
        conn->wire.out.stalled = conn->shut_wanted;
    }
    if ((conn->service->limits && !conn_note_pace(conn, conn_takes_input(conn))) ||
        !conn_set_deadline(conn)) {
        conn_break(conn, status_text(STATUS_NO_MEMORY));
    }
    if (conn->remote) {
        conn_tell_room(conn);
    }
    if (conn_turn(conn)->io) {
        conn_place(conn);
    }
    if (!conn->remote && !edge_watch(&conn->edge, &conn->event, conn_turn(conn)->base, conn->fd,
                                     conn->wire.out.stalled, conn_ready, conn)) {
        conn_break(conn, "cannot be watched");
    }
    conn_park(conn);
}

void conn_close(struct conn *conn)
{
    log_debug("closed", log_number("conn", (int64_t)conn->wire.number));
    conn->service->frontend->close(conn->frontend_state);
    if (conn->remote) {
        // It counts as open until the thread has closed its socket.
        link_end(conn->link, conn->broken);
    } else {
        // Unwatched before it is closed: then its descriptor may be another thread's socket, or a
        // file of the journal.
        edge_unwatch(&conn->edge, &conn->event);
        peer_limits_leave(conn_turn(conn)->peer_limits, conn->fd);
        conn->service->transport->close(conn->fd, conn_transport_state(conn));
        conn_turn(conn)->open--;
    }
    conn_free_deadline(conn);
    conn_free_caller(conn);
    conn_registry_remove(conn);
    conn->service->counters->open--;
    backlog_drop(&conn->input, backlog_len(&conn->input));
    output_clear(&conn->wire.out);
    memory_free_of(MEMORY_CONNECTIONS, conn, conn_size(conn->service));
}
