/* SPDX-License-Identifier: MIT */
#include "schedule/date.h"

#include <stdbool.h>

// The calendar repeats after an era of 400 years. Here a year begins on the 1st of March, so that a
// leap day is the last day of its year.
#define ERA_YEARS 400
#define ERA_DAYS 146097
// From 0000-03-01 to 1970-01-01.
#define DAYS_BEFORE_1970 719468

struct date date_from_days(int64_t days)
{
    int64_t since = days + DAYS_BEFORE_1970;
    int64_t era = floor_div(since, ERA_DAYS);
    int64_t day_of_era = since - era * ERA_DAYS;
    int64_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t march_month = (5 * day_of_year + 2) / 153;
    int month = (int)(march_month < 10 ? march_month + 3 : march_month - 9);

    return (struct date){
        .year = year_of_era + era * ERA_YEARS + (month <= 2),
        .month = month,
        .day = (int)(day_of_year - (153 * march_month + 2) / 5 + 1),
    };
}

int date_weekday(int64_t days)
{
    // 1970-01-01 was a Thursday.
    int64_t since_sunday = days + 4;

    return (int)(since_sunday - floor_div(since_sunday, 7) * 7);
}

int date_month_length(int64_t year, int month)
{
    static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

    return lengths[month - 1] + (month == 2 && leap);
}
