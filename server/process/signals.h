/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_PROCESS_SIGNALS_H
#define TANDEM_SERVER_PROCESS_SIGNALS_H

// Signals, delivered as events of the loop: the handler runs between other events and may call any
// function. SIGPIPE and SIGXFSZ are ignored.

#include "core/base/macros.h"

#include <event2/event.h>
#include <event2/event_struct.h>
#include <stdbool.h>

enum signal_request {
    SIGNAL_STOP,   // SIGTERM, SIGINT
    SIGNAL_DRAIN,  // SIGUSR1
    SIGNAL_ACCEPT, // SIGUSR2
    SIGNAL_RELOAD, // SIGHUP
};

typedef void (*signal_handler)(void *context, enum signal_request request);

#define SIGNALS 5

struct signals {
    struct event events[SIGNALS]; /* private */
    signal_handler handler;       /* private */
    void *context;                /* private */
};

// Blocks all of these signals except those for SIGNAL_STOP until signals_open(), so that they do
// not end a process that is still starting.
void signals_hold(void);

// Delivers the signals from now on, also if the parent process had blocked them. False without
// memory or descriptors; there is nothing to close then.
bool signals_open(struct signals *signals, struct event_base *base, signal_handler handler,
                  void *context) MUST_USE;

// Ignores the signals from now on: the process is about to end. A zeroed struct is allowed.
void signals_close(struct signals *signals);

#endif
