/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_PROCESS_SUSPEND_H
#define TANDEM_SERVER_PROCESS_SUSPEND_H

// Detects that the machine was suspended, or that the wall clock was set.
//
// Timers of an event base count on CLOCK_MONOTONIC, which stops during a suspend: a timer for a
// time of CLOCK_BOOTTIME would fire late by the length of the suspend. A timer on CLOCK_BOOTTIME
// would cost a system call in each turn with a new next deadline. Instead there is one timer that
// never expires, and that the kernel cancels when CLOCK_REALTIME jumps, as it does at each resume.
// It costs one descriptor.

#include "core/base/nsec.h"

#include <event2/event.h>
#include <event2/event_struct.h>

// The machine was suspended for `slept_for`. 0: for less than a second, or the wall clock was set.
typedef void (*suspend_handler)(void *context, nsec_t slept_for);

struct suspend_watch {
    struct event event;      /* private */
    nsec_t slept_for;        /* private: since the machine was started, as last reported */
    suspend_handler handler; /* private */
    void *context;           /* private */
    int fd;                  /* private */
};

// Starts to watch. If the system has no such timer, or no descriptor is left, only suspend_check()
// detects suspends: a handler must do no more harm by that than to come late.
void suspend_watch_open(struct suspend_watch *watch, struct event_base *base,
                        suspend_handler handler, void *context);

// For a caller that finds much time gone on CLOCK_BOOTTIME, perhaps before the timer's event: calls
// the handler if the machine was suspended for a second or more since the last report. Does nothing
// before suspend_watch_open().
void suspend_check(struct suspend_watch *watch);

// Stops watching; call before the base is freed. A zeroed struct is allowed.
void suspend_watch_close(struct suspend_watch *watch);

#endif
