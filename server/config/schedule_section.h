/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_CONFIG_SCHEDULE_SECTION_H
#define TANDEM_SERVER_CONFIG_SCHEDULE_SECTION_H

// [schedule NAME]: a job that is submitted at moments of the calendar.

#include "schedule/schedule.h"
#include "server/config/sections.h"

// What the machine has.
extern const struct zone_source schedule_zones;

struct schedule_section {
    // All but the name; the texts follow from the fields below when the section is finished, and
    // borrow from them.
    struct schedule_spec spec;
    char *cron, *timezone, *queue, *body;
    int64_t pri;
};

extern const struct config_kind schedule_section_kind;

// The section, which is finished. It is borrowed.
struct schedule_spec schedule_section_spec(const struct config_section *section);

#endif
