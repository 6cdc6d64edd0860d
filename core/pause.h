/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_PAUSE_H
#define TANDEM_CORE_PAUSE_H

// Private to the core: queues from which nothing is taken until a moment. They stand in a tree by
// that moment, and in a list by when the store wrote their pause last.

#include "core/queue.h"

// Nothing is taken from it until that moment, monotonic.
void queue_pause(struct broker *broker, struct queue *queue, nsec_t pause_for, nsec_t until_at);

// Ends its pause: it is in broker->matching.backlog, where jobs and waiters are to meet, if it is
// open.
void queue_resume(struct broker *broker, struct queue *queue);

// The queue is about to be freed: it is in no container of paused ones any more.
void queue_forget_pause(struct broker *broker, struct queue *queue);

#endif
