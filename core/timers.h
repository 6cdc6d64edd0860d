/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_TIMERS_H
#define TANDEM_CORE_TIMERS_H

// Private to the core: timers in trees ordered by their moments, and the broker's calendar.

#include "core/base/macros.h"
#include "core/base/nsec.h"
#include "core/base/tree.h"

#include <stdint.h>

struct broker;

enum clock { CLOCK_MONO, CLOCK_WALL };
#define CLOCKS 2

// An entry in one of the broker's trees of timers. `at` is NSEC_NEVER while it is in none. Of
// timers of the same moment, the lowest rank is first.
struct timer {
    struct tree_node node;
    nsec_t at;
    uint64_t rank;
};

// Puts the timer into the tree, moves it there, or (NSEC_NEVER) takes it out.
void timer_set(struct tree *tree, struct timer *timer, nsec_t at, uint64_t rank);

static inline struct timer *timer_first(const struct tree *tree)
{
    struct tree_node *node = tree_first(tree);

    return node ? container_of(node, struct timer, node) : NULL;
}

// The broker's calendar starts with the wall clock and runs with the monotonic one, so that the age
// of a job does not jump when the wall clock is set. Its moments are whole milliseconds, in 42
// bits.

void calendar_begin(struct broker *broker);

// Called after the clocks were read: notices steps of the wall clock.
void calendar_review(struct broker *broker);

// The present.
uint64_t calendar_now_ms(const struct broker *broker);

// Converts a moment of the calendar to the wall clock as it is set now, and back; the latter is
// never in the future.
uint64_t calendar_to_wall_ms(const struct broker *broker, uint64_t at_ms);
uint64_t calendar_from_wall_ms(const struct broker *broker, uint64_t wall_ms);

// The time since that moment.
nsec_t calendar_since(const struct broker *broker, uint64_t at_ms);

#endif
