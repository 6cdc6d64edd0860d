/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SCHEDULE_CRON_LOCAL_H
#define TANDEM_SCHEDULE_CRON_LOCAL_H

// What matches by the calendar alone, as if clocks were never set.

#include "schedule/cron.h"

#include <stdbool.h>
#include <stdint.h>

// Days of the month and of the week meet again after 28 years, or, across a century without a leap
// day, after 40.
#define CRON_YEARS_MAX 41

// The first local time, in seconds as zone.h has it, that matches and is not before `from`. False
// where there is none within CRON_YEARS_MAX.
bool cron_next_local(const struct cron *cron, int64_t from, int64_t *found);

#endif
