/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_CALENDAR_H
#define TANDEM_CORE_CALENDAR_H

// Private to the core: the broker's own calendar. It begins with the wall clock, runs with the
// monotonic one, and nobody sets it: the age of a job is counted by it. Moments of it are whole
// milliseconds, in 42 bits.

#include "core/base/nsec.h"

#include <stdint.h>

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
