/* SPDX-License-Identifier: MIT */
// pthread_setname_np is a GNU function.
#define _GNU_SOURCE
#include "server/io/thread.h"

#include "server/io/arrivals.h"
#include "server/io/door.h"
#include "server/io/link_life.h"
#include "server/io/unread.h"
#include "server/net/event_loop.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static struct link *link_of_waiting(struct list_node *node)
{
    return list_item(node, struct link, socket.waiting);
}

static void thread_woken(evutil_socket_t fd, short what, void *context)
{
    (void)fd;
    (void)what;
    thread_wake(context);
}

static struct link *link_of_unread(struct list_node *node)
{
    return list_item(node, struct link, socket.unread);
}

// Drops those whose peers have taken nothing for too long.
static void thread_look_at_unread(evutil_socket_t fd, short what, void *context)
{
    struct io_thread *thread = context;
    nsec_t now_at = clock_awake();
    nsec_t unread_for = atomic_load_explicit(&thread->common->unread_for, memory_order_relaxed);
    struct list_node *next;

    (void)fd;
    (void)what;
    thread_wake(thread);
    for (struct list_node *node = thread->unread.next; node != &thread->unread; node = next) {
        next = node->next;
        if (unread_too_long(link_of_unread(node), now_at, unread_for)) {
            link_give_up(link_of_unread(node));
        }
    }
    unread_look_again(thread);
}

// Those whose output waits for the fence have it kept, as those have whose peers do not read; where
// the fence is closed still, the first of them sets the timer again.
static void thread_look_at_fence(evutil_socket_t fd, short what, void *context)
{
    struct io_thread *thread = context;
    struct list_node *next;

    (void)fd;
    (void)what;
    thread_wake(thread);
    for (struct list_node *node = thread->unread.next; node != &thread->unread; node = next) {
        next = node->next;
        link_go_on(link_of_unread(node));
    }
}

// Each link that waited once: what could not be done this time, either, waits again.
static void thread_go_on(struct io_thread *thread)
{
    struct list_node waited;

    list_init(&waited);
    list_append_all(&waited, &thread->waiting);
    while (!list_empty(&waited)) {
        struct list_node *node = list_first(&waited);

        list_remove(node);
        link_go_on(link_of_waiting(node));
    }
}

static void thread_obey(struct io_thread *thread)
{
    struct batch *batch = batch_of(mailbox_take(&thread->orders));

    while (batch) {
        struct batch *next = batch_next(batch);

        for (unsigned i = 0; i < batch->count; i++) {
            const struct note *note = &batch->notes[i];

            if (note->what & ORDER_BEGIN) {
                note->link->socket.thread = thread;
            }
            link_obey(note->link, note->what, note->count, note_bytes(batch, note));
        }
        batch_send_home(batch);
        batch = next;
    }
}

static void thread_welcome(struct io_thread *thread)
{
    struct link *link = arrivals_take(thread);

    while (link) {
        struct link *next = arrivals_next(link);

        if (link->unmet) {
            door_greet(thread, link);
        } else {
            link->socket.thread = thread;
            link_open(link);
        }
        link = next;
    }
}

// Nobody is answered any more: what is on its way stays there. Links that the core has not closed
// yet will be.
static void thread_end(struct io_thread *thread)
{
    struct list_node *next;

    for (struct list_node *node = thread->unread.next; node != &thread->unread; node = next) {
        next = node->next;
        if (link_of_unread(node)->socket.closing) {
            link_drop(link_of_unread(node));
        }
    }
}

// Whether nothing is left to do or to tell.
static bool thread_is_done(struct io_thread *thread)
{
    return list_empty(&thread->links) && list_empty(&thread->waiting) &&
           mailbox_empty(&thread->arrivals) && mailbox_empty(&thread->orders);
}

// Whether something is left to do that nobody will wake it for.
static bool thread_has_work(struct io_thread *thread)
{
    const struct thread_common *common = thread->common;

    return !mailbox_empty(&thread->orders) || !mailbox_empty(&thread->arrivals) ||
           !doors_are_settled(thread) || (atomic_load(&common->ends) && !thread->ends) ||
           (!list_empty(&thread->waiting) && outbox_may_write(&thread->news));
}

static void thread_wait(struct io_thread *thread, bool wait)
{
    int flags = EVLOOP_ONCE;

    sleeper_lie_down(&thread->sleeper);
    if (!wait || thread_has_work(thread)) {
        flags |= EVLOOP_NONBLOCK;
    }
    thread->sleeps = true;
    meter_sleep(&thread->meter, clock_boot());
    (void)event_base_loop(thread->base, flags);
    thread_wake(thread);
    sleeper_get_up(&thread->sleeper);
}

bool thread_round(struct io_thread *thread, bool wait)
{
    bool is_out;

    thread_wait(thread, wait);
    thread_obey(thread);
    thread_welcome(thread);
    thread_go_on(thread);
    doors_settle(thread);
    thread->ends = atomic_load(&thread->common->ends);
    if (thread->ends) {
        thread_end(thread);
    }
    is_out = thread->ends && thread_is_done(thread);
    outbox_flush(&thread->news);
    if (is_out) {
        atomic_store(&thread->is_out, true);
        sleeper_wake(thread->news.reader);
    }
    return !is_out;
}

static void *thread_run(void *context)
{
    bool goes_on = true;

    while (goes_on) {
        goes_on = thread_round(context, true);
    }
    return NULL;
}

bool thread_open(struct io_thread *thread, struct thread_common *common, struct mailbox *news,
                 struct sleeper *reader)
{
    memset(thread, 0, sizeof *thread);
    list_init(&thread->links);
    list_init(&thread->waiting);
    list_init(&thread->unread);
    list_init(&thread->doors);
    thread->common = common;
    thread->news = (struct outbox){
        .to = news, .reader = reader, .most = THREAD_BATCHES, .home.writer = &thread->sleeper};
    thread->orders_out =
        (struct outbox){.to = &thread->orders, .reader = &thread->sleeper, .most = UINT_MAX};
    thread->sleeper.fd = -1;
    thread->base = event_loop_new();
    // One batch there must be, so that another one is never waited for in vain.
    return sleeper_open(&thread->sleeper) && outbox_room(&thread->news, 0) && thread->base &&
           doors_init(thread) &&
           evtimer_assign(&thread->unread_timer, thread->base, thread_look_at_unread, thread) ==
               0 &&
           evtimer_assign(&thread->fence_timer, thread->base, thread_look_at_fence, thread) == 0 &&
           event_assign(&thread->woken, thread->base, thread->sleeper.fd,
                        EV_READ | EV_ET | EV_PERSIST, thread_woken, thread) == 0 &&
           event_add(&thread->woken, NULL) == 0;
}

bool thread_start(struct io_thread *thread, unsigned index)
{
    char name[16];
    sigset_t all;
    sigset_t before;
    int error;

    // Signals are for the core's thread.
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&thread->thread, NULL, thread_run, thread);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error != 0) {
        return false;
    }
    thread->runs = true;
    (void)snprintf(name, sizeof name, "tandem-io-%u", index);
    (void)pthread_setname_np(thread->thread, name);
    return true;
}

// Where it could not be opened, some were not made.
static void thread_forget_events(struct io_thread *thread)
{
    struct event *const events[] = {&thread->woken, &thread->unread_timer, &thread->fence_timer,
                                    &thread->rest};

    for (unsigned i = 0; i < sizeof events / sizeof *events; i++) {
        if (event_initialized(events[i])) {
            (void)event_del(events[i]);
        }
    }
    doors_clear(thread);
}

void thread_close(struct io_thread *thread)
{
    if (thread->runs) {
        (void)pthread_join(thread->thread, NULL);
    }
    if (thread->base) {
        thread_forget_events(thread);
        event_base_free(thread->base);
    }
    sleeper_close(&thread->sleeper);
    outbox_clear(&thread->news);
    outbox_clear(&thread->orders_out);
}
