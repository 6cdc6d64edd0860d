/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_PROCESS_SUSPEND_H
#define TANDEM_SERVER_PROCESS_SUSPEND_H

// Notices that the machine has been suspended, or that the wall clock was set.
//
// Timers of an event base count on CLOCK_MONOTONIC, which stops while the machine is suspended: one
// that is to fire at a moment of CLOCK_BOOTTIME would fire later by as long as that. A timer on
// CLOCK_BOOTTIME would be a system call in each turn in which another moment is the next one. So
// there is one timer that never ends, and that the system cancels when CLOCK_REALTIME jumps, as it
// does at each resume: it costs a descriptor, and nothing while the machine is awake.

#include "core/base/nsec.h"

#include <event2/event.h>
#include <event2/event_struct.h>

// The machine has been suspended for `slept_for`, or, where that is 0, for less than a second, or
// the wall clock was set.
typedef void (*suspend_handler)(void *context, nsec_t slept_for);

struct suspend_watch {
    struct event event;      /* private */
    nsec_t slept_for;        /* private: since the machine was started, as last told */
    suspend_handler handler; /* private */
    void *context;           /* private */
    int fd;                  /* private */
};

// Begins. Where the system has no such timer, or no descriptor, nobody is told but by
// suspend_look(): that must do no more harm than that something comes late.
void suspend_watch_open(struct suspend_watch *watch, struct event_base *base,
                        suspend_handler handler, void *context);

// For whoever sees on CLOCK_BOOTTIME that much time has passed, since that may be seen before the
// timer's event: tells the handler where the machine has been suspended for a second or more and it
// was not told yet. Nothing where the watch has not begun.
void suspend_look(struct suspend_watch *watch);

// Ends that, before the base does. A zeroed struct is allowed.
void suspend_watch_close(struct suspend_watch *watch);

#endif
