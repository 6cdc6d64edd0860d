/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_OPEN_QUEUES_H
#define TANDEM_CORE_OPEN_QUEUES_H

// Private to the core: the index of open queues, those that are not closed and have a ready job.
//
// It is two containers. A tree, and another one for queues with a weight, holds them by a bound
// each, which is a place among ready jobs that the queue's best job stands at or after: a job that
// leaves makes the bound only too low, and who comes across such a bound raises it. A list holds
// them in the order in which they became open.

#include "core/queue.h"

// A job of the queue has become ready or the last one has left, or it is closed or opened: it has
// perhaps to enter, change or leave its place among open queues.
void open_queue_review(struct broker *broker, struct queue *queue);

// The queue may have jobs for sessions that wait for one, or for a nudge: called after any change
// of the queue, of its gate or of those who wait on it that does not give them a job at once. Where
// it is open, it is put into broker->matching.backlog: its jobs and those sessions meet in the
// slices of broker_tick() and broker_settle(), the best job of all queues first.
void queue_offer(struct broker *broker, struct queue *queue);

// Takes the queue out of the backlog.
void queue_unoffer(struct broker *broker, struct queue *queue);

// The queue of the backlog with the best job, NULL for none. What it looked at is charged.
struct queue *backlog_first(struct broker *broker);

// One reason (CLOSED_...) more, or less, for the queue to give nothing. When the last one goes, it
// is offered.
void queue_close(struct broker *broker, struct queue *queue, unsigned reason);
void queue_reopen(struct broker *broker, struct queue *queue, unsigned reason);

// The open queue with the lowest bound, NULL for none; of all, or of those without a weight.
struct bound *open_queues_first(const struct broker *broker, bool weighed_too);

// The first of these whose bound is behind this one; NULL for none.
struct bound *open_queues_after(const struct broker *broker, const struct bound *bound,
                                bool weighed_too);

// Sets the queue's bound to the place of its best job; NULL takes it out of the tree.
void open_queue_set_bound(struct broker *broker, struct bound *bound, const struct job *best);

static inline struct queue *bound_queue(struct bound *bound)
{
    return container_of(bound, struct queue, bound);
}

#endif
