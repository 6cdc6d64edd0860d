/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_RATE_MEMO_H
#define TANDEM_CORE_RATE_MEMO_H

// Private to the core: the store keeps how much of a long rate has been used. Otherwise, after a
// restart, a queue would at once give all the jobs that its rate lets be taken in an hour, for a
// second time. A rate is long if the jobs that it lets be taken at once take a minute or more to
// come back.
//
// There is one memo for each such queue, by the queue's name; it ends when the rate is at rest. It
// is written when an eighth of the burst has been taken since it was last written, and when the
// process ends in good order. After a crash, up to an eighth more may be taken. Nothing here can
// fail: if the store has no room, it keeps the old memo.

#include "core/broker_private.h"
#include "core/queue_private.h"

// A job was taken from the queue, which has a gate.
void rate_memo_taken(struct broker *broker, struct queue *queue);

// A job was given back undelivered: the store must not have more as used than was used.
void rate_memo_given_back(struct broker *broker, struct queue *queue);

// The queue, whose rate is at rest, is freed: drops the memo, which, after the wall clock was set
// back, would close the next queue of that name. The memo of a rate that is not long stays: another
// policy, which is yet to come back, may have written it.
void rate_memo_rested(struct broker *broker, const struct queue *queue);

// The process ends: writes the memos of all queues.
void rate_memo_retire(struct broker *broker);

#endif
