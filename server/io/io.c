/* SPDX-License-Identifier: MIT */
#include "server/io/io_private.h"

#include "server/process/clock.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void io_woken(evutil_socket_t fd, short what, void *context)
{
    (void)fd;
    (void)what;
    (void)context;
}

static void io_wake_all(struct io *io)
{
    for (unsigned i = 0; i < io->count; i++) {
        sleeper_wake(&io->threads[i].sleeper);
    }
}

static bool io_prepare(struct io *io, unsigned threads, struct event_base *base)
{
    if (!sleeper_open(&io->sleeper) ||
        event_assign(&io->woken, base, io->sleeper.fd, EV_READ | EV_ET | EV_PERSIST, io_woken,
                     NULL) != 0 ||
        event_add(&io->woken, NULL) != 0) {
        return false;
    }
    for (; io->count < threads; io->count++) {
        if (!thread_open(&io->threads[io->count], &io->common, &io->news, &io->sleeper)) {
            thread_close(&io->threads[io->count]);
            return false;
        }
    }
    return true;
}

bool io_start(struct io *io)
{
    for (unsigned i = 0; i < io->count; i++) {
        if (!thread_start(&io->threads[i], i)) {
            return false;
        }
    }
    return true;
}

struct io *io_open(unsigned threads, bool always, struct event_base *base,
                   const struct io_host *host, void *context)
{
    struct io *io = calloc(1, sizeof *io);

    if (!io) {
        return NULL;
    }
    io->host = host;
    io->context = context;
    io->sleeper.fd = -1;
    list_init(&io->due);
    list_init(&io->again);
    spread_init(&io->spread, always, clock_mono());
    io->threads = calloc(threads, sizeof *io->threads);
    if (!io->threads || !io_prepare(io, threads, base)) {
        io_close(io);
        return NULL;
    }
    return io;
}

// Those that were not started have their rounds here.
static bool io_all_out(const struct io *io)
{
    bool out = true;

    for (unsigned i = 0; i < io->count; i++) {
        if (io->threads[i].runs) {
            out = atomic_load(&io->threads[i].is_out) && out;
        } else {
            out = !thread_round(&io->threads[i], false) && out;
        }
    }
    return out;
}

// Until the threads have told their last news.
static void io_wait_for_end(struct io *io)
{
    for (;;) {
        bool out = io_all_out(io);

        io_drain(io);
        io_flush(io, io->spread.began_at);
        if (out && !io->unread && batch_queue_empty(&io->news)) {
            return;
        }
        if (!out && io->threads[0].runs && io_lie_down(io)) {
            struct pollfd woken = {.fd = io->sleeper.fd, .events = POLLIN};
            uint64_t count;

            (void)poll(&woken, 1, -1);
            (void)!read(io->sleeper.fd, &count, sizeof count);
        }
        io_get_up(io, 0);
    }
}

void io_close(struct io *io)
{
    if (!io) {
        return;
    }
    atomic_store(&io->common.ends, true);
    io_wake_all(io);
    io_wait_for_end(io);
    for (unsigned i = 0; i < io->count; i++) {
        thread_close(&io->threads[i]);
    }
    if (event_initialized(&io->woken)) {
        (void)event_del(&io->woken);
    }
    sleeper_close(&io->sleeper);
    free(io->threads);
    free(io);
}

bool io_lie_down(struct io *io)
{
    if (io->unread || !list_empty(&io->again) || !list_empty(&io->due)) {
        return false;
    }
    sleeper_lie_down(&io->sleeper);
    if (batch_queue_empty(&io->news)) {
        return true;
    }
    sleeper_get_up(&io->sleeper);
    return false;
}

void io_get_up(struct io *io, nsec_t slept_for)
{
    sleeper_get_up(&io->sleeper);
    io->slept_for += slept_for;
}

static void io_judge(struct io *io, nsec_t now_at)
{
    bool before = io->spread.on;
    nsec_t slept_for = io->slept_for;

    for (unsigned i = 0; i < io->count; i++) {
        slept_for += meter_slept(&io->threads[i].meter, now_at);
    }
    spread_judge(&io->spread, now_at, io->slept_for, slept_for, io->count + 1);
    if (before != io->spread.on) {
        atomic_store(&io->common.accepts, io->spread.on);
        io_wake_all(io);
    }
}

void io_flush(struct io *io, nsec_t now_at)
{
    io_hand_over_due(io);
    for (unsigned i = 0; i < io->count; i++) {
        outbox_flush(&io->threads[i].orders_out);
    }
    if (spread_turn(&io->spread, now_at)) {
        io_judge(io, now_at);
    }
}

void io_set_unread(struct io *io, nsec_t unread_for)
{
    atomic_store_explicit(&io->common.unread_for, unread_for, memory_order_relaxed);
}

bool io_spreads(const struct io *io)
{
    return io->spread.on;
}

// The thread that has the fewest.
static struct io_thread *io_choose(struct io *io)
{
    struct io_thread *best = &io->threads[0];

    for (unsigned i = 1; i < io->count; i++) {
        struct io_thread *thread = &io->threads[i];

        if (thread->links_given < best->links_given) {
            best = thread;
        }
    }
    return best;
}

struct link *io_take(struct io *io, const struct transport *transport, int fd, const void *own,
                     void *conn)
{
    struct link *link = link_new(transport, fd, own, NULL);

    if (link) {
        link->side.io = io;
        link->side.thread = io_choose(io);
        link->side.conn = conn;
        link->side.thread->links_given++;
        link_order(link, ORDER_BEGIN);
    }
    return link;
}
