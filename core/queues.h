/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_QUEUES_H
#define TANDEM_CORE_QUEUES_H

// Queues: where jobs of one name wait. A queue is made by whoever first refers to it, and vanishes
// when nothing does, unless it is kept. A pause and limits close it, to workers and to submitters.

#include "core/base/macros.h"
#include "core/base/nsec.h"
#include "core/base/slice.h"
#include "core/status.h"
#include "core/words.h"

#include <stdbool.h>
#include <stdint.h>

// Finds the queue of that name or creates it, and counts the caller as one who refers to it.
// STATUS_NO_MEMORY, STATUS_TOO_LARGE, STATUS_BAD_NAME.
enum status broker_queue_hold(struct broker *broker, struct slice name,
                              struct queue **queue) MUST_USE;

// The caller refers to it no longer. A queue that is not kept vanishes when it has no job, no
// subscription and no holder left.
void broker_queue_drop(struct broker *broker, struct queue *queue);

// The queue of that name, NULL where there is none. Borrowed.
struct queue *broker_queue_find(struct broker *broker, struct slice name);

// Whether the queue stays when nothing refers to it. A queue that is kept no longer vanishes at
// once where nothing else refers to it.
void broker_queue_keep(struct broker *broker, struct queue *queue, bool keep);

// Walks all queues: the first at place `*cursor` or after it; moves the cursor behind it; NULL at
// the end. Start with 0. Queues that come or go in between are seen or not; none is seen twice.
struct queue *broker_queue_next(struct broker *broker, uint32_t *cursor);

// Nothing is taken from the queue for this long; 0 ends a pause. At its end jobs and waiters meet.
// STATUS_NO_SPACE leaves things as they were.
enum status broker_pause(struct broker *broker, struct queue *queue, nsec_t pause_for) MUST_USE;

// The most jobs (ready, reserved and delayed) that the queue may have for a submission of each
// band to be accepted; 0 for no limit.
void broker_queue_limit(struct queue *queue, const uint32_t limits[BAND_COUNT]);

#endif
