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
        if (!io_thread_open(&io->threads[io->count], &io->common, &io->news, &io->sleeper)) {
            io_thread_close(&io->threads[io->count]);
            return false;
        }
        io->common.count++;
    }
    return true;
}

bool io_start(struct io *io)
{
    for (unsigned i = 0; i < io->count; i++) {
        if (!io_thread_start(&io->threads[i], i)) {
            return false;
        }
    }
    return true;
}

struct io *io_open(unsigned threads, bool always, struct event_base *base, _Atomic(uint64_t) *open,
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
    spread_init(&io->spread, always, clock_boot());
    io->threads = calloc(threads, sizeof *io->threads);
    io->common.threads = io->threads;
    io->common.open = open;
    atomic_store(&io->common.accepts, always);
    if (!io->threads || !io_prepare(io, threads, base)) {
        io_close(io);
        return NULL;
    }
    return io;
}

static bool thread_is_shut(const struct io_thread *thread)
{
    return atomic_load(&thread->is_shut);
}

static bool thread_is_out(const struct io_thread *thread)
{
    return atomic_load(&thread->is_out);
}

// Runs rounds of threads that were not started.
static bool io_all(const struct io *io, bool (*is)(const struct io_thread *thread))
{
    bool all = true;

    for (unsigned i = 0; i < io->count; i++) {
        if (!io->threads[i].runs && !is(&io->threads[i])) {
            (void)io_thread_round(&io->threads[i], false);
        }
        all = is(&io->threads[i]) && all;
    }
    return all;
}

// Sleeps until a thread has news.
static void io_sleep(struct io *io)
{
    struct pollfd woken = {.fd = io->sleeper.fd, .events = POLLIN};
    uint64_t count;
    ssize_t ignored;

    (void)poll(&woken, 1, -1);
    ignored = read(io->sleeper.fd, &count, sizeof count);
    (void)ignored;
    sleeper_end(&io->sleeper);
}

void io_shut(struct io *io)
{
    atomic_store(&io->common.shut, true);
    io_wake_all(io);
    while (!io_all(io, thread_is_shut)) {
        sleeper_begin(&io->sleeper);
        if (io->threads[0].runs && !io_all(io, thread_is_shut)) {
            io_sleep(io);
        }
    }
    sleeper_end(&io->sleeper);
}

// Waits until the threads have told their last news.
static void io_wait_for_end(struct io *io)
{
    for (;;) {
        bool out = io_all(io, thread_is_out);

        io_read_last_news(io);
        io_flush(io, io->spread.began_at);
        if (out && !io->unread && mailbox_empty(&io->news)) {
            return;
        }
        if (!out && io->threads[0].runs && io_begin_sleep(io)) {
            if (io_all(io, thread_is_out)) {
                sleeper_end(&io->sleeper);
            } else {
                io_sleep(io);
            }
        }
    }
}

void io_close(struct io *io)
{
    if (!io) {
        return;
    }
    // After this, threads send each other no more links: one of them may be out.
    io_shut(io);
    // A thread ends when it has no link. A link that it gives back may have been closed meanwhile:
    // that order must come before the end.
    do {
        io_flush(io, io->spread.began_at);
    } while (!list_empty(&io->due));
    atomic_store(&io->common.ends, true);
    io_wake_all(io);
    io_wait_for_end(io);
    for (unsigned i = 0; i < io->count; i++) {
        io_thread_close(&io->threads[i]);
    }
    if (event_initialized(&io->woken)) {
        (void)event_del(&io->woken);
    }
    sleeper_close(&io->sleeper);
    free(io->threads);
    free(io);
}

bool io_begin_sleep(struct io *io)
{
    if (io_is_behind(io) || !list_empty(&io->due)) {
        return false;
    }
    sleeper_begin(&io->sleeper);
    if (mailbox_empty(&io->news)) {
        return true;
    }
    sleeper_end(&io->sleeper);
    return false;
}

void io_end_sleep(struct io *io, nsec_t slept_for)
{
    sleeper_end(&io->sleeper);
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

bool io_listen(struct io *io, const struct io_service *service, int fd)
{
    for (unsigned i = 0; i < io->count; i++) {
        if (!acceptor_add(&io->threads[i], service, fd)) {
            return false;
        }
    }
    return true;
}

void io_set_limits(struct io *io, const struct io_limits *limits)
{
    struct io_common *common = &io->common;

    if (common->peer_limits != limits->peer_limits || common->fence != limits->fence) {
        // Set for the first time, before the threads run.
        common->peer_limits = limits->peer_limits;
        common->fence = limits->fence;
        for (unsigned i = 0; i < io->count; i++) {
            io->threads[i].handshakes.peer_limits = limits->peer_limits;
        }
    }
    atomic_store_explicit(&common->unread_for, limits->unread_for, memory_order_relaxed);
    atomic_store(&common->handshake_for, limits->handshake_for);
    atomic_store_explicit(&common->most, limits->most, memory_order_relaxed);
    io_wake_all(io);
}

void io_set_full(struct io *io, unsigned full)
{
    if (atomic_load_explicit(&io->common.full, memory_order_relaxed) != full) {
        atomic_store(&io->common.full, full);
        io_wake_all(io);
    }
}

bool io_spreads(const struct io *io)
{
    return io->spread.on;
}

bool io_begin_handshake(struct io *io, const struct io_service *service, int fd)
{
    struct io_link *link = link_new(service, fd, NULL);
    struct io_thread *thread = io_common_fewest(&io->common);

    if (link) {
        link->needs_handshake = true;
        io_thread_expect_link(thread);
        io_thread_send_link(thread, link);
    }
    return link != NULL;
}

struct io_link *io_take(struct io *io, const struct io_service *service, int fd, const void *own,
                        void *conn)
{
    struct io_link *link = link_new(service, fd, own);

    if (link) {
        link->side.io = io;
        link->side.thread = io_common_fewest(&io->common);
        link->side.conn = conn;
        io_thread_expect_link(link->side.thread);
        link_order(link, ORDER_BEGIN);
    }
    return link;
}
