/* SPDX-License-Identifier: MIT */
#include "server/calendar.h"

#include "server/config/schedule_section.h"

#include <stdlib.h>

static nsec_t chore_due(const void *context)
{
    return schedules_due(context);
}

static void chore_work(void *context)
{
    schedules_work(context);
}

struct chore calendar_chore(struct schedules *schedules)
{
    return (struct chore){
        .due = chore_due, .work = chore_work, .context = schedules, .most = STORE_EASY};
}

bool calendar_adopt(struct schedules *schedules, const struct settings *settings,
                    struct error_text *why)
{
    const struct config_sections *sections = &settings->named[SETTINGS_SCHEDULES];
    struct schedule_spec *specs = calloc(sections->count + 1, sizeof *specs);
    bool good = false;

    (void)error_set(why, "no memory");
    if (specs) {
        for (size_t i = 0; i < sections->count; i++) {
            specs[i] = schedule_section_spec(&sections->all[i]);
        }
        good = schedules_adopt(schedules, specs, sections->count, why);
    }
    free(specs);
    if (!good) {
        (void)error_prefix(why, "schedules: ");
    }
    return good;
}

struct schedules *calendar_open(struct broker *broker, const struct settings *settings,
                                struct error_text *why)
{
    struct schedules *schedules = schedules_new(broker, &schedule_zones);

    if (!schedules) {
        error_set(why, "schedules: no memory");
        return NULL;
    }
    if (!calendar_adopt(schedules, settings, why)) {
        schedules_free(schedules);
        return NULL;
    }
    return schedules;
}
