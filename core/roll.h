/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_ROLL_H
#define TANDEM_CORE_ROLL_H

// Private to the core: rolls (core/queues.h), and the queues that are kept for them.
//
// Moments are numbered: each queue has that at which it came, each roll its own. Queues stand in a
// list in the order in which they came, also while they have gone and are kept. A roll has the
// queues that had come by its moment and had not gone. A queue that goes while the youngest roll
// has it stands in that one's list; where the youngest does not, none does. When a roll ends, what
// stands in its list may be needed by the next older one, or by none, which is found out a few in
// each tick: until then they stand in that one's list of unsorted ones.
//
// A roll that has passed over very many queues which it does not have stops at one of them. Should
// that one be forgotten before the roll goes on, it goes on from the last queue of its own.

#include "core/queue.h"

void rolls_begin(struct broker *broker);

// The queue has come, and is at its place.
void roll_enter(struct broker *broker, struct queue *queue);

// It is forgotten: no roll has it.
void roll_leave(struct broker *broker, const struct queue *queue);

// The queue has gone. True: a roll has it, and it is to stay at its place.
bool roll_keeps(struct broker *broker, struct queue *queue) MUST_USE;

// Goes on with the queues that are not sorted, one slice of them.
void rolls_sort(struct broker *broker);

#endif
