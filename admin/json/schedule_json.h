/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_JSON_SCHEDULE_JSON_H
#define TANDEM_ADMIN_JSON_SCHEDULE_JSON_H

// Schedules as documents of the API. Each function returns NULL if there is no memory.

#include "schedule/schedule.h"

#include <jansson.h>

// The names of these values, by enum schedule_missed and enum schedule_overlap, ending with NULL.
extern const char *const schedule_missed_names[];
extern const char *const schedule_overlap_names[];

// `Schedule`, and with the body of its jobs `ScheduleDetail`.
json_t *schedule_json(const struct schedule_info *info);
json_t *schedule_detail_json(const struct schedule_info *info);

#endif
