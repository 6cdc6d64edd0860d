/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SCHEDULE_ZONE_H
#define TANDEM_SCHEDULE_ZONE_H

// A time zone: the offset of local time from UTC at each moment. The host implements it. Moments
// are seconds since 1970. A local time is written as the moment at which UTC would show it: the
// local time of a moment is the sum of the moment and the offset.
//
// When clocks are set forward, some local times never come (a gap); when they are set back, some
// come twice.

#include <stdint.h>

struct zone {
    // In seconds. The offset of a moment never changes.
    int32_t (*offset_at)(const struct zone *zone, int64_t at);
};

static inline int32_t zone_offset(const struct zone *zone, int64_t at)
{
    return zone->offset_at(zone, at);
}

#endif
