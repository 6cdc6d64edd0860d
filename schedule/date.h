/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SCHEDULE_DATE_H
#define TANDEM_SCHEDULE_DATE_H

// Dates of the Gregorian calendar, and their numbers: days since 1970-01-01. Time zones are not
// known here; zone.h says how local times are written.

#include <stdint.h>

#define MINUTE_SECONDS 60
#define DAY_SECONDS 86400

struct date {
    int64_t year;
    int month; // 1 to 12
    int day;   // 1 to 31
};

struct date date_from_days(int64_t days);

// 0 is Sunday.
int date_weekday(int64_t days);

int date_month_length(int64_t year, int month);

// `number / by`, rounded down. `by` > 0.
static inline int64_t floor_div(int64_t number, int64_t by)
{
    return number / by - (number % by < 0);
}

#endif
