/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_CLEANUP_H
#define TANDEM_CORE_CLEANUP_H

// Private to the core: what goes when nothing refers to it any more. Each of these may end a queue:
// the last job, subscription or holder takes it along, unless it is kept.

#include "core/session_private.h"

// Takes a job out of everything and frees it. Its interest has been given up (watch.h).
void job_end(struct broker *broker, struct job *job);

// Ends a subscription; leases are not touched.
void subscription_end(struct subscription *subscription);

// Frees the queue where nothing refers to it any more; the store is told that its pause is over.
void queue_vanish_if_idle(struct broker *broker, struct queue *queue);

#endif
