/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_LOOP_H
#define TANDEM_SERVER_LOOP_H

// The event loop, and the turn that everything happens in:
//
//   wait        until something is readable, writable or due; not at all while work is left over
//   tick        the broker learns the present and does what is due
//   read        one read for each readable connection, fed to its front-end at once
//   settle      the broker tells sessions what concerns them; blocked connections wake
//   run         connections that still have input which can be parsed are fed again
//   keep        the store is handed what the broker recorded, and says what is safe now
//   finish      each connection that was touched: its output is sent, its events are set to what it
//               now waits for, it is closed if it is done
//
// The tick comes before the reads, so that what a command starts (a lease, a delay) counts from
// now and not from before the wait. Nothing is closed or freed before the turn's end, so no step
// need fear that a connection vanishes under it.
//
// Output that the store must make safe first is held. Its connections cost nothing until the store
// has reached another position; then they are finished like others that were touched. While the
// store is behind, those that submit are not read, and while it is stuck, none is.

// Nothing that happens here may wait for somebody: one stalled reader or one slow disk would stop
// all clients. What calls of the system could, and why they do not:
//
//   log lines             a thread writes them, from a bounded backlog (log/log_writer.h); it also
//                         closes the files
//   the service manager   is told without waiting, and later where it has no room
//                         (process/notify.h)
//   the journal's files   a thread writes, syncs, makes, removes and closes them, and asks how much
//                         room the disk has (journal/worker.h, file/io.h)
//   SIGHUP                reads the configuration and the tokens, and opens the log file. Only
//                         regular files are read, and nothing waits for the other end of a pipe. A
//                         disk that hangs is waited for: whoever sends the signal wants its files
//                         read
//   sockets               do not block; closing one does not wait for its data to leave
//   names of hosts, users are looked up at the start only; addresses are told as numbers
//   the end               removes the pid file and unix sockets, and waits for the journal and, for
//                         two seconds, for the log

#include "core/broker.h"
#include "core/base/list.h"
#include "proto_common/output.h"
#include "core/base/tree.h"
#include "server/store.h"

#include <event2/event.h>
#include <event2/event_struct.h>

// What one read takes at most.
#define LOOP_READ_MAX 65536
// Kept input up to this long is moved in front of what is read, so that the two are fed as one.
#define LOOP_KEPT_MAX 4096

// What one read takes at most where it goes straight to its place.
#define LOOP_DIRECT_MAX ((size_t)256 * 1024)

// When a turn has received so many bytes, or sent so many, what is more waits for the next one.
#define LOOP_BYTES_MAX ((size_t)2 * 1024 * 1024)

// A turn takes input from so many connections, and finishes so many; what is more waits for the
// next one, whose ticks and notices come in between.
#define LOOP_BATCH 128

// The same once it has lasted so long, counted from its tick: what is still to be read or fed waits
// after LOOP_INPUT_FOR, what is still to be sent after LOOP_OUTPUT_FOR. The clock is looked at for
// every LOOP_LOOK connections.
#define LOOP_INPUT_FOR NSEC_PER_MSEC
#define LOOP_OUTPUT_FOR (NSEC_PER_MSEC * 2)
#define LOOP_LOOK 4

struct loop {
    struct event_base *base;
    struct broker *broker;
    struct output_pool pool;
    char *buffer; // LOOP_KEPT_MAX + LOOP_READ_MAX bytes, shared: in use only within one read
    uint64_t connections; // that there were so far
    uint64_t open;        // of these
    unsigned events;      // handled in this turn
    size_t bytes;         // received in this turn, and then sent
    nsec_t complained_at; // when a want of memory was last logged; see loop_may_complain
    nsec_t unread_for;    // a peer that takes none of its output for so long is dropped; 0: none is
    nsec_t slow_for;      // a turn that uses more processor time is logged; 0: none is
    struct list_node all; // connections
    struct list_node touched; // those to be fed again, or to be looked at when the turn ends
    struct list_node held;    // those that wait for the store to reach a position
    struct list_node paused;  // those that are not read until the store is at ease
    enum store_pressure pressure;
    struct store *store;   // NULL: nothing is held
    struct tree deadlines; // those that want to be told of a moment
    /* private */
    struct instant (*now)(void);
    struct event timer;
    nsec_t timer_at; // what the timer is set to, NSEC_NEVER where it is not set
    bool ticked;     // in this turn
    bool unsettled;  // the broker has more to tell
};

// `now` reads the clock; the broker is borrowed. False without memory, descriptors or what the
// system must have for it (Linux's epoll); there is nothing to close then.
bool loop_init(struct loop *loop, struct broker *broker, struct instant (*now)(void)) MUST_USE;

// From now on output waits for the store, which is open and borrowed.
void loop_use_store(struct loop *loop, struct store *store);

// Closes all connections at once.
void loop_close_all(struct loop *loop);

// Closes all connections and frees what the loop holds. A zeroed loop is allowed.
void loop_close(struct loop *loop);

// One turn. `wait`: whether it may sleep until there is something to do.
void loop_turn(struct loop *loop, bool wait);

// Tells each front-end that the process is about to stop, reads no more from any connection and
// closes each when its output has left.
void loop_finish_all(struct loop *loop);

// Must be called by an event's callback before it calls a verb: sets the broker's present, once in
// a turn.
void loop_tick(struct loop *loop);

// Whether a connection's trouble with memory may be logged: one line a second, for there may be as
// many as there are clients that try again.
bool loop_may_complain(struct loop *loop);

// Must be called by the callback of a connection's event, after loop_tick(): ends the wait when
// there were LOOP_BATCH, or the turn has lasted long. The others that are ready come first in the
// next turn.
void loop_count_event(struct loop *loop);

// The same for bytes that were received or sent.
void loop_count_bytes(struct loop *loop, size_t len);

#endif
