/* SPDX-License-Identifier: MIT */

// The I/O thread's half of a link: its socket, from the first order to the last news.

#include "server/io/io_link.h"

#include "core/base/fence.h"
#include "core/base/memory.h"
#include "server/io/io_thread.h"
#include "server/net/admission.h"
#include "server/net/budget.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

// Whole cache lines, as its alignment demands.
static size_t link_size(const struct transport *transport)
{
    size_t size = sizeof(struct io_link) + transport->state_size;

    return (size + alignof(struct io_link) - 1) & ~(alignof(struct io_link) - 1);
}

struct io_link *link_new(const struct io_service *service, int fd, const void *own)
{
    const struct transport *transport = service->transport;
    size_t size = link_size(transport);
    struct io_link *link = aligned_alloc(alignof(struct io_link), size);

    if (!link) {
        return NULL;
    }
    memory_count_of(MEMORY_CONNECTIONS, size);
    memset(link, 0, size);
    link->fd = fd;
    link->transport = transport;
    link->service = service;
    if (own && transport->state_size > 0) {
        memcpy(link->own, own, transport->state_size);
    }
    list_init(&link->socket.all);
    list_init(&link->socket.waiting);
    list_init(&link->socket.unread);
    list_init(&link->side.due);
    list_init(&link->side.again);
    return link;
}

void link_free(struct io_link *link)
{
    backlog_drop(&link->socket.backlog, backlog_len(&link->socket.backlog));
    backlog_drop(&link->side.kept, backlog_len(&link->side.kept));
    memory_uncount_of(MEMORY_CONNECTIONS, link_size(link->transport));
    free(link);
}

// Has the thread return to the link in its next round (link_continue).
static void link_wait(struct io_link *link)
{
    if (!list_linked(&link->socket.waiting)) {
        list_append(&link->socket.thread->waiting, &link->socket.waiting);
    }
}

//
// News
//

// Adds a note with the `len` bytes that stand in the batch, and all other news of the link.
static void link_note(struct io_link *link, unsigned news, size_t len)
{
    struct link_socket *socket = &link->socket;
    struct note *note = outbox_note(&socket->thread->news, link, news | socket->news, len);

    note->count = (uint32_t)socket->sent;
    note->error = socket->error;
    socket->sent = 0;
    socket->news = 0;
}

// Tells the core's thread; in the next round, if there is no batch to write to now.
static void link_tell(struct io_link *link, unsigned news)
{
    struct link_socket *socket = &link->socket;

    if (outbox_room(&socket->thread->news, 0)) {
        link_note(link, news, 0);
    } else {
        socket->news |= news;
        link_wait(link);
    }
}

// The connection is lost with that error of errno.h: nothing more is received or sent.
static void link_break(struct io_link *link, int error)
{
    struct link_socket *socket = &link->socket;

    if (socket->error) {
        return;
    }
    socket->ended = true;
    socket->error = error;
    socket->stalled = false;
    socket->edge.read_needs_room = false;
    backlog_drop(&socket->backlog, backlog_len(&socket->backlog));
    link_tell(link, NEWS_FAILED);
}

// Forgets the link; these are its last news.
static void link_leave(struct io_link *link, enum link_news news)
{
    struct link_socket *socket = &link->socket;

    edge_unwatch(&socket->edge, &socket->event);
    list_remove(&socket->unread);
    list_remove(&socket->all);
    list_remove(&socket->waiting);
    io_thread_lose_link(socket->thread);
    link_tell(link, news);
}

void link_drop(struct io_link *link)
{
    edge_unwatch(&link->socket.edge, &link->socket.event);
    peer_limits_leave(link->socket.thread->common->peer_limits, link->fd);
    link->transport->close(link->fd, link->own);
    link_leave(link, NEWS_GONE);
}

//
// Peers that do not read. A connection knows how long its own output has waited; the thread does
// the same for output that was handed to it, whether the connection is open or closed.
//

void links_watch_unread(struct io_thread *thread)
{
    static const struct timeval every = {.tv_sec = 1};

    if (!list_empty(&thread->unread)) {
        (void)event_add(&thread->unread_timer, &every);
    }
}

// The backlog of the link has changed.
static void link_note_unread(struct io_link *link)
{
    struct io_thread *thread = link->socket.thread;

    if (backlog_len(&link->socket.backlog) == 0) {
        if (list_linked(&link->socket.unread)) {
            list_remove(&link->socket.unread);
            atomic_store_explicit(&link->socket.has_unread, false, memory_order_relaxed);
        }
    } else if (!list_linked(&link->socket.unread)) {
        list_append(&thread->unread, &link->socket.unread);
        atomic_store_explicit(&link->socket.has_unread, true, memory_order_relaxed);
        if (!event_pending(&thread->unread_timer, EV_TIMEOUT, NULL)) {
            links_watch_unread(thread);
        }
    }
}

bool link_unread_too_long(struct io_link *link, nsec_t now_at, nsec_t unread_for)
{
    struct link_socket *socket = &link->socket;

    if (socket->unread_at == NSEC_NEVER) {
        socket->unread_at = unread_for > 0 ? nsec_add(now_at, unread_for) : NSEC_NEVER;
        return false;
    }
    return socket->unread_at <= now_at;
}

void link_time_out(struct io_link *link)
{
    if (link->socket.closing) {
        link_drop(link);
        return;
    }
    link->socket.news |= NEWS_UNREAD;
    link_break(link, ETIMEDOUT);
    link_note_unread(link);
}

//
// Input and output
//

static void link_receive(struct io_link *link, struct io_batch *batch)
{
    struct link_socket *socket = &link->socket;
    size_t room = IO_BATCH_BYTES - batch->used;
    struct iovec part = {.iov_base = batch->bytes + batch->used,
                         .iov_len = room < socket->read_room ? room : socket->read_room};
    struct received received =
        link->transport->receive(link->fd, link->own, &part, 1, part.iov_len);

    edge_received(&socket->edge, &received);
    switch ((enum transfer)received.result) {
    case TRANSFER_BYTES:
        socket->lent = true;
        link_note(link, NEWS_INPUT, received.len);
        return;
    case TRANSFER_NONE:
        if (socket->edge.readable) {
            link_wait(link);
        }
        return;
    case TRANSFER_END:
        socket->ended = true;
        link_tell(link, NEWS_END);
        return;
    case TRANSFER_FAILED:
        link_break(link, received.error);
        return;
    }
    UNREACHABLE();
}

// Reads once and hands the input over, if there may be some and the core has taken all before.
static void link_read(struct io_link *link)
{
    struct link_socket *socket = &link->socket;
    struct io_batch *batch;

    if (!socket->edge.readable || socket->lent || socket->ended || socket->closing) {
        return;
    }
    batch = outbox_room(&socket->thread->news, IO_THREAD_READ_LEAST);
    if (batch) {
        link_receive(link, batch);
    } else {
        link_wait(link);
    }
}

// Whether output may be sent now. If the fence is closed, the thread checks it again soon.
static bool link_may_send(const struct io_link *link)
{
    static const struct timeval fence_check = {.tv_usec = 20000};
    struct io_thread *thread = link->socket.thread;
    const struct fence *fence = thread->common->fence;

    if (!fence || fence_is_open(fence, clock_boot()) || link->service->for_operators) {
        return true;
    }
    if (!event_pending(&thread->fence_timer, EV_TIMEOUT, NULL)) {
        (void)event_add(&thread->fence_timer, &fence_check);
    }
    return false;
}

// Sends once; returns how many bytes were sent.
static size_t link_send_once(struct io_link *link, struct slice bytes)
{
    struct link_socket *socket = &link->socket;
    struct iovec part = {.iov_base = (void *)(uintptr_t)bytes.ptr, .iov_len = bytes.len};
    struct sent sent = link->transport->send(link->fd, link->own, &part, 1, bytes.len);

    if (sent.result == TRANSFER_FAILED) {
        link_break(link, sent.error);
        return 0;
    }
    socket->stalled = edge_sent(&socket->edge, &sent);
    if (sent.result == TRANSFER_NONE) {
        return 0;
    }
    socket->unread_at = NSEC_NEVER;
    socket->sent += sent.len;
    return sent.len;
}

// Sends the backlog while the fence is open.
static void link_send_backlog(struct io_link *link)
{
    struct link_socket *socket = &link->socket;

    while (!socket->error && !socket->stalled && backlog_len(&socket->backlog) > 0 &&
           link_may_send(link)) {
        size_t sent = link_send_once(link, backlog_slice(&socket->backlog));

        // After a failure there is no backlog any more, and nothing was sent.
        backlog_drop(&socket->backlog, sent);
    }
}

// Sends the bytes behind the backlog; keeps the bytes that the peer does not take.
static void link_send(struct io_link *link, struct slice bytes)
{
    struct link_socket *socket = &link->socket;

    link_send_backlog(link);
    while (!socket->error && !socket->stalled && bytes.len > 0 && link_may_send(link)) {
        bytes = slice_from(bytes, link_send_once(link, bytes));
    }
    if (!socket->error && bytes.len > 0 && !backlog_append(&socket->backlog, bytes)) {
        link_break(link, ENOMEM);
    }
}

//
// Events and orders
//

// Finds an error of the connection, or the end of its input, while nothing is read.
static void link_check_peer(struct io_link *link)
{
    struct link_socket *socket = &link->socket;
    int error = socket->edge.reported ? link->transport->error(link->fd, link->own) : 0;

    socket->edge.reported = false;
    if (error) {
        link_break(link, error);
    }
}

static void link_ready(evutil_socket_t fd, short what, void *context);

// Does what can be done now, and watches for what cannot. The link may be freed afterwards.
static void link_settle(struct io_link *link)
{
    struct link_socket *socket = &link->socket;
    size_t left;

    link_send_backlog(link);
    left = backlog_len(&socket->backlog);
    if (socket->closing && (left == 0 || socket->error)) {
        link_drop(link);
        return;
    }
    link_note_unread(link);
    if (socket->shut_wanted && left == 0 && !socket->error) {
        socket->shut_wanted = !link->transport->shut(link->fd, link->own);
        socket->stalled = socket->shut_wanted;
    }
    if (socket->room_wanted && left <= LINK_WINDOW / 2) {
        socket->room_wanted = false;
        socket->news |= NEWS_ROOM;
    }
    link_read(link);
    if (!edge_watch(&socket->edge, &socket->event, socket->thread->base, link->fd, socket->stalled,
                    link_ready, link)) {
        link_break(link, ENOMEM);
        link_wait(link);
    }
    // News that did not go together with input.
    if (socket->news) {
        link_tell(link, 0);
    }
}

static void link_ready(evutil_socket_t fd, short what, void *context)
{
    struct io_link *link = context;
    struct link_socket *socket = &link->socket;
    bool closed = what & EV_CLOSED;

    (void)fd;
    io_thread_wake(socket->thread);
    if (what & EV_WRITE && edge_has_room(&socket->edge)) {
        socket->stalled = false;
    }
    if (what & (EV_READ | EV_CLOSED)) {
        if (closed && !socket->edge.peer_closed) {
            socket->news |= NEWS_CLOSED;
        }
        if (edge_has_input(&socket->edge, closed)) {
            socket->stalled = false;
        }
        if (socket->held || socket->ended) {
            link_check_peer(link);
        }
    }
    link_settle(link);
}

static void link_start(struct io_link *link)
{
    struct link_socket *socket = &link->socket;

    list_append(&socket->thread->links, &socket->all);
    socket->unread_at = NSEC_NEVER;
    socket->read_room = CONN_READ_MAX;
    socket->edge.readable = true;
}

void link_begin(struct io_link *link)
{
    link_start(link);
    link->socket.news = NEWS_OPEN;
    link_settle(link);
}

// Gives the socket back, unless something is under way in either direction, which must come first.
// Whether it was given back.
static bool link_give_back(struct io_link *link)
{
    struct link_socket *socket = &link->socket;

    if (socket->lent || socket->ended || socket->news || backlog_len(&socket->backlog) > 0 ||
        socket->stalled || socket->edge.read_needs_room || socket->shut_wanted) {
        socket->news |= NEWS_STAYS;
        return false;
    }
    link_leave(link, NEWS_BACK);
    return true;
}

void link_execute(struct io_link *link, unsigned orders, uint32_t room, struct slice bytes)
{
    struct link_socket *socket = &link->socket;

    if (orders & ORDER_BEGIN) {
        link_start(link);
    }
    if (!list_linked(&socket->all)) {
        // It was given back, and the core's thread has closed it before it knew that.
        ENSURE(orders & (ORDER_CLOSE | ORDER_DROP));
        io_thread_expect_link(socket->thread);
        link_start(link);
        link_drop(link);
        return;
    }
    if (bytes.len > 0) {
        link_send(link, bytes);
    }
    if (orders & ORDER_READ_ON) {
        socket->read_room = room;
        socket->lent = false;
        socket->held = false;
        if (bytes.len == 0) {
            edge_check_reset(&socket->edge);
        }
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

void link_continue(struct io_link *link)
{
    // As soon as its last news are told, the link belongs to the core's thread.
    bool has_left = link->socket.news & (NEWS_BACK | NEWS_GONE);

    if (has_left) {
        link_tell(link, 0);
    } else {
        link_settle(link);
    }
}
