/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SCHEDULE_ZONE_H
#define TANDEM_SCHEDULE_ZONE_H

// A time zone, as the host hands it in: what local time is ahead of UTC at a moment. All else
// follows from that. Moments are seconds since 1970; a local time is kept as the seconds that it
// would be, were local time UTC: that of a moment is the moment and the offset, together.
//
// Clocks are set forward, and some local times never come (a gap), or back, and some come twice.

#include <stdint.h>

struct zone {
    // In seconds, for any moment; the answer for a moment does not change.
    int32_t (*offset_at)(const struct zone *zone, int64_t at);
};

// UTC; static.
extern const struct zone zone_utc;

static inline int32_t zone_offset(const struct zone *zone, int64_t at)
{
    return zone->offset_at(zone, at);
}

// The moment before `until_at` at which the offset that holds at `at` ends, or `until_at`. Two
// changes within a day that cancel each other out are not seen: no zone has ever had such.
int64_t zone_offset_ends(const struct zone *zone, int64_t at, int64_t until_at);

#endif
