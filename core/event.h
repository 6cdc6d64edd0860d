/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_EVENT_H
#define TANDEM_CORE_EVENT_H

// Private to the core: the events of a job that its watches are still to be told. They stand in the
// job's interest in the order in which they happened; while there is one, the interest stands in
// the broker's list of those that have something to tell. (No name here may be one of libevent's,
// such as event_add or event_new: the server links both.)

#include "core/watch.h"

// So many tellings are made of one job before the other jobs have their turn.
#define TELLINGS_AT_ONCE (BROKER_SLICE / 8)

void queued_event_init(struct interest *interest, struct queued_event *event);

// What a worker reported, with a reference to its data; NULL without memory.
struct queued_event *queued_event_new(struct interest *interest, const struct job_event *what);

// It has happened now. One that is still to be told is told once, as what happened last.
void queued_event_add(struct queued_event *event);

// It has been told to all, or nobody is left.
void queued_event_done(struct queued_event *event);

// Whether the interest whose turn comes next has nothing older to tell; this one has something.
bool queued_event_is_next(const struct interest *interest);

// The interest's turn is over: the next one, where there is more, comes behind those of others, or,
// unless it has spent all of its turn, of those that have something older to tell.
void queued_event_pass_on(struct interest *interest, bool spent);

#endif
