/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_IO_IO_THREAD_H
#define TANDEM_SERVER_IO_IO_THREAD_H

// An I/O thread: an event loop over the sockets of its links. In each round it handles events, then
// executes the orders of the core's thread, then hands over its news; then it sleeps, if nothing is
// left to do. It calls nothing that blocks and writes no log: it tells the core's thread what to
// log.
//
// Input is read directly to the batch that is handed over. Each thread has at most
// IO_THREAD_BATCHES; while the core's thread has all of them, sockets are not read.

#include "core/base/list.h"
#include "core/base/nsec.h"
#include "server/io/io_link.h"
#include "server/net/handshakes.h"
#include "server/process/clock.h"

#include <event2/event.h>
#include <pthread.h>

#define IO_THREAD_BATCHES 8
// The least room that is worth a system call for reading.
#define IO_THREAD_READ_LEAST ((size_t)16 * 1024)

// For how long a thread has slept, so that others see how busy it is. Elapsed time counts and not
// processor time: a thread that other processes keep from running is busy, too.
struct meter {
    _Atomic(nsec_t) slept_for; /* private */
    _Atomic(nsec_t) since_at;  /* private: since when it sleeps; 0: it does not */
};

// Called by the thread itself.
static inline void meter_sleep(struct meter *meter, nsec_t now_at)
{
    atomic_store_explicit(&meter->since_at, now_at, memory_order_relaxed);
}

static inline void meter_wake(struct meter *meter, nsec_t now_at)
{
    nsec_t since_at = atomic_load_explicit(&meter->since_at, memory_order_relaxed);
    nsec_t slept_for = atomic_load_explicit(&meter->slept_for, memory_order_relaxed);

    atomic_store_explicit(&meter->since_at, 0, memory_order_relaxed);
    atomic_store_explicit(&meter->slept_for, slept_for + now_at - since_at, memory_order_relaxed);
}

// How long it has slept so far. Called by any thread; while the other wakes up, the result may be
// too small or too large once.
static inline nsec_t meter_slept(const struct meter *meter, nsec_t now_at)
{
    nsec_t since_at = atomic_load_explicit(&meter->since_at, memory_order_relaxed);
    nsec_t slept_for = atomic_load_explicit(&meter->slept_for, memory_order_relaxed);

    return since_at != 0 && since_at < now_at ? slept_for + now_at - since_at : slept_for;
}

// What the core's thread tells all threads: it sets a field and wakes them.
struct io_common {
    struct io_thread *threads;
    unsigned count;
    struct peer_limits *peer_limits; // set before they run; NULL: no limits by address
    const struct fence *fence;       // set before they run: until when output may be sent; NULL:
                                     // always
    _Atomic(uint64_t) *open;         // accepted sockets that are not closed
    _Atomic(uint64_t) most;          // their maximum
    atomic_uint full;                // kinds of which none is accepted now, as bits
                                     // (net/admission.h); any thread sets it
    atomic_bool warned;              // a failure to accept was logged, and none was accepted since
    atomic_uint resting;             // threads that have just failed to accept
    _Atomic(nsec_t) handshake_for;   // the time limit of each handshake
    atomic_bool accepts;             // the threads accept connections
    atomic_bool shut;                // no connection is accepted any more
    atomic_bool ends;                // no connection begins, and closed ones do not wait for peers
    _Atomic(nsec_t) unread_for;      // a peer that reads no output for so long is dropped
};

struct io_thread {
    pthread_t thread;
    bool runs;
    struct meter meter;
    bool sleeps; // as far as the meter knows
    struct sleeper sleeper;
    struct mailbox orders; // from the core's thread
    struct outbox news;    // to the core's thread
    struct io_common *common;
    struct event_base *base;
    struct event woken;
    struct list_node links;
    struct list_node waiting; // links with something to do that could not be done
    struct list_node unread;  // links with output that their peers have not read
    struct event unread_timer;
    struct event fence_timer; // while output waits for the fence
    struct list_node acceptors;
    struct handshakes handshakes;
    nsec_t handshake_for; // their time limit as set last
    struct event rest;    // ends a rest of the acceptors
    bool rests;
    int accept_error;        // to be told to the core's thread; 0: none
    unsigned kinds_open;     // kinds that are accepted now, as bits
    atomic_bool is_shut;     // finally: listening sockets may be closed
    atomic_uint count;       // links that are here, or on the way to here
    struct mailbox arrivals; // links of sockets that another thread has accepted
    bool ends;               // common->ends, as of the last round
    atomic_bool is_out;      // it has no link, and has told its last news

    struct outbox orders_out; // the core's thread's
};

// Makes a thread ready; `reader` and `news` are the core's. False without memory or descriptors.
// io_thread_close() must be called in any case.
bool io_thread_open(struct io_thread *thread, struct io_common *common, struct mailbox *news,
                    struct sleeper *reader) MUST_USE;
void io_thread_close(struct io_thread *thread);

// Starts it. False if the system has no more threads.
bool io_thread_start(struct io_thread *thread, unsigned index) MUST_USE;

// One round; `wait`: it may sleep. False: it has ended, and has told that. Tests run threads by
// this that were not started.
bool io_thread_round(struct io_thread *thread, bool wait);

// The callback of each event calls this first: the thread does not sleep any more.
static inline void io_thread_wake(struct io_thread *thread)
{
    if (thread->sleeps) {
        thread->sleeps = false;
        meter_wake(&thread->meter, clock_boot());
    }
}

// How many links the thread has or expects. Any thread may ask.
static inline unsigned io_thread_links(const struct io_thread *thread)
{
    return atomic_load_explicit(&thread->count, memory_order_relaxed);
}

// A link is going to begin there.
static inline void io_thread_expect_link(struct io_thread *thread)
{
    atomic_fetch_add_explicit(&thread->count, 1, memory_order_relaxed);
}

// A link has left.
static inline void io_thread_lose_link(struct io_thread *thread)
{
    atomic_fetch_sub_explicit(&thread->count, 1, memory_order_relaxed);
}

// The thread with the fewest links.
struct io_thread *io_common_fewest(const struct io_common *common);

// Hands a link to a thread that expects it; no other thread knows the link. Any thread may call it.
void io_thread_send_link(struct io_thread *thread, struct io_link *link);

// Begins each link that another thread has sent, or the handshake of its socket.
void io_thread_take_arrivals(struct io_thread *thread);

// Acceptors: an I/O thread watches every listening socket while the threads accept
// (common->accepts) and the maximum of connections is not open. A connection stays with the thread
// that accepts it, unless another thread has clearly fewer. A socket that needs a handshake is a
// connection when that is done (net/handshakes.h). Each accepted socket is counted in common->open
// at once, so that all threads together do not exceed the maximum.

// Makes the acceptors of a thread ready; there is none yet.
bool acceptors_init(struct io_thread *thread) MUST_USE;

// Adds an acceptor, which does not accept yet. False without memory.
bool acceptor_add(struct io_thread *thread, const struct io_service *service, int fd) MUST_USE;

// Has the acceptors accept as common demands; after common->shut, never again.
void acceptors_settle(struct io_thread *thread);

// Whether that has been done.
bool acceptors_are_settled(const struct io_thread *thread);

void acceptors_clear(struct io_thread *thread);

#endif
