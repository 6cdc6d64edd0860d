/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SCHEDULE_ZONE_H
#define TANDEM_SCHEDULE_ZONE_H

// A time zone: the offset of local time from UTC at each moment. The host implements it. Moments
// are seconds since 1970. A local time is written as the moment at which UTC would show it: the
// local time of a moment is the sum of the moment and the offset.
//
// When clocks are set forward, some local times never come (a gap); when they are set back, some
// come twice.

#include "core/base/slice.h"

#include <stdint.h>

struct zone {
    // In seconds. The offset of a moment never changes.
    int32_t (*offset_at)(const struct zone *zone, int64_t at);
};

static inline int32_t zone_offset(const struct zone *zone, int64_t at)
{
    return zone->offset_at(zone, at);
}

// Opens and closes time zones. schedule/system has the one that uses the zones of the machine.
struct zone_source {
    struct zone *(*open)(struct slice name); // NULL: no such zone, or no memory
    void (*close)(struct zone *zone);        // NULL is allowed
};

#endif
