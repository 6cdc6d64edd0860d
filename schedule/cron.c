/* SPDX-License-Identifier: MIT */

// When clocks are set is found by walking over the stretches of real time in which the offset of
// the zone stays the same. That is done for a few days at a time; where the calendar alone says
// that nothing matches for longer, the days up to then are left out.

#include "schedule/cron.h"

#include "schedule/cron_local.h"
#include "schedule/date.h"

// How far clocks were ever set at once is a day, where the date line moved; so what is that long
// ago no longer matters to what local times were shown.
#define LOOK_BACK ((int64_t)2 * DAY_SECONDS)
#define WINDOW ((int64_t)2 * DAY_SECONDS)

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

// Whether a time of the day that matches lies between those two local times.
static bool has_between(const struct cron *cron, int64_t from, int64_t to)
{
    int64_t local;

    return cron_next_local(cron, from, &local) && local < to;
}

// The first moment that matches in (after, until).
static bool next_within(const struct cron *cron, const struct zone *zone, int64_t after,
                        int64_t until, int64_t *at)
{
    // Up to here local times have been shown already.
    int64_t shown = INT64_MIN;
    int64_t ends, local;

    for (int64_t begins = after - LOOK_BACK; begins < until; begins = ends) {
        int32_t offset = zone_offset(zone, begins);
        int64_t from = begins + offset;

        ends = zone_offset_ends(zone, begins, until);
        if (!cron->real_time && shown != INT64_MIN) {
            if (begins > after && has_between(cron, shown, from)) {
                *at = begins;
                return true;
            }
            from = larger(from, shown);
        }
        if (cron_next_local(cron, larger(from, after + 1 + offset), &local) &&
            local < ends + offset) {
            *at = local - offset;
            return true;
        }
        shown = larger(shown, ends + offset);
    }
    return false;
}

// From where to look on, where nothing matches up to `until`. False where nothing is to come.
static bool skip_to(const struct cron *cron, const struct zone *zone, int64_t until, int64_t *after)
{
    int64_t local = until + zone_offset(zone, until);
    int64_t found;

    if (!cron_next_local(cron, local, &found)) {
        return false;
    }
    // Until a day or more before it, whatever is done to clocks, nothing matches.
    *after = until - 1 + larger(found - local - LOOK_BACK, 0);
    return true;
}

bool cron_next(const struct cron *cron, const struct zone *zone, nsec_t after, nsec_t *at)
{
    int64_t begin = floor_div(after, NSEC_PER_SEC);
    int64_t last = begin + (int64_t)CRON_YEARS_MAX * 366 * DAY_SECONDS;
    int64_t most = NSEC_NEVER / NSEC_PER_SEC - WINDOW;
    int64_t found;

    for (int64_t from = begin; from < last && from < most;) {
        int64_t until = from + WINDOW;

        if (next_within(cron, zone, from, until, &found)) {
            *at = found * NSEC_PER_SEC;
            return true;
        }
        if (!skip_to(cron, zone, until, &from)) {
            return false;
        }
    }
    return false;
}

// A moment that matches in (after, until], and such that `until` is not far behind it: how long it
// takes to find one is doubled until there is one.
static bool some_between(const struct cron *cron, const struct zone *zone, nsec_t after,
                         nsec_t until, nsec_t *at)
{
    nsec_t back_for = nsec_from_seconds(MINUTE_SECONDS);

    for (;; back_for *= 2) {
        bool whole = back_for >= until - after;
        nsec_t from = whole ? after : until - back_for;

        if (cron_next(cron, zone, from, at) && *at <= until) {
            return true;
        }
        if (whole) {
            return false;
        }
    }
}

bool cron_last(const struct cron *cron, const struct zone *zone, nsec_t after, nsec_t until,
               nsec_t *at)
{
    nsec_t none_from = until, next;

    if (until <= after || !some_between(cron, zone, after, until, at)) {
        return false;
    }
    // `*at` matches, and nothing does that is after `none_from`.
    while (cron_next(cron, zone, *at, &next) && next <= until) {
        nsec_t middle = next + (none_from > next ? (none_from - next) / 2 : 0);

        *at = next;
        if (middle > next && cron_next(cron, zone, middle, &next) && next <= until) {
            *at = next;
        } else {
            none_from = middle;
        }
    }
    return true;
}
