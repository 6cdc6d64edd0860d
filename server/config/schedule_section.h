/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_CONFIG_SCHEDULE_SECTION_H
#define TANDEM_SERVER_CONFIG_SCHEDULE_SECTION_H

// [schedule NAME]: a scheduled job.

#include "schedule/schedule.h"
#include "server/config/sections.h"

// The time zones of the machine.
extern const struct zone_source schedule_zones;

struct schedule_section {
    // All but the name. Its texts are set from the fields below when the section is finished, and
    // borrow from them.
    struct schedule_spec spec;
    char *cron, *timezone, *queue, *body;
    int64_t pri;
};

extern const struct config_kind schedule_section_kind;

// The schedule of a finished section; it borrows from the section.
struct schedule_spec schedule_section_spec(const struct config_section *section);

#endif
