/* SPDX-License-Identifier: MIT */

// Timers, and the broker's calendar. The wall clock may be set at any time, and the age of a job
// must not jump with it, so that its moment of submission is kept by the calendar. Shown by the
// wall clock, it is the time that the clock would have shown, had it been set then as it is now.

#include "core/timers.h"

#include "core/broker_private.h"

static bool timer_before(const struct tree_node *a, const struct tree_node *b)
{
    const struct timer *x = container_of((struct tree_node *)(uintptr_t)a, struct timer, node);
    const struct timer *y = container_of((struct tree_node *)(uintptr_t)b, struct timer, node);

    if (x->at != y->at || x->rank == y->rank) {
        return x->at != y->at ? x->at < y->at : (uintptr_t)x < (uintptr_t)y;
    }
    return x->rank < y->rank;
}

void timer_set(struct tree *tree, struct timer *timer, nsec_t at, uint64_t rank)
{
    if (at == timer->at && (rank == timer->rank || at == NSEC_NEVER)) {
        return;
    }
    if (timer->at != NSEC_NEVER) {
        tree_remove(tree, &timer->node, timer_before);
    }
    timer->at = at;
    timer->rank = rank;
    if (at != NSEC_NEVER) {
        tree_insert(tree, &timer->node, timer_before);
    }
}

// The two clocks are not read at the same moment: a smaller difference is not a step.
#define STEP_LEAST NSEC_PER_SEC
#define CREATED_MAX_MS ((UINT64_C(1) << 42) - 1)

static uint64_t calendar_clamp(nsec_t at_ms)
{
    if (at_ms < 0) {
        return 0;
    }
    return (uint64_t)at_ms > CREATED_MAX_MS ? CREATED_MAX_MS : (uint64_t)at_ms;
}

void calendar_begin(struct broker *broker)
{
    broker->calendar.epoch_for = broker->now.wall - broker->now.mono;
}

void calendar_review(struct broker *broker)
{
    nsec_t calendar_at = broker->now.mono + broker->calendar.epoch_for;
    nsec_t ahead_for = broker->now.wall - calendar_at;
    nsec_t step_for = ahead_for - broker->calendar.stepped_for;

    if (step_for >= STEP_LEAST || step_for <= -STEP_LEAST) {
        broker->calendar.stepped_for = ahead_for;
    }
}

uint64_t calendar_now_ms(const struct broker *broker)
{
    return calendar_clamp((broker->now.mono + broker->calendar.epoch_for) / NSEC_PER_MSEC);
}

uint64_t calendar_to_wall_ms(const struct broker *broker, uint64_t at_ms)
{
    return calendar_clamp((nsec_t)at_ms + broker->calendar.stepped_for / NSEC_PER_MSEC);
}

uint64_t calendar_from_wall_ms(const struct broker *broker, uint64_t wall_ms)
{
    uint64_t now_ms = calendar_now_ms(broker);
    uint64_t at_ms = calendar_clamp((nsec_t)(wall_ms & CREATED_MAX_MS) -
                                    broker->calendar.stepped_for / NSEC_PER_MSEC);

    return at_ms < now_ms ? at_ms : now_ms;
}

nsec_t calendar_since(const struct broker *broker, uint64_t at_ms)
{
    nsec_t since_for =
        broker->now.mono + broker->calendar.epoch_for - (nsec_t)at_ms * NSEC_PER_MSEC;

    return since_for > 0 ? since_for : 0;
}
