/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_STORE_OPENING_H
#define TANDEM_SERVER_STORE_OPENING_H

// The wait for the store at the start. Another thread gives the broker its jobs back, which
// may take minutes, and a disk may hang: meanwhile nobody else touches that broker. The loop turns
// on another one, which stands in for it and stays empty: whoever asks how far the thread is can be
// answered, and signals are obeyed. The log says so, too, and the service manager is asked for more
// time as long as the thread gets on.
//
// Connections that begin on the stand-in do not outlive it.
//
// Jobs that another broker has left behind are brought in afterwards (importing.h), by the loop's
// thread and in slices, while the stand-in still answers.

#include "core/base/macros.h"
#include "server/importing.h"
#include "server/loop.h"
#include "server/process/notify.h"
#include "server/store/store.h"

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
    struct broker *broker; // whose jobs come back
    struct importing_options import;
    void (*turned)(void *context); // when it begins, and at the end of each turn
    void *context;                 // of that
    struct broker *stand_in;       /* private: NULL without a store */
    struct importing importing;    /* private */
    struct event look;             /* private */
    struct event pulse;            /* private: ends the loop's waits */
    struct event patience;         /* private */
    nsec_t began_at;               /* private */
    bool stops;                    /* private */
    bool ready;                    /* private: nobody waits for its end */
    bool gives_up;                 /* private */
};

// Has a stand-in made at the moment `now`, where the store is not NULL. False without memory.
bool opening_init(struct opening *opening, const struct broker_options *options,
                  struct instant now) MUST_USE;

// The broker that the loop is to begin with.
static inline struct broker *opening_broker(const struct opening *opening)
{
    return opening->stand_in ? opening->stand_in : opening->broker;
}

// Opens the store, and returns when that is over. OPENING_DONE: the loop has the broker from now
// on, and no connection. The stand-in is still there for those who were started with it.
enum opening_end opening_run(struct opening *opening, struct loop *loop,
                             struct error_text *why) MUST_USE;

// Frees the stand-in, which nobody uses any more. A zeroed opening is allowed.
void opening_clear(struct opening *opening);

// The process stands by: that may last, so that nobody is told how far it is.
static inline void opening_is_ready(struct opening *opening)
{
    opening->ready = true;
}

// How far it is; false where it has not begun, or is over.
bool opening_progress(const struct opening *opening, struct restore_progress *progress);

// Whether that is how far the jobs of another broker are.
static inline bool opening_imports(const struct opening *opening)
{
    return importing_is_on(&opening->importing);
}

// From an event's callback: has it end soon, at the second time at once.
void opening_stop(struct opening *opening);

#endif
