/* SPDX-License-Identifier: MIT */
#include "schedule/date.h"
#include "schedule/schedule.h"

#include <stdio.h>

struct slice schedule_moment_text(nsec_t at, char text[SCHEDULE_MOMENT_MAX])
{
    int64_t seconds = floor_div(at, NSEC_PER_SEC), days = floor_div(seconds, DAY_SECONDS);
    int of_day = (int)(seconds - days * DAY_SECONDS);
    struct date date = date_from_days(days);
    int len = snprintf(text, SCHEDULE_MOMENT_MAX, "%04d-%02d-%02dT%02d:%02d:%02dZ", (int)date.year,
                       date.month, date.day, of_day / 3600, of_day / 60 % 60, of_day % 60);

    return slice_of(text, (size_t)len);
}
