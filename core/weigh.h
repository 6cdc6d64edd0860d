/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_WEIGH_H
#define TANDEM_CORE_WEIGH_H

// Private to the core: shares of takes, where sessions that take the oldest job choose among queues
// with a weight whose best jobs are of one priority.
//
// Each such queue has a tag, a virtual time: a take puts it off by the inverse of the weight, and
// the lowest tag goes next (stride scheduling). While all of them have jobs, no tag is further
// ahead of another than one take of its queue. One that is further behind was empty, closed or had
// other priorities for a while: it is served next, the one that is furthest behind first, and its
// tag counts from where the others are, so that turns are not saved up. Queues without a weight
// share one tag and the weight 1, and among them the oldest job goes first.

#include "core/session_private.h"

// The job that the session takes, and by which subscription: `oldest` (by `*by`), the best of the
// queues without a weight, or NULL, or one of those with a weight.
struct job *weigh(struct session *session, struct job *oldest, struct subscription **by);

// The session has taken the job that it chose, by that subscription: where weigh() chose it, the
// queue's turn is over.
void weigh_taken(const struct subscription *by, const struct job *job);

#endif
