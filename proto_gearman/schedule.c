/* SPDX-License-Identifier: MIT */
#include "proto_gearman/schedule.h"

#include "core/base/digits.h"

#include <time.h>

enum field { MINUTE, HOUR, DAY, MONTH, WEEKDAY };

#define ANY (-1)
// Days of the month and of the week meet again after 28 years, or, across a century without a leap
// day, after 40.
#define YEARS_MAX 41

struct range {
    int least, most;
};

static const struct range ranges[GEAR_SCHEDULE_FIELDS] = {
    [MINUTE] = {0, 59}, [HOUR] = {0, 23}, [DAY] = {1, 31}, [MONTH] = {1, 12}, [WEEKDAY] = {0, 6},
};

bool gear_epoch_parse(struct slice text, nsec_t *at)
{
    const uint64_t most = (uint64_t)(NSEC_NEVER / NSEC_PER_SEC);
    uint64_t seconds;

    if (!digits_read(text, &seconds)) {
        return false;
    }
    *at = (nsec_t)(seconds < most ? seconds : most) * NSEC_PER_SEC;
    return true;
}

static bool parse_field(struct slice text, struct range range, int *value)
{
    uint64_t number;

    if (text.len == 0 || slice_equal(text, SLICE("*"))) {
        *value = ANY;
        return true;
    }
    if (!digits_read(text, &number) || number > (uint64_t)range.most ||
        number < (uint64_t)range.least) {
        return false;
    }
    *value = (int)number;
    return true;
}

static bool matches(int wanted, int value)
{
    return wanted == ANY || wanted == value;
}

static int days_in_month(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

    return days[month] + (month == 1 && leap);
}

// Whether any year has the wanted day.
static bool day_exists(const int wanted[GEAR_SCHEDULE_FIELDS])
{
    const int leap_year = 2000;

    return wanted[DAY] == ANY || wanted[MONTH] == ANY ||
           wanted[DAY] <= days_in_month(leap_year, wanted[MONTH] - 1);
}

// Moves the day on by that many days, at most to the first of the next month. Of a `struct tm`,
// only the date and the day of the week are kept right.
static void advance(struct tm *day, int days)
{
    day->tm_wday = (day->tm_wday + days) % 7;
    day->tm_mday += days;
    if (day->tm_mday > days_in_month(day->tm_year + 1900, day->tm_mon)) {
        day->tm_mday = 1;
        day->tm_mon++;
    }
    if (day->tm_mon == 12) {
        day->tm_mon = 0;
        day->tm_year++;
    }
}

// How many days it is at least from one that does not match to one that does.
static int days_to_go(const int wanted[GEAR_SCHEDULE_FIELDS], const struct tm *day)
{
    int rest_of_month = days_in_month(day->tm_year + 1900, day->tm_mon) - day->tm_mday + 1;

    if (!matches(wanted[MONTH], day->tm_mon + 1)) {
        return rest_of_month;
    }
    if (wanted[DAY] == ANY) {
        return 1;
    }
    return wanted[DAY] > day->tm_mday && wanted[DAY] - day->tm_mday < rest_of_month
               ? wanted[DAY] - day->tm_mday
               : rest_of_month;
}

static bool day_matches(const int wanted[GEAR_SCHEDULE_FIELDS], const struct tm *day)
{
    return matches(wanted[DAY], day->tm_mday) && matches(wanted[MONTH], day->tm_mon + 1) &&
           matches(wanted[WEEKDAY], (day->tm_wday + 6) % 7);
}

// How many minutes it is at least until the hour and the minute match; 0 where they do.
static int minutes_to_go(const int wanted[GEAR_SCHEDULE_FIELDS], const struct tm *local)
{
    int rest_of_hour = 60 - local->tm_min;

    if (!matches(wanted[HOUR], local->tm_hour)) {
        return rest_of_hour;
    }
    if (matches(wanted[MINUTE], local->tm_min)) {
        return 0;
    }
    return wanted[MINUTE] > local->tm_min ? wanted[MINUTE] - local->tm_min : rest_of_hour;
}

// -1, 0 or 1, as the date of `a` is before, at or after that of `b`.
static int compare_dates(const struct tm *a, const struct tm *b)
{
    const int differences[] = {a->tm_year - b->tm_year, a->tm_mon - b->tm_mon,
                               a->tm_mday - b->tm_mday};

    for (int i = 0; i < 3; i++) {
        if (differences[i] != 0) {
            return differences[i] < 0 ? -1 : 1;
        }
    }
    return 0;
}

// The first matching minute of that day that begins after `now`. It is looked for in real time, so
// that a minute that is left out when clocks are set forward does not match, and of one that comes
// twice, the first that is still to come does.
static bool next_on_day(const int wanted[GEAR_SCHEDULE_FIELDS], const struct tm *day, time_t now,
                        time_t *found)
{
    struct tm local = {
        .tm_year = day->tm_year, .tm_mon = day->tm_mon, .tm_mday = day->tm_mday, .tm_isdst = -1};
    time_t at = mktime(&local);

    if (at <= now) {
        at = now - now % 60 + 60;
    }
    while (localtime_r(&at, &local)) {
        int date = compare_dates(&local, day);
        int minutes = minutes_to_go(wanted, &local);

        if (date > 0) {
            return false;
        }
        // Where clocks are set at midnight, the day may begin an hour later than it should.
        if (date == 0 && minutes == 0) {
            *found = at;
            return true;
        }
        at += (time_t)(minutes > 0 ? minutes : 1) * 60;
    }
    return false;
}

static bool parse_fields(const struct slice fields[GEAR_SCHEDULE_FIELDS],
                         int wanted[GEAR_SCHEDULE_FIELDS])
{
    for (int i = 0; i < GEAR_SCHEDULE_FIELDS; i++) {
        if (!parse_field(fields[i], ranges[i], &wanted[i])) {
            return false;
        }
    }
    return true;
}

bool gear_schedule_next(const struct slice fields[GEAR_SCHEDULE_FIELDS], nsec_t now, nsec_t *at)
{
    time_t seconds = (time_t)(now / NSEC_PER_SEC);
    int wanted[GEAR_SCHEDULE_FIELDS];
    time_t found;
    struct tm day;
    int last;

    if (!parse_fields(fields, wanted) || !day_exists(wanted) || !localtime_r(&seconds, &day)) {
        return false;
    }
    last = day.tm_year + YEARS_MAX;
    for (; day.tm_year <= last; advance(&day, days_to_go(wanted, &day))) {
        if (day_matches(wanted, &day) && next_on_day(wanted, &day, seconds, &found)) {
            *at = (nsec_t)found * NSEC_PER_SEC;
            return true;
        }
    }
    return false;
}
