/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SCHEDULE_PLAN_H
#define TANDEM_SCHEDULE_PLAN_H

// What somebody wants to happen by the calendar, read and checked, with texts of its own and its
// zone open. It does not change; a schedule whose plan is to be another gets another.

#include "core/base/macros.h"

#include "schedule/cron.h"
#include "schedule/schedule.h"
#include "schedule/zone.h"

#include <stdbool.h>

struct plan {
    struct schedule_spec spec; // its texts stand behind this struct
    struct cron cron;
    struct zone *zone;
    const struct zone_source *zones;
    char texts[];
};

// False with the reason where the spec makes no sense, or without memory; `*plan` is not set then.
bool plan_new(const struct schedule_spec *spec, const struct zone_source *zones, struct plan **plan,
              struct schedule_reason *why) MUST_USE;

// NULL is allowed.
void plan_free(struct plan *plan);

// Whether both have the same moments, as they are written.
bool plan_same_moments(const struct plan *a, struct slice cron, struct slice timezone);

#endif
