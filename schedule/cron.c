/* SPDX-License-Identifier: MIT */

// The search for matching moments. The first part searches the calendar alone, in local time, as if
// clocks were never set. The second part walks over the stretches of real time in which the offset
// of the zone stays the same, a few days at a time, and skips days without a match in the calendar.

#include "schedule/cron.h"

#include "schedule/date.h"

//
// Local time
//

// A weekday falls on the same day of the month again after 28 years, or after 40 years if a century
// without a leap day is in between.
#define CRON_YEARS_MAX 41

static bool cron_has(uint64_t set, int value)
{
    return (set >> value & 1) != 0;
}

// The least member of the set in [from, end); `end`: there is none.
static int cron_member_from(uint64_t set, int from, int end)
{
    while (from < end && !cron_has(set, from)) {
        from++;
    }
    return from;
}

bool cron_has_dates(const struct cron *cron)
{
    const int leap_year = 2000;

    for (int month = 1; month <= 12; month++) {
        int length = date_month_length(leap_year, month);

        if (cron_has(cron->months, month) &&
            (cron_member_from(cron->days, 1, length + 1) <= length ||
             (cron->either_day && cron->weekdays != 0))) {
            return true;
        }
    }
    return false;
}

static bool cron_matches_date(const struct cron *cron, struct date date, int64_t days)
{
    bool by_day = cron_has(cron->days, date.day);
    bool by_weekday = cron_has(cron->weekdays, date_weekday(days));

    return cron_has(cron->months, date.month) &&
           (cron->either_day ? by_day || by_weekday : by_day && by_weekday);
}

// The first matching minute of the day from `from` on. False: there is none.
static bool cron_minute_from(const struct cron *cron, int from, int *found)
{
    int hour = cron_member_from(cron->hours, from / 60, 24);
    int minute = cron_member_from(cron->minutes, hour == from / 60 ? from % 60 : 0, 60);

    if (minute == 60) {
        hour = cron_member_from(cron->hours, hour + 1, 24);
        minute = cron_member_from(cron->minutes, 0, 60);
    }
    *found = hour * 60 + minute;
    return hour < 24;
}

// The first matching local time, in seconds, from `from` on. False: there is none within
// CRON_YEARS_MAX.
static bool cron_next_local(const struct cron *cron, int64_t from, int64_t *found)
{
    int64_t minutes = floor_div(from + MINUTE_SECONDS - 1, MINUTE_SECONDS);
    int64_t days = floor_div(minutes, 24 * 60);
    int begin = (int)(minutes - days * 24 * 60), minute;
    struct date date = date_from_days(days);
    int64_t last_year = date.year + CRON_YEARS_MAX;

    while (date.year <= last_year) {
        if (cron_matches_date(cron, date, days) && cron_minute_from(cron, begin, &minute)) {
            *found = days * DAY_SECONDS + (int64_t)minute * MINUTE_SECONDS;
            return true;
        }
        days += cron_has(cron->months, date.month)
                    ? 1
                    : date_month_length(date.year, date.month) - date.day + 1;
        date = date_from_days(days);
        begin = 0;
    }
    return false;
}

//
// Real time
//

// Clocks were never set by more than a day at once (where the date line moved). So local times that
// were shown longer ago than this cannot come again.
#define LOOK_BACK ((int64_t)2 * DAY_SECONDS)
#define WINDOW ((int64_t)2 * DAY_SECONDS)

static int64_t cron_larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

// The moment before `until` at which the zone's offset of `at` ends, or `until`. Looks once a day:
// two changes within a day that cancel each other out are not found, but no zone ever had such.
static int64_t cron_offset_end(const struct zone *zone, int64_t at, int64_t until)
{
    int32_t offset = zone_offset(zone, at);
    int64_t changed = at;

    do {
        at = changed;
        if (at >= until) {
            return until;
        }
        changed = until - at > DAY_SECONDS ? at + DAY_SECONDS : until;
    } while (zone_offset(zone, changed) == offset);
    while (changed - at > 1) {
        int64_t middle = at + (changed - at) / 2;

        if (zone_offset(zone, middle) == offset) {
            at = middle;
        } else {
            changed = middle;
        }
    }
    return changed;
}

// Whether a local time in [from, to) matches.
static bool cron_has_between(const struct cron *cron, int64_t from, int64_t to)
{
    int64_t local;

    return cron_next_local(cron, from, &local) && local < to;
}

// The first matching moment in (after, until).
static bool cron_next_within(const struct cron *cron, const struct zone *zone, int64_t after,
                             int64_t until, int64_t *at)
{
    // Clocks have shown the local times before this one already.
    int64_t passed = INT64_MIN;
    int64_t ends, local;

    for (int64_t begins = after - LOOK_BACK; begins < until; begins = ends) {
        int32_t offset = zone_offset(zone, begins);
        int64_t from = begins + offset;

        ends = cron_offset_end(zone, begins, until);
        if (!cron->real_time && passed != INT64_MIN) {
            if (begins > after && cron_has_between(cron, passed, from)) {
                *at = begins;
                return true;
            }
            from = cron_larger(from, passed);
        }
        if (cron_next_local(cron, cron_larger(from, after + 1 + offset), &local) &&
            local < ends + offset) {
            *at = local - offset;
            return true;
        }
        passed = cron_larger(passed, ends + offset);
    }
    return false;
}

bool cron_next(const struct cron *cron, const struct zone *zone, nsec_t after, nsec_t *at)
{
    int64_t begin = floor_div(after, NSEC_PER_SEC);
    int64_t last = begin + (int64_t)CRON_YEARS_MAX * 366 * DAY_SECONDS;
    int64_t most = NSEC_NEVER / NSEC_PER_SEC - WINDOW;

    for (int64_t from = begin; from < last && from < most;) {
        int64_t until = from + WINDOW;
        int64_t found;

        if (cron_next_within(cron, zone, from, until, &found)) {
            *at = found * NSEC_PER_SEC;
            return true;
        }
        // Until a day or more before the next local time that matches, no change of clocks can make
        // anything match.
        int64_t local = until + zone_offset(zone, until);

        if (!cron_next_local(cron, local, &found)) {
            return false;
        }
        from = until - 1 + cron_larger(found - local - LOOK_BACK, 0);
    }
    return false;
}

// Some matching moment in (after, until]. The search begins near `until` and goes back twice as far
// each time, so that few moments are between the result and `until`.
static bool cron_late_match(const struct cron *cron, const struct zone *zone, nsec_t after,
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

    if (until <= after || !cron_late_match(cron, zone, after, until, at)) {
        return false;
    }
    // Bisection: `*at` matches, and nothing in (none_from, until] does.
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
