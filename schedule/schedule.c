/* SPDX-License-Identifier: MIT */
#include "schedule/schedule_private.h"

static const struct schedule *of(const struct tree_node *node)
{
    return container_of((struct tree_node *)(uintptr_t)node, struct schedule, by_wake);
}

static bool wakes_before(const struct tree_node *a, const struct tree_node *b)
{
    const struct schedule *x = of(a), *y = of(b);

    return x->wake_at != y->wake_at ? x->wake_at < y->wake_at : x < y;
}

void schedule_wake(struct schedules *schedules, struct schedule *schedule, nsec_t at)
{
    if (schedule->wakes) {
        tree_remove(&schedules->by_wake, &schedule->by_wake, wakes_before);
    }
    schedule->wakes = at != NSEC_NEVER;
    schedule->wake_at = at;
    if (schedule->wakes) {
        tree_insert(&schedules->by_wake, &schedule->by_wake, wakes_before);
    }
}
