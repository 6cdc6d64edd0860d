/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_TIMERS_H
#define TANDEM_CORE_TIMERS_H

// Private to the core: moments at which something falls due, and the trees that hold them.

#include "core/base/macros.h"
#include "core/base/nsec.h"
#include "core/base/tree.h"

#include <stdint.h>

enum clock { CLOCK_MONO, CLOCK_WALL };
#define CLOCKS 2

// An entry in one of the broker's trees of moments. `at` is NSEC_NEVER while it is in none. Of
// those that come at the same time, the lowest rank is first.
struct timer {
    struct tree_node node;
    nsec_t at;
    uint64_t rank;
};

// Puts the moment into the tree, moves it there, or (NSEC_NEVER) takes it out.
void timer_set(struct tree *tree, struct timer *moment, nsec_t at, uint64_t rank);

static inline struct timer *timer_first(const struct tree *tree)
{
    struct tree_node *node = tree_first(tree);

    return node ? container_of(node, struct timer, node) : NULL;
}

// Private to the core: the broker's own calendar. It begins with the wall clock, runs with the
// monotonic one, and nobody sets it: the age of a job is counted by it. Moments of it are whole
// milliseconds, in 42 bits.

struct broker;

void calendar_begin(struct broker *broker);

// The clocks were read: sees whether the wall clock has been set.
void calendar_review(struct broker *broker);

// The present.
uint64_t calendar_now_ms(const struct broker *broker);

// A moment of the calendar as the wall clock says it now, and the way back, which never ends in the
// future.
uint64_t calendar_to_wall_ms(const struct broker *broker, uint64_t at_ms);
uint64_t calendar_from_wall_ms(const struct broker *broker, uint64_t wall_ms);

// How long ago that was.
nsec_t calendar_since(const struct broker *broker, uint64_t at_ms);

#endif
