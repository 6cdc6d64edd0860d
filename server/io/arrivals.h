/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_IO_ARRIVALS_H
#define TANDEM_SERVER_IO_ARRIVALS_H

// Sockets that were accepted by one thread and are for another one: links that begin there, or that
// carry a socket whose handshake is to be made first. And how many links each thread has, so that
// the next goes where there are the fewest.

#include "server/io/thread.h"

// How many links the thread has or expects. Any thread may ask.
static inline unsigned arrivals_count(const struct io_thread *thread)
{
    return atomic_load_explicit(&thread->count, memory_order_relaxed);
}

// One more is to begin there.
static inline void arrivals_expect(struct io_thread *thread)
{
    atomic_fetch_add_explicit(&thread->count, 1, memory_order_relaxed);
}

// One has left.
static inline void arrivals_part(struct io_thread *thread)
{
    atomic_fetch_sub_explicit(&thread->count, 1, memory_order_relaxed);
}

struct io_thread *arrivals_fewest(const struct thread_common *common);

// Hands a link that nobody else knows to a thread that expects it. Any thread may call it.
void arrivals_send(struct io_thread *thread, struct link *link);

// All that came, the oldest first; NULL where none did. Called by the thread.
struct link *arrivals_take(struct io_thread *thread);

// The one behind it among those that were taken.
struct link *arrivals_next(const struct link *link);

#endif
