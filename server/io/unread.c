/* SPDX-License-Identifier: MIT */
#include "server/io/unread.h"

// How often they are looked at.
static const struct timeval EVERY = {.tv_sec = 1};

void unread_look_again(struct io_thread *thread)
{
    if (!list_empty(&thread->unread)) {
        (void)event_add(&thread->unread_timer, &EVERY);
    }
}

void unread_note(struct link *link)
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
            unread_look_again(thread);
        }
    }
}

bool unread_too_long(struct link *link, nsec_t now_at, nsec_t unread_for)
{
    struct link_socket *socket = &link->socket;

    if (socket->unread_at == NSEC_NEVER) {
        socket->unread_at = unread_for > 0 ? nsec_add(now_at, unread_for) : NSEC_NEVER;
        return false;
    }
    return socket->unread_at <= now_at;
}
