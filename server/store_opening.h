/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_STORE_OPENING_H
#define TANDEM_SERVER_STORE_OPENING_H

// The wait for the store at the start. Another thread gives the broker its jobs back, which
// may take minutes, and a disk may hang: meanwhile the loop runs for signals and timers alone, and
// touches neither the broker nor a connection. The log says how far the thread is, and the service
// manager is asked for more time as long as it gets on.

#include "core/base/macros.h"
#include "server/loop.h"
#include "server/process/notify.h"
#include "server/store.h"

#include <event2/event_struct.h>

enum opening_end {
    OPENING_DONE,    // the store is open
    OPENING_FAILED,  // the reason is in `why`
    OPENING_STOPPED, // it was told to stop
    OPENING_HANGS    // the same, but the thread hangs in the disk, with all that it was lent
};

struct opening {
    // What it works on; to be set.
    struct store *store;
    struct notifier *notifier;
    struct event look;     /* private */
    struct event patience; /* private */
    nsec_t began_at;       /* private */
    bool stops;            /* private */
    bool gives_up;         /* private */
};

// Opens the store for the loop's broker, and returns when that is over.
enum opening_end opening_run(struct opening *opening, struct loop *loop,
                             struct reason *why) MUST_USE;

// From an event's callback: has it end soon, at the second time at once.
void opening_stop(struct opening *opening);

#endif
