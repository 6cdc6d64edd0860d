/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_STORE_OPENING_H
#define TANDEM_SERVER_STORE_OPENING_H

// Opening the store at the start. The store's thread restores the jobs, which may take minutes, and
// a disk may hang. Meanwhile only that thread uses the broker. The loop runs with a temporary,
// empty broker, so that operators can ask for the progress and signals are handled. The progress is
// logged, and while there is some, the service manager is asked for more time.
//
// The connections of the temporary broker are closed when the store is open.
//
// After that, the loop's thread imports the jobs of another broker in slices (importing.h), while
// the temporary broker still answers.

#include "core/base/macros.h"
#include "server/importing.h"
#include "server/loop.h"
#include "server/process/notify.h"
#include "server/store/store.h"

#include <event2/event_struct.h>

enum opening_end {
    OPENING_DONE,    // the store is open
    OPENING_FAILED,  // the reason is in `why`
    OPENING_STOPPED, // opening_stop() was called
    OPENING_HANGS // the same, but the thread hangs in the disk and still uses the store and broker
};

struct opening {
    // Set by the caller; borrowed.
    struct store *store; // NULL: nothing is opened
    struct notifier *notifier;
    struct broker *broker; // the jobs are restored to it
    struct importing_options import;
    void (*turned)(void *context); // called at the begin, and at the end of each turn
    void *context;                 // of `turned`
    struct broker *temporary;      /* private: NULL without a store */
    struct importing importing;    /* private */
    struct event progress_timer;   /* private */
    struct event turn_timer;       /* private: ends the loop's waits */
    struct event stop_timer;       /* private: the time to stop is over */
    nsec_t began_at;               /* private */
    bool stops;                    /* private */
    bool ready;                    /* private: the service manager does not wait any more */
    bool gives_up;                 /* private */
};

// Makes the temporary broker if there is a store. `now` is its time. False without memory.
bool opening_init(struct opening *opening, const struct broker_options *options,
                  struct instant now) MUST_USE;

// The broker that the loop begins with.
static inline struct broker *opening_broker(const struct opening *opening)
{
    return opening->temporary ? opening->temporary : opening->broker;
}

// Opens the store, and returns when that is done. OPENING_DONE: the loop uses the broker now, and
// has no connection. The temporary broker still exists, for services that were started with it.
enum opening_end opening_run(struct opening *opening, struct loop *loop,
                             struct error_text *why) MUST_USE;

// Frees the temporary broker, which must not be in use. A zeroed opening is allowed.
void opening_clear(struct opening *opening);

// The process is a standby, perhaps for days: stops reporting the progress.
static inline void opening_is_ready(struct opening *opening)
{
    opening->ready = true;
}

// Reads the progress; false if the opening has not begun or is over.
bool opening_progress(const struct opening *opening, struct restore_progress *progress);

// Whether that is the progress of an import.
static inline bool opening_imports(const struct opening *opening)
{
    return importing_is_on(&opening->importing);
}

// Called from a callback of an event. Ends the opening soon; the second call ends it at once.
void opening_stop(struct opening *opening);

#endif
