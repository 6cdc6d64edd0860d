/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_IO_THREAD_H
#define TANDEM_SERVER_IO_THREAD_H

// An I/O thread: an event loop over the sockets of its links. In each round it handles what is
// ready, then what the core's thread has ordered, then hands over what it has to tell, and sleeps
// where nothing is left. It calls nothing that could wait, and writes no log: it tells the core's
// thread what is to be logged.
//
// What is read goes straight to the batch that is handed over. There are at most THREAD_BATCHES
// for each thread; while all of them wait for the core's thread, sockets are not read.

#include "core/base/list.h"
#include "core/base/nsec.h"
#include "server/io/link.h"
#include "server/io/meter.h"
#include "server/io/outbox.h"
#include "server/io/sleeper.h"
#include "server/net/handshakes.h"
#include "server/process/clock.h"

#include <event2/event.h>
#include <pthread.h>

#define THREAD_BATCHES 8
// A read is worth a system call from so much room on.
#define THREAD_READ_LEAST ((size_t)16 * 1024)

// What the core's thread tells all of them at once: it sets a field and wakes them.
struct thread_common {
    struct io_thread *threads;
    unsigned count;
    struct crowd *crowd;           // set before they run; NULL: nobody counts
    const struct fence *fence;     // the same: until when output may leave; NULL: for ever
    _Atomic(uint64_t) *open;       // sockets that were accepted and are not closed
    _Atomic(uint64_t) most;        // so many of these there may be
    atomic_uint full;              // kinds of which none is accepted now, as bits (net/seats.h).
                                   // Set by whoever finds out
    atomic_bool complained;        // of what cannot be accepted; until one could be, and none rests
    atomic_uint resting;           // threads that have just failed to accept
    _Atomic(nsec_t) handshake_for; // the time that each handshake has
    atomic_bool accepts;           // connections are accepted here
    atomic_bool shut;              // no connection is accepted any more
    atomic_bool ends;              // no connection begins, and none lingers
    _Atomic(nsec_t) unread_for;    // a peer that takes nothing of its output for so long is dropped
};

struct io_thread {
    pthread_t thread;
    bool runs;
    struct meter meter;
    bool sleeps; // as far as the meter knows
    struct sleeper sleeper;
    struct mailbox orders; // from the core's thread, and links from other I/O threads
    struct outbox news;    // to the core's thread
    struct thread_common *common;
    struct event_base *base;
    struct event woken;
    struct list_node links;
    struct list_node waiting; // links that have something to do and could not do it
    struct list_node unread;  // links with output that their peers have not taken (unread.h)
    struct event unread_timer;
    struct event fence_timer; // while output waits for the fence
    struct list_node doors;
    struct handshakes handshakes;
    nsec_t handshake_for; // as they know it
    struct event rest;    // ends the rest of the doors
    bool rests;
    int complaint; // why nothing can be accepted, which the core's thread is to be told; 0: nothing
    unsigned doors_open;     // kinds whose doors are, as bits
    atomic_bool is_shut;     // for good: sockets that listen may be closed
    atomic_uint count;       // links that are here, or on their way to here
    struct mailbox arrivals; // sockets from elsewhere: links to begin, or to be greeted
    bool ends;          // as the core's thread wants it: links that are to be closed do not linger
    atomic_bool is_out; // nothing is left: its last news are told

    // The core's thread's.
    struct outbox orders_out;
};

// Makes it ready; `reader` and `news` are the core's. False without memory or descriptors; it is to
// be closed in any case.
bool thread_open(struct io_thread *thread, struct thread_common *common, struct mailbox *news,
                 struct sleeper *reader) MUST_USE;
void thread_close(struct io_thread *thread);

// Has it run by a thread of its own. False where there is none.
bool thread_start(struct io_thread *thread, unsigned index) MUST_USE;

// One round; `wait`: it may sleep until there is something to do. False where it has ended: nothing
// is left, and that is told. Tests run threads by this that were not started.
bool thread_round(struct io_thread *thread, bool wait);

// Must be called by the callback of an event first: the thread does not sleep any more.
static inline void thread_wake(struct io_thread *thread)
{
    if (thread->sleeps) {
        thread->sleeps = false;
        meter_wake(&thread->meter, clock_boot());
    }
}

#endif
