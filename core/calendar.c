/* SPDX-License-Identifier: MIT */

// The broker's own calendar. The wall clock may be set at any time, and an age must not jump with
// it. A job's moment of submission is kept by this calendar; by the wall clock, it is told as it
// would have been, had the clock stood then as it stands now.

#include "core/timers.h"

#include "core/broker_private.h"

// The two clocks are not read at the very same moment: what is less than this is no step.
#define STEP_LEAST NSEC_PER_SEC
#define CREATED_MAX_MS ((UINT64_C(1) << 42) - 1)

static uint64_t fit(nsec_t at_ms)
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
    return fit((broker->now.mono + broker->calendar.epoch_for) / NSEC_PER_MSEC);
}

uint64_t calendar_to_wall_ms(const struct broker *broker, uint64_t at_ms)
{
    return fit((nsec_t)at_ms + broker->calendar.stepped_for / NSEC_PER_MSEC);
}

uint64_t calendar_from_wall_ms(const struct broker *broker, uint64_t wall_ms)
{
    uint64_t now_ms = calendar_now_ms(broker);
    uint64_t at_ms =
        fit((nsec_t)(wall_ms & CREATED_MAX_MS) - broker->calendar.stepped_for / NSEC_PER_MSEC);

    return at_ms < now_ms ? at_ms : now_ms;
}

nsec_t calendar_since(const struct broker *broker, uint64_t at_ms)
{
    nsec_t since_for =
        broker->now.mono + broker->calendar.epoch_for - (nsec_t)at_ms * NSEC_PER_MSEC;

    return since_for > 0 ? since_for : 0;
}
