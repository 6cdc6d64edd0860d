/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_SHOWN_SCHEDULE_H
#define TANDEM_ADMIN_SHOWN_SCHEDULE_H

// How the API says what is known of a schedule.

#include "schedule/schedule.h"

#include <jansson.h>

// The values of these, in the order of their enums; NULL at the end.
extern const char *const shown_missed[];
extern const char *const shown_overlap[];

json_t *shown_schedule(const struct schedule_info *info);

// With the body of its jobs.
json_t *shown_schedule_detail(const struct schedule_info *info);

#endif
