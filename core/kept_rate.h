/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_KEPT_RATE_H
#define TANDEM_CORE_KEPT_RATE_H

// Private to the core: what long rates have used is kept by the store, since a restart would else
// have a queue give all that its rate lets be taken in an hour at once, again. A rate is long where
// what it lets be taken at once takes a minute or more to come back. What is kept is a memo, by the
// name of the queue, that ends when the rate is at rest. It is written when an eighth of that has
// been taken since it was written last, and as it is when the process ends in good order: after a
// crash, up to an eighth more may be taken.

#include "core/broker_private.h"
#include "core/queue_private.h"

// A job was taken from the queue, which has a gate.
void kept_rate_taken(struct broker *broker, struct queue *queue);

// A job was given back undelivered: the store must not know more as used than is.
void kept_rate_given_back(struct broker *broker, struct queue *queue);

// The queue goes, whose rate is at rest. Where the wall clock was set back, the memo would else
// have the next queue of that name closed. Of a rate that is not long, it may be what another
// policy, which is yet to come back, has used.
void kept_rate_rested(struct broker *broker, const struct queue *queue);

// The process ends.
void kept_rate_retire(struct broker *broker);

#endif
