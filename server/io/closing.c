/* SPDX-License-Identifier: MIT */
#include "server/io/closing.h"

// How often they are looked at.
static const struct timeval EVERY = {.tv_sec = 1};

void closing_look_again(struct io_thread *thread)
{
    if (!list_empty(&thread->closing)) {
        (void)event_add(&thread->closing_timer, &EVERY);
    }
}

void closing_begin(struct link *link)
{
    struct io_thread *thread = link->socket.thread;

    link->socket.closing = true;
    list_append(&thread->closing, &link->socket.ending);
    if (backlog_len(&link->socket.backlog) > 0 &&
        !event_pending(&thread->closing_timer, EV_TIMEOUT, NULL)) {
        closing_look_again(thread);
    }
}

void closing_end(struct link *link)
{
    list_remove(&link->socket.ending);
}
