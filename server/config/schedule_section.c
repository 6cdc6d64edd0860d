/* SPDX-License-Identifier: MIT */
#include "server/config/schedule_section.h"

#include "schedule/schedule.h"
#include "schedule/system/system_zone.h"

#include <string.h>

// The limit of a TTR, which is stored in whole seconds.
#define TTR_MOST (INT64_C(100) * 365 * 86400 * NSEC_PER_SEC)

_Static_assert(sizeof(enum schedule_missed) == sizeof(int) &&
                   sizeof(enum schedule_overlap) == sizeof(int),
               "setting_parse() stores a choice as an int");

const struct zone_source schedule_zones = {.open = system_zone_open, .close = system_zone_close};

static const struct option schedule_options[] = {
    {.name = "cron",
     .kind = OPTION_TEXT,
     .live = true,
     .offset = offsetof(struct schedule_section, cron),
     .default_value = "",
     .effect = "Times: minute, hour, day of month, month, day of week, or a word such as @daily."},
    {.name = "timezone",
     .kind = OPTION_TEXT,
     .live = true,
     .offset = offsetof(struct schedule_section, timezone),
     .default_value = "",
     .effect = "Time zone, such as Europe/Berlin; empty: the zone of the machine."},
    {.name = "queue",
     .kind = OPTION_TEXT,
     .live = true,
     .offset = offsetof(struct schedule_section, queue),
     .default_value = "",
     .effect = "Queue of the jobs."},
    {.name = "body",
     .kind = OPTION_TEXT,
     .live = true,
     .offset = offsetof(struct schedule_section, body),
     .default_value = "",
     .effect = "Body of the jobs."},
    {.name = "pri",
     .kind = OPTION_NUMBER,
     .live = true,
     .offset = offsetof(struct schedule_section, pri),
     .default_value = "65536",
     .max = UINT32_MAX,
     .effect = "Priority of the jobs; 0 is the highest."},
    {.name = "ttr",
     .kind = OPTION_DURATION,
     .live = true,
     .offset = offsetof(struct schedule_section, spec.ttr_for),
     .default_value = "0",
     .max = TTR_MOST,
     .effect = "TTR of the jobs; 0: as long as the worker is connected."},
    {.name = "missed",
     .kind = OPTION_CHOICE,
     .live = true,
     .offset = offsetof(struct schedule_section, spec.missed),
     .default_value = "skip",
     .choices = "skip|once|all",
     .effect = "What happens for times that passed while the broker did not run."},
    {.name = "overlap",
     .kind = OPTION_CHOICE,
     .live = true,
     .offset = offsetof(struct schedule_section, spec.overlap),
     .default_value = "allow",
     .choices = "allow|skip",
     .effect = "Whether a time submits its job while the previous job is unfinished."},
    {.name = NULL},
};

static bool schedule_section_check_name(const char *name, struct error_text *why)
{
    return schedule_name_valid(slice_str(name)) ||
           error_set(why, "the name of a schedule has 1 to %d letters, digits, dots, _ and -",
                     SCHEDULE_NAME_MAX);
}

static bool schedule_section_finish(void *values, struct error_text *why)
{
    struct schedule_section *section = values;

    section->spec.cron = slice_str(section->cron);
    section->spec.timezone = slice_str(section->timezone);
    section->spec.queue = slice_str(section->queue);
    section->spec.body = slice_str(section->body);
    section->spec.pri = (uint32_t)section->pri;
    return schedule_check(&section->spec, &schedule_zones, why);
}

const struct config_kind schedule_section_kind = {
    .word = "schedule",
    .options = schedule_options,
    .size = sizeof(struct schedule_section),
    .most = SCHEDULES_MAX,
    .check_name = schedule_section_check_name,
    .finish = schedule_section_finish,
};

struct schedule_spec schedule_section_spec(const struct config_section *section)
{
    const struct schedule_section *values = section->values;
    struct schedule_spec spec = values->spec;

    spec.name = slice_str(section->name);
    return spec;
}
