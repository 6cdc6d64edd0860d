/* SPDX-License-Identifier: MIT */
#include "server/conn_private.h"

#include "core/base/log.h"
#include "core/base/memory.h"
#include "server/conn_log.h"
#include "server/net/admission.h"
#include "server/net/crowd.h"
#include "server/roster.h"

#include <string.h>

// What a connection is watched for as long as it is open. Edge-triggered: the kernel says once
// that there is something to read, and conn->readable remembers it until it is read. So nothing is
// set anew when a connection is not to be read for a while, and what waits for its turn is not
// reported again by every wait.
#define WATCHED_ALWAYS (EV_READ | EV_CLOSED | EV_ET | EV_PERSIST)

struct conn *conn_of(struct turn_member *member)
{
    return container_of(member, struct conn, member);
}

bool conn_is_held(const struct conn *conn)
{
    return output_sendable(&conn->wire.out) < output_pending(&conn->wire.out);
}

void conn_look_again(struct conn *conn)
{
    conn_choose_trace(conn);
    conn_touch(conn);
}

void conn_finish(struct conn *conn)
{
    conn->state = FEED_FINISHED;
    conn->runs = false;
    conn_touch(conn);
}

void conn_judge_first(struct conn *conn)
{
    if (!conn_find_caller(conn)) {
        conn_lacks_memory(conn, "caller_unknown");
    }
}

bool conn_judge_again(struct conn *conn)
{
    if (conn->broken) {
        return true;
    }
    if (conn->unjudged) {
        // What it wants may be looked at again, should this be the end.
        conn_touch(conn);
    }
    switch (conn_find_caller_again(conn)) {
    case CALLER_STAYS:
        return true;
    case CALLER_MORE:
        return false;
    case CALLER_LOST:
        conn_log_access_lost(conn);
        conn_break(conn, "may not have what it waits for any more");
        return true;
    case CALLER_NOT_FOUND:
        conn_lacks_memory(conn, "caller_unknown");
        return true;
    }
    UNREACHABLE();
}

void conn_judge_before_feed(struct conn *conn)
{
    if (conn_caller_is_old(conn)) {
        (void)conn_judge_again(conn);
    }
}

static size_t conn_size(const struct service *service)
{
    return sizeof(struct conn) + conn_frontend_room(service) + service->transport->state_size;
}

static struct conn *conn_make(const struct service *service)
{
    struct conn *conn = memory_zeroed_of(MEMORY_CONNECTIONS, conn_size(service));

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
    return conn;
}

struct conn *conn_new(const struct service *service, enum status *status)
{
    struct conn *conn = conn_make(service);

    *status = conn ? service->frontend->open(conn->frontend_state, service->shared, &conn->wire)
                   : STATUS_NO_MEMORY;
    if (*status != STATUS_OK) {
        if (conn) {
            output_clear(&conn->wire.out);
        }
        memory_free_of(MEMORY_CONNECTIONS, conn, conn_size(service));
        return NULL;
    }
    roster_add(conn);
    service->tally->open++;
    service->tally->accepted++;
    conn_touch(conn);
    return conn;
}

// Who connects mostly has something to say at once, which then need not be reported; and what a
// handshake has taken from the socket with its end would not be.
static void conn_read_first(struct conn *conn)
{
    conn->readable = true;
    turn_count_event(conn_turn(conn));
    if (!conn_turn(conn)->spent && conn_may_read(conn)) {
        conn_read(conn);
    }
}

void conn_open(const struct service *service, int fd, void *own, const char *peer)
{
    enum status status = STATUS_NO_MEMORY;
    struct turn *turn = service->turn;
    struct conn *conn = admission_has_memory(turn->members, peer, turn->crowd, service->io.kind)
                            ? conn_new(service, &status)
                            : NULL;

    if (!conn) {
        conn_log_refused(service, peer, status);
        crowd_leave(turn->crowd, fd);
        service->transport->close(fd, own);
        return;
    }
    // The transport's state moves into the connection: nothing points to it.
    conn->fd = fd;
    if (service->transport->state_size > 0) {
        memcpy(conn_transport_state(conn), own, service->transport->state_size);
    }
    turn->open++;
    if (log_most() >= LOG_LEVEL_DEBUG) {
        conn_log_opened(conn, peer);
    }
    conn_choose_trace(conn);
    conn_judge_first(conn);
    conn_read_first(conn);
}

void conn_break(struct conn *conn, const char *why)
{
    if (!conn->broken) {
        log_debug("connection_broken", log_number("conn", (int64_t)conn->wire.number),
                  log_string("why", why));
    }
    conn->broken = true;
    conn_touch(conn);
}

void conn_lacks_memory(struct conn *conn, const char *event)
{
    const char *why = status_text(STATUS_NO_MEMORY);

    if (turn_may_complain(conn_turn(conn), COMPLAINT_MEMORY)) {
        log_warn(event, log_number("conn", (int64_t)conn->wire.number), log_string("why", why));
    }
    tally_refusal(conn->service->tally, SIGHT_MEMORY);
    conn_break(conn, why);
}

void conn_stop(struct conn *conn)
{
    const struct frontend *frontend = conn->service->frontend;

    if (frontend->stopping && conn->state != FEED_FINISHED && !conn->broken) {
        frontend->stopping(conn->frontend_state);
    }
    conn_finish(conn);
}

void conn_give_up(struct conn *conn)
{
    size_t handed_over = conn->remote ? link_unread(conn->link) : 0;

    if (!conn->broken) {
        tally_refusal(conn->service->tally, SIGHT_UNREAD);
        log_warn("not_reading", log_number("conn", (int64_t)conn->wire.number),
                 log_number("bytes", (int64_t)(output_pending(&conn->wire.out) + handed_over)));
    }
    conn_break(conn, "does not read");
}

// What the deadline was set for may have been put off in a turn that had no time left to finish.
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
    } else if (conn->paced && conn->deadline->pace->patience.look_at <= now_at &&
               !conn_check_pace(conn, conn_takes_input(conn))) {
        // That it was looked at does not count as something that has happened.
        conn_arm_deadline(conn);
        return;
    }
    conn_touch(conn);
}

// The peer takes output again.
static void conn_has_room(struct conn *conn)
{
    if (!conn->send_needs_input) {
        conn->wire.out.stalled = false;
    }
    conn->readable = conn->readable || conn->read_needs_room;
    conn->read_needs_room = false;
    conn_touch(conn);
}

// There is something to read, be it the end.
static void conn_has_input(struct conn *conn, bool closed)
{
    conn->readable = true;
    conn->reported = true;
    conn->peer_closed = conn->peer_closed || closed;
    if (conn->send_needs_input) {
        conn->send_needs_input = false;
        conn->wire.out.stalled = false;
        conn_touch(conn);
    }
}

void conn_event(struct conn *conn, short what)
{
    turn_tick(conn_turn(conn));
    turn_count_event(conn_turn(conn));
    if (turn_walks(conn_turn(conn), WALK_JUDGE)) {
        conn_judge_before_feed(conn);
    }
    if (what & EV_WRITE) {
        conn_has_room(conn);
    }
    if (what & (EV_READ | EV_CLOSED)) {
        conn_has_input(conn, what & EV_CLOSED);
    }
    if (conn_may_read(conn)) {
        if (conn_is_dear(conn)) {
            conn_await_turn(conn);
        } else {
            conn_read(conn);
        }
    } else {
        // The end of the turn sees what that means where nothing is read.
        conn_touch(conn);
    }
}

static void conn_ready(evutil_socket_t fd, short what, void *context)
{
    (void)fd;
    conn_event(context, what);
}

// Room in the socket is waited for only where there was none: a unix socket would report each
// reply that its peer takes.
static void conn_watch(struct conn *conn)
{
    bool for_room = (conn->wire.out.stalled && !conn->send_needs_input) || conn->read_needs_room;

    if (conn->remote || (conn->watched && conn->watches_room == for_room)) {
        return;
    }
    conn_unwatch(conn);
    conn->watches_room = for_room;
    conn->watched =
        event_assign(&conn->event, conn_turn(conn)->base, conn->fd,
                     (short)(WATCHED_ALWAYS | (for_room ? EV_WRITE : 0)), conn_ready, conn) == 0 &&
        event_add(&conn->event, NULL) == 0;
    if (!conn->watched) {
        conn_break(conn, "cannot be watched");
    }
}

// Whether nothing more can come of it but output that has already been staged.
static bool conn_done(const struct conn *conn)
{
    return conn->state == FEED_FINISHED || (conn->input_ended && conn->state == FEED_MORE);
}

// Tells the peer that nothing more comes, now or when it has taken what is on its way.
static void conn_tell_shut(struct conn *conn)
{
    conn->shut_wanted = !conn_transport(conn)->shut(conn->fd, conn_transport_own(conn));
    conn->wire.out.stalled = conn->shut_wanted;
}

void conn_end_turn(struct conn *conn)
{
    size_t pending;

    if (output_failed(&conn->wire.out)) {
        conn_lacks_memory(conn, "output_failed");
    }
    if (!conn->broken) {
        // With the answers, where there are some.
        if (conn->remote) {
            conn_tell_room(conn);
        }
        conn_flush(conn);
        conn_check_peer(conn);
    }
    pending = output_pending(&conn->wire.out);
    if (conn->broken || (pending == 0 && conn_done(conn))) {
        conn_close(conn);
        return;
    }
    if (conn->shut_wanted && pending == 0) {
        conn_tell_shut(conn);
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
    conn_watch(conn);
    conn_park(conn);
}

void conn_close(struct conn *conn)
{
    log_debug("closed", log_number("conn", (int64_t)conn->wire.number));
    conn->service->frontend->close(conn->frontend_state);
    if (conn->remote) {
        // It counts as open until the thread has closed its socket.
        link_close(conn->link, conn->broken);
    } else {
        // First: as soon as it is closed, its descriptor may be that of another thread's socket, or
        // of a file of the journal.
        conn_unwatch(conn);
        crowd_leave(conn_turn(conn)->crowd, conn->fd);
        conn->service->transport->close(conn->fd, conn_transport_state(conn));
        conn_turn(conn)->open--;
    }
    conn_free_deadline(conn);
    conn_free_caller(conn);
    roster_remove(conn);
    conn->service->tally->open--;
    backlog_drop(&conn->input, backlog_len(&conn->input));
    output_clear(&conn->wire.out);
    memory_free_of(MEMORY_CONNECTIONS, conn, conn_size(conn->service));
}
