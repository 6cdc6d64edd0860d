/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_PROCESS_SIGNALS_H
#define TANDEM_SERVER_PROCESS_SIGNALS_H

// Signals, delivered as events of the loop: the handler runs between other events and may do what
// it likes. SIGPIPE is ignored.

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

// Signals that do not ask for the end wait from now on until signals_open(), and do not end the
// process either.
void signals_hold(void);

// Takes signals that whoever started us has blocked, too. False without memory or descriptors;
// there is nothing to close then.
bool signals_open(struct signals *signals, struct event_base *base, signal_handler handler,
                  void *context) MUST_USE;

// From now on these signals do nothing: the process is about to end. A zeroed struct is allowed.
void signals_close(struct signals *signals);

#endif
