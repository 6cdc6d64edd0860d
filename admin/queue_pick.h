/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_QUEUE_PICK_H
#define TANDEM_ADMIN_QUEUE_PICK_H

// The queues of one page of a sorted list: of all that are offered, one after the other, those that
// come first are kept, in a heap that has no more of them than the page has room for. Equal ones go
// by their names.

#include "core/base/macros.h"
#include "core/broker.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What a queue is sorted by. Its name is read for as long as it is picked, so a roll has to have
// it.
struct queue_pick {
    const struct queue *queue;
    uint64_t value; // of the column; 0 where that is the name
};

struct queue_picks {
    struct queue_pick *all; // owned; a heap with the last one on top, until they are sorted
    size_t count, room;
    bool largest_first;
};

// Room for so many, at least one; false without memory.
bool queue_picks_begin(struct queue_picks *picks, size_t room, bool largest_first) MUST_USE;
void queue_picks_free(struct queue_picks *picks);

// Whether a queue of that value and name comes before one of the other.
bool queue_pick_before(const struct queue_picks *picks, uint64_t value, struct slice name,
                       uint64_t other, struct slice other_name);

void queue_picks_offer(struct queue_picks *picks, const struct queue_pick *pick);

// All have been offered: they are in the order of the list from now on.
void queue_picks_sort(struct queue_picks *picks);

#endif
