/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_METRICS_PICK_H
#define TANDEM_ADMIN_METRICS_PICK_H

// The busiest queues, found by one walk over all of them, in slices: a heap keeps the best that
// were offered so far, and no more of them than there is room for. What can be told of a queue only
// by looking at it is noted on the way; of those that are not kept it is put together.
//
// A queue is known by its place in the broker's table, since it may go before the walk is over.

#include "core/base/macros.h"
#include "core/queue.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What was seen on the way. Of the rest it is the sum, and of the ages the greatest.
struct metric_seen {
    uint64_t oldest_ns; // how long the oldest ready job has waited
    uint64_t waiting;
    uint64_t subscriptions;
    uint64_t paused;                 // 0 or 1
    uint64_t closed[CLOSED_REASONS]; // likewise, by reason
};

struct metric_pick {
    uint64_t rank;  // the greater, the busier
    uint32_t place; // of equal ones, the lower is better
    struct metric_seen seen;
};

struct metric_picks {
    struct metric_pick *all; // owned; a heap with the worst on top, until they are sorted
    size_t count, room;
    struct metric_seen rest; // of those that were offered and are not among them
};

// Room for so many; false without memory.
bool metric_picks_begin(struct metric_picks *picks, size_t room) MUST_USE;
void metric_picks_free(struct metric_picks *picks);

void metric_picks_offer(struct metric_picks *picks, const struct metric_pick *pick);

// The walk is over: they are in the order of their places from now on.
void metric_picks_sort(struct metric_picks *picks);

// One of them is to be with the rest after all.
void metric_seen_add(struct metric_seen *rest, const struct metric_seen *seen);

#endif
