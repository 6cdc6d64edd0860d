/* SPDX-License-Identifier: MIT */
#include "server/io/link_life.h"

#include "server/io/arrivals.h"
#include "server/io/link_socket.h"
#include "server/io/thread.h"
#include "server/io/unread.h"
#include "server/net/budget.h"
#include "server/net/crowd.h"

#include <errno.h>

// As for a connection of the core's own loop (server/conn.c): edges, which are remembered.
#define WATCHED_ALWAYS (EV_READ | EV_CLOSED | EV_ET | EV_PERSIST)

static void link_unwatch(struct link *link)
{
    if (link->socket.watched) {
        (void)event_del(&link->socket.event);
        link->socket.watched = false;
    }
}

// Forgets the link: these are the last news of it.
static void link_leave(struct link *link, enum news news)
{
    struct link_socket *socket = &link->socket;

    link_unwatch(link);
    list_remove(&socket->unread);
    list_remove(&socket->all);
    list_remove(&socket->waiting);
    arrivals_part(socket->thread);
    link_tell(link, news);
}

void link_drop(struct link *link)
{
    link_unwatch(link);
    crowd_leave(link->socket.thread->common->crowd, link->fd);
    link->transport->close(link->fd, link->own);
    link_leave(link, NEWS_GONE);
}

void link_give_up(struct link *link)
{
    if (link->socket.closing) {
        link_drop(link);
        return;
    }
    link->socket.news |= NEWS_UNREAD;
    link_lose(link, ETIMEDOUT);
    unread_note(link);
}

static void link_has_room(struct link *link)
{
    struct link_socket *socket = &link->socket;

    if (!socket->send_needs_input) {
        socket->stalled = false;
    }
    socket->readable = socket->readable || socket->read_needs_room;
    socket->read_needs_room = false;
}

// Asks what has become of the peer while nothing is read.
static void link_check_peer(struct link *link)
{
    struct link_socket *socket = &link->socket;
    int error = socket->reported ? link->transport->error(link->fd, link->own) : 0;

    socket->reported = false;
    if (error) {
        link_lose(link, error);
    }
}

// There is something to read, be it the end.
static void link_has_input(struct link *link, bool closed)
{
    struct link_socket *socket = &link->socket;

    socket->readable = true;
    socket->reported = true;
    if (socket->send_needs_input) {
        socket->send_needs_input = false;
        socket->stalled = false;
    }
    if (closed && !socket->peer_closed) {
        socket->peer_closed = true;
        socket->news |= NEWS_CLOSED;
    }
    if (socket->held || socket->ended) {
        link_check_peer(link);
    }
}

static void link_settle(struct link *link);

static void link_ready(evutil_socket_t fd, short what, void *context)
{
    struct link *link = context;

    (void)fd;
    thread_wake(link->socket.thread);
    if (what & EV_WRITE) {
        link_has_room(link);
    }
    if (what & (EV_READ | EV_CLOSED)) {
        link_has_input(link, what & EV_CLOSED);
    }
    link_settle(link);
}

// Room is waited for only where there was none, as for a connection of the core's own loop.
static void link_watch(struct link *link)
{
    struct link_socket *socket = &link->socket;
    bool for_room = (socket->stalled && !socket->send_needs_input) || socket->read_needs_room;

    if (socket->watched && socket->watches_room == for_room) {
        return;
    }
    link_unwatch(link);
    socket->watches_room = for_room;
    socket->watched =
        event_assign(&socket->event, socket->thread->base, link->fd,
                     (short)(WATCHED_ALWAYS | (for_room ? EV_WRITE : 0)), link_ready, link) == 0 &&
        event_add(&socket->event, NULL) == 0;
    if (!socket->watched) {
        link_lose(link, ENOMEM);
        link_wait(link);
    }
}

// Tells the peer that nothing more comes, now or when it has taken what is on its way.
static void link_tell_shut(struct link *link)
{
    struct link_socket *socket = &link->socket;

    socket->shut_wanted = !link->transport->shut(link->fd, link->own);
    socket->stalled = socket->shut_wanted;
}

// Does what can be done now, and watches for what cannot. The link may be gone afterwards.
static void link_settle(struct link *link)
{
    struct link_socket *socket = &link->socket;
    size_t left;

    link_send_backlog(link);
    left = backlog_len(&socket->backlog);
    if (socket->closing && (left == 0 || socket->error)) {
        link_drop(link);
        return;
    }
    unread_note(link);
    if (socket->shut_wanted && left == 0 && !socket->error) {
        link_tell_shut(link);
    }
    if (socket->room_wanted && left <= LINK_WINDOW / 2) {
        socket->room_wanted = false;
        socket->news |= NEWS_ROOM;
    }
    link_read(link);
    link_watch(link);
    // What goes without input.
    if (socket->news) {
        link_tell(link, 0);
    }
}

static void link_take_up(struct link *link)
{
    struct link_socket *socket = &link->socket;

    list_append(&socket->thread->links, &socket->all);
    socket->unread_at = NSEC_NEVER;
    socket->read_room = CONN_READ_MAX;
    socket->readable = true;
}

void link_open(struct link *link)
{
    link_take_up(link);
    link->socket.news = NEWS_OPEN;
    link_settle(link);
}

// Nothing may be on its way, in either direction: what came first must come first. Whether the link
// has left.
static bool link_give_back(struct link *link)
{
    struct link_socket *socket = &link->socket;

    if (socket->lent || socket->ended || socket->news || backlog_len(&socket->backlog) > 0 ||
        socket->stalled || socket->read_needs_room || socket->shut_wanted) {
        socket->news |= NEWS_STAYS;
        return false;
    }
    link_leave(link, NEWS_BACK);
    return true;
}

static void link_go_on_reading(struct link *link, uint32_t room, bool answered)
{
    struct link_socket *socket = &link->socket;

    socket->read_room = room;
    socket->lent = false;
    socket->held = false;
    // Nothing was answered: another read tells whether the peer is still there.
    if (socket->may_be_reset && !answered) {
        socket->may_be_reset = false;
        socket->readable = true;
    }
}

void link_obey(struct link *link, unsigned orders, uint32_t room, struct slice bytes)
{
    struct link_socket *socket = &link->socket;

    if (orders & ORDER_BEGIN) {
        link_take_up(link);
    }
    if (!list_linked(&socket->all)) {
        // It was given back, and the core's thread has closed it before it knew.
        ENSURE(orders & (ORDER_CLOSE | ORDER_DROP));
        arrivals_expect(socket->thread);
        link_take_up(link);
        link_drop(link);
        return;
    }
    if (bytes.len > 0) {
        link_send(link, bytes);
    }
    if (orders & ORDER_READ_ON) {
        link_go_on_reading(link, room, bytes.len > 0);
    }
    if (orders & ORDER_HOLD && socket->lent) {
        socket->held = true;
        link_check_peer(link);
    }
    socket->room_wanted = socket->room_wanted || orders & ORDER_TELL_ROOM;
    socket->shut_wanted = socket->shut_wanted || orders & ORDER_SHUT;
    if (orders & ORDER_DROP) {
        link_drop(link);
        return;
    }
    if (orders & ORDER_CLOSE) {
        socket->closing = true;
    } else if (orders & ORDER_GIVE_BACK && link_give_back(link)) {
        return;
    }
    link_settle(link);
}

void link_go_on(struct link *link)
{
    // It belongs to the core's thread as soon as its last news are told.
    bool has_left = link->socket.news & (NEWS_BACK | NEWS_GONE);

    if (has_left) {
        link_tell(link, 0);
    } else {
        link_settle(link);
    }
}
