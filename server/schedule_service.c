/* SPDX-License-Identifier: MIT */
#include "server/schedule_service.h"

#include "server/config/schedule_section.h"

#include <stdlib.h>

static nsec_t schedule_service_due(const void *context)
{
    return schedules_due(context);
}

static void schedule_service_run(void *context)
{
    schedules_work(context);
}

struct background_task schedule_service_task(struct schedules *schedules)
{
    return (struct background_task){.due = schedule_service_due,
                                    .work = schedule_service_run,
                                    .context = schedules,
                                    .most = STORE_EASY};
}

bool schedule_service_adopt(struct schedules *schedules, const struct settings *settings,
                            struct error_text *why)
{
    const struct config_sections *sections = &settings->named[SETTINGS_SCHEDULES];
    struct schedule_spec *specs = calloc(sections->count + 1, sizeof *specs);
    bool good;

    if (!specs) {
        return error_set(why, "schedules: no memory");
    }
    for (size_t i = 0; i < sections->count; i++) {
        specs[i] = schedule_section_spec(&sections->all[i]);
    }
    good = schedules_adopt(schedules, specs, sections->count, why);
    free(specs);
    return good || error_prefix(why, "schedules: ");
}

struct schedules *schedule_service_open(struct broker *broker, const struct settings *settings,
                                        struct error_text *why)
{
    struct schedules *schedules = schedules_new(broker, &schedule_zones);

    if (!schedules) {
        error_set(why, "schedules: no memory");
        return NULL;
    }
    if (!schedule_service_adopt(schedules, settings, why)) {
        schedules_free(schedules);
        return NULL;
    }
    return schedules;
}
