/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_LOOP_H
#define TANDEM_SERVER_LOOP_H

// The event loop, and the turn in which everything happens:
//
//   wait        until something is readable, writable or due; not at all while work is left over
//   tick        the broker learns the present time and handles expired deadlines
//   read        one read for each readable connection, whose input is fed to its front-end at once
//   settle      the broker tells sessions of events; blocked connections wake
//   run         connections that still have input which can be parsed are fed again
//   store       the store gets the records of the broker, and reports the durable position
//   finish      for each connection that was touched: its output is sent; it is closed if it is
//               done; otherwise the events that it waits for are set
//
// The tick comes before the reads, so that times which a command starts (a lease, a delay) count
// from now and not from before the wait. Nothing is closed or freed before the end of the turn, so
// that no step meets a connection that has vanished.
//
// Output that must not be sent before a record is durable is held. Its connections take no time
// until the store has reached another position; then they are finished like others that were
// touched. While the store is behind, connections that submit are not read; while it is stuck, none
// is.
//
// If other processes may take over the jobs, the fence of the store is checked at the first event
// of a turn, and again right before output is sent. While it is closed, only operators are served,
// and background tasks do not work.
//
// Nothing in a turn may block: a peer that does not read, or a slow disk, would stop all clients.
// The system calls that could block, and why they do not:
//
//   log lines             a thread writes them, from a bounded backlog, and closes the files
//                         (log/log_writer.h)
//   the service manager   is notified without blocking, or later if it has no room
//                         (process/notify.h); a timer of the loop sends its keep-alives
//   the journal's files   a thread writes, syncs, makes, removes and closes them, and asks for the
//                         free space of the disk (journal/worker.h, journal/file/disk.h)
//   SIGHUP                blocks: it reads the configuration, the tokens and the rules, asks the
//                         system for the users and groups in these, and opens the log file. Only
//                         regular files are read, never a pipe
//   sockets               are non-blocking; closing one does not wait for its data
//   names of hosts        are looked up at the start only; addresses are logged as numbers
//   the end               blocks: it removes the pid file and unix sockets, and waits for the
//                         journal and, for two seconds, for the log

#include "core/base/macros.h"
#include "core/base/nsec.h"
#include "server/conn/eviction.h"
#include "server/conn/loop_turn.h"
#include "server/store/store.h"

#include <event2/event_struct.h>
#include <stdint.h>

// The longest turn and the largest delay of a deadline in the last minute or so, kept for some
// windows of time. The oldest window is dropped when another begins.

#define LOOP_WATCH_WINDOWS 5
#define LOOP_WATCH_WINDOW_FOR (15 * NSEC_PER_SEC)

struct loop_window {
    nsec_t longest_for;
    nsec_t lag_for;
};

struct loop_watch {
    uint64_t turns;
    uint64_t slow_turns;                            // that were logged
    struct loop_window windows[LOOP_WATCH_WINDOWS]; /* private */
    unsigned at;                                    /* private: the present window */
    nsec_t ends_at;                                 /* private: when that ends, monotonic */
};

// Notes a turn that ends now and took `took_for` since its wait. `lag_for`: how long the first
// thing due had been due when the wait ended; negative if nothing was.
void loop_watch_turn(struct loop_watch *watch, nsec_t now_at, nsec_t took_for, nsec_t lag_for);

// The worst of all windows.
struct loop_window loop_watch_worst(struct loop_watch *watch, nsec_t now_at);

struct loop {
    struct turn turn; // the part that its connections see
    struct loop_watch watch;
    nsec_t slow_for;                     // a turn with more processor time is logged; 0: none is
    struct suspend_watch *suspend_watch; // calls loop_resumed(); borrowed; NULL: none
    struct store *store;                 /* private: NULL: no output is held */
    struct event timer;                  /* private */
    nsec_t timer_at;                     /* private: when it fires; NSEC_NEVER: it is not set */
    nsec_t due_at;            /* private: when the first thing due at the last wait was due */
    bool unsettled;           /* private: the broker has more events to tell */
    bool evicts;              /* private: the eviction has more to do */
    struct eviction eviction; /* private */
    bool links_first;         /* private: in the next turn, as they had to wait in this one */
};

// `now` reads the clock; the broker is borrowed. False without memory, descriptors or epoll: there
// is nothing to close then.
bool loop_init(struct loop *loop, struct broker *broker, struct instant (*now)(void)) MUST_USE;

// Sets the broker, which is borrowed. All connections must be closed.
void loop_use_broker(struct loop *loop, struct broker *broker);

// Sets the store that output waits for, which is open and borrowed.
void loop_use_store(struct loop *loop, struct store *store);

// Removes the store and the background tasks. All connections must be closed.
void loop_leave_store(struct loop *loop);

// Closes all connections at once, and drops their staged output, also output that an I/O thread
// has.
void loop_drop_all(struct loop *loop);

// Closes all connections at once.
void loop_close_all(struct loop *loop);

// Closes all connections and frees the state of the loop. A zeroed loop is allowed.
void loop_close(struct loop *loop);

// Makes one turn. `wait`: it may sleep until there is something to do.
void loop_turn(struct loop *loop, bool wait);

// The machine has been suspended for `slept_for`, or, if that is 0, the wall clock was set: the
// deadlines are checked in this turn. Called by an event of the loop, or when it checks its
// `suspend_watch`.
void loop_resumed(struct loop *loop, nsec_t slept_for);

// Tells each front-end that the process is about to stop, reads no more from any connection, and
// closes each when its output was sent.
void loop_stop_conns(struct loop *loop);

#endif
