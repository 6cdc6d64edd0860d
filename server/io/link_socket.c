/* SPDX-License-Identifier: MIT */
#include "server/io/link_socket.h"

#include "core/base/fence.h"
#include "server/io/thread.h"
#include "server/net/budget.h"

#include <errno.h>

// Has the thread come back to it in its next round.
void link_wait(struct link *link)
{
    if (!list_linked(&link->socket.waiting)) {
        list_append(&link->socket.thread->waiting, &link->socket.waiting);
    }
}

// Adds a note with the `len` bytes that stand in the batch, and what else there is to tell.
static void link_note(struct link *link, unsigned news, size_t len)
{
    struct link_socket *socket = &link->socket;
    struct note *note = outbox_note(&socket->thread->news, link, news | socket->news, len);

    note->count = (uint32_t)socket->sent;
    note->error = socket->error;
    socket->sent = 0;
    socket->news = 0;
}

void link_tell(struct link *link, unsigned news)
{
    struct link_socket *socket = &link->socket;

    if (outbox_room(&socket->thread->news, 0)) {
        link_note(link, news, 0);
    } else {
        socket->news |= news;
        link_wait(link);
    }
}

// Nothing more is received or sent. What is on its way has no way any more.
void link_lose(struct link *link, int error)
{
    struct link_socket *socket = &link->socket;

    if (socket->error) {
        return;
    }
    socket->ended = true;
    socket->error = error;
    socket->stalled = false;
    socket->read_needs_room = false;
    backlog_drop(&socket->backlog, backlog_len(&socket->backlog));
    link_tell(link, NEWS_FAILED);
}

// Takes note of whether another read is called for without an event, as conn_note_drained does.
static void link_note_drained(struct link_socket *socket, const struct received *received)
{
    bool some = received->result == TRANSFER_BYTES;

    socket->readable =
        received->drained ? some && socket->peer_closed : some || received->result == TRANSFER_NONE;
    socket->read_needs_room = received->needs_room;
    socket->may_be_reset = some && !socket->readable;
}

static void link_receive(struct link *link, struct batch *batch)
{
    struct link_socket *socket = &link->socket;
    size_t room = BATCH_BYTES - batch->used;
    struct iovec part = {.iov_base = batch->bytes + batch->used,
                         .iov_len = room < socket->read_room ? room : socket->read_room};
    struct received received =
        link->transport->receive(link->fd, link->own, &part, 1, part.iov_len);

    socket->reported = false;
    link_note_drained(socket, &received);
    switch ((enum transfer)received.result) {
    case TRANSFER_BYTES:
        socket->lent = true;
        link_note(link, NEWS_INPUT, received.len);
        return;
    case TRANSFER_NONE:
        if (socket->readable) {
            link_wait(link);
        }
        return;
    case TRANSFER_END:
        socket->ended = true;
        link_tell(link, NEWS_END);
        return;
    case TRANSFER_FAILED:
        link_lose(link, received.error);
        return;
    }
    UNREACHABLE();
}

void link_read(struct link *link)
{
    struct link_socket *socket = &link->socket;
    struct batch *batch;

    if (!socket->readable || socket->lent || socket->ended || socket->closing) {
        return;
    }
    batch = outbox_room(&socket->thread->news, THREAD_READ_LEAST);
    if (batch) {
        link_receive(link, batch);
    } else {
        link_wait(link);
    }
}

// How often a fence that is closed is looked at.
static const struct timeval FENCE_LOOK = {.tv_usec = 20000};

// Whether output may leave at this moment.
static bool link_may_send(const struct link *link)
{
    struct io_thread *thread = link->socket.thread;
    const struct fence *fence = thread->common->fence;

    if (!fence || fence_is_open(fence, clock_boot()) || link->service->for_operators) {
        return true;
    }
    if (!event_pending(&thread->fence_timer, EV_TIMEOUT, NULL)) {
        (void)event_add(&thread->fence_timer, &FENCE_LOOK);
    }
    return false;
}

// One attempt; returns how much has left.
static size_t link_send_now(struct link *link, struct slice bytes)
{
    struct link_socket *socket = &link->socket;
    struct iovec part = {.iov_base = (void *)(uintptr_t)bytes.ptr, .iov_len = bytes.len};
    struct sent sent = link->transport->send(link->fd, link->own, &part, 1, bytes.len);

    if (sent.result == TRANSFER_FAILED) {
        link_lose(link, sent.error);
        return 0;
    }
    socket->send_needs_input = sent.needs_input;
    socket->stalled = sent.full || sent.needs_input;
    if (sent.result == TRANSFER_NONE) {
        return 0;
    }
    socket->may_be_reset = false;
    socket->unread_at = NSEC_NEVER;
    socket->sent += sent.len;
    return sent.len;
}

void link_send_backlog(struct link *link)
{
    struct link_socket *socket = &link->socket;

    while (!socket->error && !socket->stalled && backlog_len(&socket->backlog) > 0 &&
           link_may_send(link)) {
        size_t sent = link_send_now(link, backlog_slice(&socket->backlog));

        // Where it was lost, there is no backlog any more.
        backlog_drop(&socket->backlog, sent);
    }
}

void link_send(struct link *link, struct slice bytes)
{
    struct link_socket *socket = &link->socket;

    link_send_backlog(link);
    while (!socket->error && !socket->stalled && bytes.len > 0 && link_may_send(link)) {
        bytes = slice_from(bytes, link_send_now(link, bytes));
    }
    if (!socket->error && bytes.len > 0 && !backlog_append(&socket->backlog, bytes)) {
        link_lose(link, ENOMEM);
    }
}
