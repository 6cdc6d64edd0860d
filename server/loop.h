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
//   store       the store is handed what the broker recorded, and says what is safe now
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

// Where others may take over what the store keeps, its fence is looked at when the first event of a
// turn comes, and again right before output leaves. While it is closed, nobody is read, fed or sent
// anything but who administers, and nothing is done in the background.

// Nothing that happens here may wait for somebody: one stalled reader or one slow disk would stop
// all clients. What calls of the system could, and why they do not:
//
//   log lines             a thread writes them, from a bounded backlog (log/log_writer.h); it also
//                         closes the files
//   the service manager   is told without waiting, and later where it has no room
//                         (process/notify.h); that the loop turns at all is told where the manager
//                         watches it
//   the journal's files   a thread writes, syncs, makes, removes and closes them, and asks how much
//                         room the disk has (journal/worker.h, journal/file/io.h)
//   SIGHUP                reads the configuration, the tokens and the rules, asks the system for
//   the
//                         users and groups that these name, and opens the log file. Only regular
//                         files are read, and nothing waits for the other end of a pipe. A disk
//                         that hangs, or whoever knows the users, is waited for: whoever sends the
//                         signal wants that to be read
//   sockets               do not block; closing one does not wait for its data to leave
//   names of hosts        are looked up at the start only; addresses are told as numbers
//   the end               removes the pid file and unix sockets, and waits for the journal and, for
//                         two seconds, for the log

#include "core/base/macros.h"
#include "server/loop_watch.h"
#include "server/shed.h"
#include "server/store.h"
#include "server/turn.h"

#include <event2/event_struct.h>

struct loop {
    struct turn turn;        // what its connections see of it
    struct loop_watch watch; // how it does
    nsec_t slow_for;         // a turn that uses more processor time is logged; 0: none is
    struct suspend_watch *suspend_watch; // tells of it by loop_resumed(); borrowed; NULL: nobody
    struct store *store;                 /* private: NULL: nothing is held */
    struct event timer;                  /* private */
    nsec_t timer_at;  /* private: what it is set to, NSEC_NEVER where it is not set */
    nsec_t due_at;    /* private: when the first of what was due at the last wait was */
    bool unsettled;   /* private: the broker has more to tell */
    bool sheds;       /* private: it has connections to weigh or to close */
    struct shed shed; /* private: what it does where memory is short */
    bool links_first; /* private: in the next turn, for they had to wait in this one */
};

// `now` reads the clock; the broker is borrowed. False without memory, descriptors or what the
// system must have for it (Linux's epoll); there is nothing to close then.
bool loop_init(struct loop *loop, struct broker *broker, struct instant (*now)(void)) MUST_USE;

// From now on it turns on that broker, which is borrowed. There is no connection.
void loop_use_broker(struct loop *loop, struct broker *broker);

// From now on output waits for the store, which is open and borrowed.
void loop_use_store(struct loop *loop, struct store *store);

// There is no store any more, and nothing is done in the background. There is no connection.
void loop_leave_store(struct loop *loop);

// The same as loop_close_all(), and what was staged does not leave, be it a thread's already.
void loop_drop_all(struct loop *loop);

// Closes all connections at once.
void loop_close_all(struct loop *loop);

// Closes all connections and frees what the loop holds. A zeroed loop is allowed.
void loop_close(struct loop *loop);

// One turn. `wait`: whether it may sleep until there is something to do.
void loop_turn(struct loop *loop, bool wait);

// The machine has been suspended for `slept_for`, or, where that is 0, the wall clock was set: what
// is due is looked at in this turn. Called by an event of the loop, or where it looks at its
// `suspend_watch`.
void loop_resumed(struct loop *loop, nsec_t slept_for);

// Tells each front-end that the process is about to stop, reads no more from any connection and
// closes each when its output has left.
void loop_stop_conns(struct loop *loop);

#endif
