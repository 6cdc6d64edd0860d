/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_RECORD_H
#define TANDEM_CORE_RECORD_H

// What changes in durable jobs, as the core tells it to a store. The core asks for room before it
// changes anything that may be refused, and appends after it has changed; room for a job's burial
// and for its end is part of what a submission asks for, so that those two are never refused.
// Nothing is recorded for a lease, its renewal, or its end: a restart finds such a job ready.

#include <stdbool.h>

struct job;
struct queue;

enum record_kind {
    RECORD_SUBMIT,  // a job with its whole contract and body, or one that a join made durable
    RECORD_RELEASE, // new priority, and ready or delayed
    RECORD_BURY,    // buried
    RECORD_KICK,    // ready, attempts start anew
    RECORD_TAKE,    // a buried job is held again: the room of its burial was used up and is wanted
                    // anew
    RECORD_END,     // the job is gone; its id and attempts can still be read during the call
    RECORD_PAUSE    // of `queue`; no job
};

struct record {
    enum record_kind kind;
    const struct job *job;
    const struct queue *queue;
};

struct recorder {
    // True: an append of this kind for this job or queue will succeed. Called before the change.
    bool (*room)(void *store, const struct record *record);
    // The change is made; the store copies what it needs before it returns. Cannot fail.
    void (*append)(void *store, const struct record *record);
};

#endif
