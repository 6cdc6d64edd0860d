/* SPDX-License-Identifier: MIT */
#include "schedule/schedule_private.h"

#include "core/base/memory.h"
#include "core/types.h"

#include <ctype.h>

bool schedule_name_valid(struct slice name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];

        if (!isalnum((unsigned char)c) && c != '.' && c != '_' && c != '-') {
            return false;
        }
    }
    return name.len > 0 && name.len <= SCHEDULE_NAME_MAX;
}

bool schedule_contradicts(const struct schedule_spec *spec)
{
    return spec->missed == SCHEDULE_MISSED_ALL && spec->overlap == SCHEDULE_OVERLAP_SKIP;
}

static bool schedule_check_texts(const struct schedule_spec *spec, struct error_text *why)
{
    if (spec->cron.len == 0 || spec->cron.len > SCHEDULE_CRON_MAX) {
        return error_set(why, "cron: has 1 to 256 bytes");
    }
    if (spec->timezone.len > SCHEDULE_ZONE_MAX) {
        return error_set(why, "timezone: has at most 64 bytes");
    }
    if (spec->queue.len == 0 || spec->queue.len > QUEUE_NAME_MAX ||
        memchr(spec->queue.ptr, '\0', spec->queue.len)) {
        return error_set(why, "queue: has 1 to 512 bytes, none of them NUL");
    }
    if (spec->body.len > SCHEDULE_BODY_MAX) {
        return error_set(why, "body: has at most 65535 bytes");
    }
    if (schedule_contradicts(spec)) {
        return error_set(why, "missed: `all` and `overlap = skip` contradict each other: the job "
                              "of the first missed moment is not done when the next one comes");
    }
    return true;
}

// As schedule_check(); if the spec is valid, `*zone` is open.
static bool schedule_resolve(const struct schedule_spec *spec, const struct zone_source *zones,
                             struct cron *cron, struct zone **zone, struct error_text *why)
{
    if (!schedule_check_texts(spec, why)) {
        return false;
    }
    if (!cron_parse(spec->cron, cron, why)) {
        return error_prefix(why, "cron: ");
    }
    *zone = zones->open(spec->timezone);
    return *zone ||
           error_set(why, "timezone: this machine has no such zone; use a name of the zone "
                          "database, such as Europe/Berlin, Etc/GMT-1 or UTC");
}

bool schedule_check(const struct schedule_spec *spec, const struct zone_source *zones,
                    struct error_text *why)
{
    struct zone *zone = NULL;
    struct cron cron;
    bool valid = schedule_resolve(spec, zones, &cron, &zone, why);

    zones->close(zone);
    return valid;
}

static struct slice schedule_copy_text(char **at, struct slice text)
{
    struct slice copy = slice_of(*at, text.len);

    if (text.len) {
        memcpy(*at, text.ptr, text.len);
        *at += text.len;
    }
    return copy;
}

bool schedule_plan_new(const struct schedule_spec *spec, const struct zone_source *zones,
                       struct schedule_plan **plan, struct error_text *why)
{
    size_t len =
        spec->name.len + spec->cron.len + spec->timezone.len + spec->queue.len + spec->body.len;
    struct zone *zone = NULL;
    struct schedule_plan *made;
    struct cron cron;
    char *at;

    if (!schedule_name_valid(spec->name)) {
        return error_set(why, "name: has 1 to 64 letters, digits, dots, _ and -");
    }
    if (!schedule_resolve(spec, zones, &cron, &zone, why)) {
        return false;
    }
    made = malloc(sizeof *made + len);
    if (!made) {
        zones->close(zone);
        return error_set(why, "no memory");
    }
    at = made->texts;
    made->spec = *spec;
    made->spec.name = schedule_copy_text(&at, spec->name);
    made->spec.cron = schedule_copy_text(&at, spec->cron);
    made->spec.timezone = schedule_copy_text(&at, spec->timezone);
    made->spec.queue = schedule_copy_text(&at, spec->queue);
    made->spec.body = schedule_copy_text(&at, spec->body);
    made->cron = cron;
    made->zone = zone;
    made->zones = zones;
    *plan = made;
    return true;
}

void schedule_plan_free(struct schedule_plan *plan)
{
    if (plan) {
        plan->zones->close(plan->zone);
        free(plan);
    }
}

bool schedule_plan_has_moments(const struct schedule_plan *plan, struct slice cron,
                               struct slice timezone)
{
    return slice_equal(plan->spec.cron, cron) && slice_equal(plan->spec.timezone, timezone);
}
