/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_MODEL_EVENT_H
#define TANDEM_CORE_MODEL_EVENT_H

// Private to the core: the events of a job that its watches are still to be told. They stand in the
// order in which they happened in the job's interest, and in the broker's list of all events, or,
// for a job that takes long to tell, the first of them in the broker's other list. (No name here
// may be one of libevent's, such as event_add or event_new: the server links both.)

#include "core/model/watch.h"

// So often an event is told before those of other jobs have their turn.
#define TELLINGS_AT_ONCE (BROKER_SLICE / 8)

void queued_event_init(struct interest *interest, struct queued_event *event);

// What a worker reported, with a reference to its data; NULL without memory.
struct queued_event *queued_event_new(struct interest *interest, const struct job_event *what);

// It has happened now. One that is still to be told is told once, as what happened last.
void queued_event_add(struct queued_event *event);

// It has been told to all, or nobody is left.
void queued_event_done(struct queued_event *event);

// The first event of the interest has its turn behind those of others that take long to tell.
void queued_event_requeue_slow(struct interest *interest);

#endif
