/* SPDX-License-Identifier: MIT */
// pthread_setname_np is a GNU function.
#define _GNU_SOURCE
#include "server/io/io_thread.h"

#include "server/io/io_link.h"
#include "server/net/edge_socket.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static void io_thread_woken(evutil_socket_t fd, short what, void *context)
{
    (void)fd;
    (void)what;
    io_thread_wake(context);
}

static struct io_link *link_of_unread(struct list_node *node)
{
    return list_item(node, struct io_link, socket.unread);
}

// Drops links whose peers have read nothing for too long.
static void io_thread_check_unread(evutil_socket_t fd, short what, void *context)
{
    struct io_thread *thread = context;
    nsec_t now_at = clock_awake();
    nsec_t unread_for = atomic_load_explicit(&thread->common->unread_for, memory_order_relaxed);
    struct list_node *next;

    (void)fd;
    (void)what;
    io_thread_wake(thread);
    for (struct list_node *node = thread->unread.next; node != &thread->unread; node = next) {
        next = node->next;
        if (link_unread_too_long(link_of_unread(node), now_at, unread_for)) {
            link_time_out(link_of_unread(node));
        }
    }
    links_watch_unread(thread);
}

// Output that waits for the fence is kept as if the peer did not read. If the fence is still
// closed, the first of these links sets the timer again.
static void io_thread_check_fence(evutil_socket_t fd, short what, void *context)
{
    struct io_thread *thread = context;
    struct list_node *next;

    (void)fd;
    (void)what;
    io_thread_wake(thread);
    for (struct list_node *node = thread->unread.next; node != &thread->unread; node = next) {
        next = node->next;
        link_continue(link_of_unread(node));
    }
}

// Continues each waiting link once; it waits again if it still cannot go on.
static void io_thread_continue_links(struct io_thread *thread)
{
    struct list_node waited;

    list_init(&waited);
    list_append_all(&waited, &thread->waiting);
    while (!list_empty(&waited)) {
        struct list_node *node = list_first(&waited);

        list_remove(node);
        link_continue(list_item(node, struct io_link, socket.waiting));
    }
}

static void io_thread_execute_orders(struct io_thread *thread)
{
    struct io_batch *batch = io_batch_of(mailbox_take(&thread->orders));

    while (batch) {
        struct io_batch *next = io_batch_next(batch);

        for (unsigned i = 0; i < batch->count; i++) {
            const struct note *note = &batch->notes[i];

            if (note->what & ORDER_BEGIN) {
                note->link->socket.thread = thread;
            }
            link_execute(note->link, note->what, note->count, note_bytes(batch, note));
        }
        io_batch_return(batch);
        batch = next;
    }
}

// Closed links do not wait for their peers any more. The core has yet to close the others.
static void io_thread_drop_closing(struct io_thread *thread)
{
    struct list_node *next;

    for (struct list_node *node = thread->unread.next; node != &thread->unread; node = next) {
        next = node->next;
        if (link_of_unread(node)->socket.closing) {
            link_drop(link_of_unread(node));
        }
    }
}

static void io_thread_wait(struct io_thread *thread, bool wait)
{
    int flags = EVLOOP_ONCE;

    sleeper_begin(&thread->sleeper);
    // For this work, no other thread will wake it.
    if (!wait || !mailbox_empty(&thread->orders) || !mailbox_empty(&thread->arrivals) ||
        !acceptors_are_settled(thread) || (atomic_load(&thread->common->ends) && !thread->ends) ||
        (!list_empty(&thread->waiting) && outbox_may_write(&thread->news))) {
        flags |= EVLOOP_NONBLOCK;
    }
    thread->sleeps = true;
    meter_sleep(&thread->meter, clock_boot());
    (void)event_base_loop(thread->base, flags);
    io_thread_wake(thread);
    sleeper_end(&thread->sleeper);
}

bool io_thread_round(struct io_thread *thread, bool wait)
{
    bool is_out;

    io_thread_wait(thread, wait);
    io_thread_execute_orders(thread);
    io_thread_take_arrivals(thread);
    io_thread_continue_links(thread);
    acceptors_settle(thread);
    thread->ends = atomic_load(&thread->common->ends);
    if (thread->ends) {
        io_thread_drop_closing(thread);
    }
    is_out = thread->ends && list_empty(&thread->links) && list_empty(&thread->waiting) &&
             mailbox_empty(&thread->arrivals) && mailbox_empty(&thread->orders);
    outbox_flush(&thread->news);
    if (is_out) {
        atomic_store(&thread->is_out, true);
        sleeper_wake(thread->news.reader);
    }
    return !is_out;
}

static void *io_thread_run(void *context)
{
    bool goes_on = true;

    while (goes_on) {
        goes_on = io_thread_round(context, true);
    }
    return NULL;
}

bool io_thread_open(struct io_thread *thread, struct io_common *common, struct mailbox *news,
                    struct sleeper *reader)
{
    memset(thread, 0, sizeof *thread);
    list_init(&thread->links);
    list_init(&thread->waiting);
    list_init(&thread->unread);
    list_init(&thread->acceptors);
    thread->common = common;
    thread->news = (struct outbox){
        .to = news, .reader = reader, .most = IO_THREAD_BATCHES, .home.writer = &thread->sleeper};
    thread->orders_out =
        (struct outbox){.to = &thread->orders, .reader = &thread->sleeper, .most = UINT_MAX};
    thread->sleeper.fd = -1;
    thread->base = edge_base_new();
    // With at least one batch, waiting for another one always ends.
    return sleeper_open(&thread->sleeper) && outbox_room(&thread->news, 0) && thread->base &&
           acceptors_init(thread) &&
           evtimer_assign(&thread->unread_timer, thread->base, io_thread_check_unread, thread) ==
               0 &&
           evtimer_assign(&thread->fence_timer, thread->base, io_thread_check_fence, thread) == 0 &&
           event_assign(&thread->woken, thread->base, thread->sleeper.fd,
                        EV_READ | EV_ET | EV_PERSIST, io_thread_woken, thread) == 0 &&
           event_add(&thread->woken, NULL) == 0;
}

bool io_thread_start(struct io_thread *thread, unsigned index)
{
    char name[16];
    sigset_t all;
    sigset_t before;
    int error;

    // Signals are for the core's thread.
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&thread->thread, NULL, io_thread_run, thread);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error != 0) {
        return false;
    }
    thread->runs = true;
    (void)snprintf(name, sizeof name, "tandem-io-%u", index);
    (void)pthread_setname_np(thread->thread, name);
    return true;
}

void io_thread_close(struct io_thread *thread)
{
    struct event *const events[] = {&thread->woken, &thread->unread_timer, &thread->fence_timer,
                                    &thread->rest};

    if (thread->runs) {
        (void)pthread_join(thread->thread, NULL);
    }
    if (thread->base) {
        // After a failure to open, some events were not made.
        for (unsigned i = 0; i < sizeof events / sizeof *events; i++) {
            if (event_initialized(events[i])) {
                (void)event_del(events[i]);
            }
        }
        acceptors_clear(thread);
        event_base_free(thread->base);
    }
    sleeper_close(&thread->sleeper);
    outbox_clear(&thread->news);
    outbox_clear(&thread->orders_out);
}
