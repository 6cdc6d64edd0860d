/* SPDX-License-Identifier: MIT */
#include "schedule/plan.h"

#include "core/base/macros.h"
#include "core/base/memory.h"
#include "core/types.h"

#include <ctype.h>
#include <stdio.h>

static bool refuse(struct schedule_reason *why, const char *text)
{
    (void)snprintf(why->text, sizeof why->text, "%s", text);
    return false;
}

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

static bool is_queue(struct slice name)
{
    return name.len > 0 && name.len <= QUEUE_NAME_MAX && !memchr(name.ptr, '\0', name.len);
}

static bool check_texts(const struct schedule_spec *spec, struct schedule_reason *why)
{
    if (spec->cron.len == 0 || spec->cron.len > SCHEDULE_CRON_MAX) {
        return refuse(why, "cron: has 1 to 256 bytes");
    }
    if (spec->timezone.len > SCHEDULE_ZONE_MAX) {
        return refuse(why, "timezone: has at most 64 bytes");
    }
    if (!is_queue(spec->queue)) {
        return refuse(why, "queue: has 1 to 512 bytes, none of them NUL");
    }
    if (spec->body.len > SCHEDULE_BODY_MAX) {
        return refuse(why, "body: has at most 65535 bytes");
    }
    if (schedule_contradicts(spec)) {
        return refuse(why,
                      "missed: `all` and `overlap = skip` contradict each other: the job of the "
                      "first missed moment is not done when the next one comes");
    }
    return true;
}

// With its zone open.
static bool check(const struct schedule_spec *spec, const struct zone_source *zones,
                  struct cron *cron, struct zone **zone, struct schedule_reason *why)
{
    struct cron_reason cron_why;

    if (!check_texts(spec, why)) {
        return false;
    }
    if (!cron_parse(spec->cron, cron, &cron_why)) {
        (void)snprintf(why->text, sizeof why->text, "cron: %s", cron_why.text);
        return false;
    }
    *zone = zones->open(spec->timezone);
    return *zone || refuse(why, "timezone: this machine has no such zone; it is a name of the zone "
                                "database, such as Europe/Berlin, Etc/GMT-1 or UTC");
}

bool schedule_check(const struct schedule_spec *spec, const struct zone_source *zones,
                    struct schedule_reason *why)
{
    struct zone *zone = NULL;
    struct cron cron;
    bool makes_sense = check(spec, zones, &cron, &zone, why);

    zones->close(zone);
    return makes_sense;
}

static struct slice copy(char **at, struct slice text)
{
    struct slice kept = slice_of(*at, text.len);

    if (text.len) {
        memcpy(*at, text.ptr, text.len);
        *at += text.len;
    }
    return kept;
}

static struct plan *copy_plan(const struct schedule_spec *spec)
{
    size_t len =
        spec->name.len + spec->cron.len + spec->timezone.len + spec->queue.len + spec->body.len;
    struct plan *plan = malloc(sizeof *plan + len);
    char *at = plan ? plan->texts : NULL;

    if (plan) {
        plan->spec = *spec;
        plan->spec.name = copy(&at, spec->name);
        plan->spec.cron = copy(&at, spec->cron);
        plan->spec.timezone = copy(&at, spec->timezone);
        plan->spec.queue = copy(&at, spec->queue);
        plan->spec.body = copy(&at, spec->body);
    }
    return plan;
}

bool plan_new(const struct schedule_spec *spec, const struct zone_source *zones, struct plan **plan,
              struct schedule_reason *why)
{
    struct zone *zone = NULL;
    struct plan *made;
    struct cron cron;

    if (!schedule_name_valid(spec->name)) {
        return refuse(why, "name: has 1 to 64 letters, digits, dots, _ and -");
    }
    if (!check(spec, zones, &cron, &zone, why)) {
        return false;
    }
    made = copy_plan(spec);
    if (!made) {
        zones->close(zone);
        return refuse(why, "no memory");
    }
    made->cron = cron;
    made->zone = zone;
    made->zones = zones;
    *plan = made;
    return true;
}

void plan_free(struct plan *plan)
{
    if (plan) {
        plan->zones->close(plan->zone);
        free(plan);
    }
}

bool plan_same_moments(const struct plan *a, struct slice cron, struct slice timezone)
{
    return slice_equal(a->spec.cron, cron) && slice_equal(a->spec.timezone, timezone);
}
