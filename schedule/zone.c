/* SPDX-License-Identifier: MIT */
#include "schedule/zone.h"

#include "schedule/date.h"

static int32_t no_offset(const struct zone *zone, int64_t at)
{
    (void)zone;
    (void)at;
    return 0;
}

const struct zone zone_utc = {.offset_at = no_offset};

// The first moment in (from, to] at which the offset is not the one of `from`; `to` is such a one.
static int64_t find_change(const struct zone *zone, int64_t from, int64_t to)
{
    int32_t offset = zone_offset(zone, from);

    while (to - from > 1) {
        int64_t middle = from + (to - from) / 2;

        if (zone_offset(zone, middle) == offset) {
            from = middle;
        } else {
            to = middle;
        }
    }
    return to;
}

int64_t zone_offset_ends(const struct zone *zone, int64_t at, int64_t until_at)
{
    int32_t offset = zone_offset(zone, at);

    while (at < until_at) {
        int64_t next = until_at - at > DAY_SECONDS ? at + DAY_SECONDS : until_at;

        if (zone_offset(zone, next) != offset) {
            return find_change(zone, at, next);
        }
        at = next;
    }
    return until_at;
}
