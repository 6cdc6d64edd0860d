/* SPDX-License-Identifier: MIT */
#include "schedule/cron_local.h"

#include "schedule/date.h"

static bool has(uint64_t set, int value)
{
    return (set >> value & 1) != 0;
}

// The least member of the set that is not below `from`, `end` where there is none below that.
static int member_from(uint64_t set, int from, int end)
{
    while (from < end && !has(set, from)) {
        from++;
    }
    return from;
}

static bool date_matches(const struct cron *cron, struct date date, int64_t days)
{
    bool by_day = has(cron->days, date.day);
    bool by_weekday = has(cron->weekdays, date_weekday(days));

    return has(cron->months, date.month) &&
           (cron->either_day ? by_day || by_weekday : by_day && by_weekday);
}

// The first matching minute of a day that is not before that one.
static bool minute_from(const struct cron *cron, int from, int *found)
{
    int hour = member_from(cron->hours, from / 60, 24);
    int minute = member_from(cron->minutes, hour == from / 60 ? from % 60 : 0, 60);

    if (minute == 60) {
        hour = member_from(cron->hours, hour + 1, 24);
        minute = member_from(cron->minutes, 0, 60);
    }
    *found = hour * 60 + minute;
    return hour < 24;
}

// The next day that may match, in days since 1970: the following one, or the first of the next
// month where this month has none.
static int64_t next_day(const struct cron *cron, struct date date, int64_t days)
{
    return has(cron->months, date.month)
               ? days + 1
               : days + date_month_length(date.year, date.month) - date.day + 1;
}

bool cron_next_local(const struct cron *cron, int64_t from, int64_t *found)
{
    int64_t minutes = floor_div(from + MINUTE_SECONDS - 1, MINUTE_SECONDS);
    int64_t days = floor_div(minutes, 24 * 60);
    int begin = (int)(minutes - days * 24 * 60), minute;
    struct date date = date_from_days(days);
    int64_t last_year = date.year + CRON_YEARS_MAX;

    while (date.year <= last_year) {
        if (date_matches(cron, date, days) && minute_from(cron, begin, &minute)) {
            *found = days * DAY_SECONDS + (int64_t)minute * MINUTE_SECONDS;
            return true;
        }
        days = next_day(cron, date, days);
        date = date_from_days(days);
        begin = 0;
    }
    return false;
}

bool cron_has_dates(const struct cron *cron)
{
    const int leap_year = 2000;

    for (int month = 1; month <= 12; month++) {
        int length = date_month_length(leap_year, month);

        if (has(cron->months, month) && (member_from(cron->days, 1, length + 1) <= length ||
                                         (cron->either_day && cron->weekdays != 0))) {
            return true;
        }
    }
    return false;
}
