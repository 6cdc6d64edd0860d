/* SPDX-License-Identifier: MIT */
#include "schedule/schedule.h"

#include "core/base/log.h"
#include "core/base/memory.h"

#include "schedule/firing.h"
#include "schedule/index.h"
#include "schedule/kept.h"
#include "schedule/schedule_private.h"

#include <stdio.h>

// While there are schedules, the wall clock is looked at so often.
#define LOOK_AFTER NSEC_PER_SEC

//
// Plans
//

// What came of the moments of a schedule that is gone. Where the store has no room for that, the
// next configuration that is taken over forgets it.
static void forget(struct schedules *schedules, struct slice name)
{
    enum status status = broker_memo_drop(schedules->broker, MEMO_FIRED, name);

    if (status != STATUS_OK && status != STATUS_NOT_FOUND) {
        log_warn("schedule_not_forgotten", log_text("schedule", name),
                 log_string("status", status_text(status)));
    }
}

// Puts a plan in the place of another; the schedule goes on by the one that holds. A schedule
// without any ends, and what came of its moments is forgotten.
static void replace_plan(struct schedules *schedules, struct schedule *schedule,
                         struct plan **place, struct plan *plan)
{
    const struct plan *held = schedule_plan(schedule);
    struct plan *old = *place;

    *place = plan;
    if (!schedule_plan(schedule)) {
        forget(schedules, schedule_name(schedule));
        *place = old;
        index_remove(schedules, schedule);
        return;
    }
    if (!held || !plan_same_moments(held, schedule_plan(schedule)->spec.cron,
                                    schedule_plan(schedule)->spec.timezone)) {
        firing_begin(schedules, schedule);
    }
    plan_free(old);
}

static enum status find_or_add(struct schedules *schedules, struct slice name,
                               struct schedule **schedule)
{
    *schedule = index_find(schedules, name);
    if (*schedule) {
        return STATUS_OK;
    }
    if (schedules->count >= SCHEDULES_MAX) {
        return STATUS_TOO_LARGE;
    }
    *schedule = index_add(schedules, name);
    return *schedule ? STATUS_OK : STATUS_NO_MEMORY;
}

//
// Life
//

static void restore_one(struct schedules *schedules, const struct memo *memo)
{
    struct schedule_reason why = {"it cannot be read"};
    struct schedule_spec spec;
    struct schedule *schedule;
    struct plan *plan;

    bool readable = kept_read_spec(memo, &spec);

    // An earlier version took the pair, and did this.
    if (readable && schedule_contradicts(&spec)) {
        spec.missed = SCHEDULE_MISSED_ONCE;
        log_warn("schedule_missed_once", log_text("schedule", memo->key));
    }
    if (!readable || !plan_new(&spec, schedules->zones, &plan, &why)) {
        log_error("schedule_left_out", log_text("schedule", memo->key),
                  log_string("reason", why.text));
        return;
    }
    if (find_or_add(schedules, spec.name, &schedule) != STATUS_OK) {
        log_error("schedule_left_out", log_text("schedule", memo->key),
                  log_string("reason", "no room"));
        plan_free(plan);
        return;
    }
    replace_plan(schedules, schedule, &schedule->given, plan);
}

struct schedules *schedules_new(struct broker *broker, const struct zone_source *zones)
{
    struct schedules *schedules = calloc(1, sizeof *schedules);
    const struct memo *memo;
    uint64_t cursor = 0;

    if (!schedules) {
        return NULL;
    }
    schedules->broker = broker;
    schedules->zones = zones;
    schedules->looked_at = NSEC_NEVER;
    while ((memo = broker_memo_next(broker, MEMO_SCHEDULE, &cursor))) {
        restore_one(schedules, memo);
    }
    return schedules;
}

void schedules_free(struct schedules *schedules)
{
    struct tree_node *node;

    if (!schedules) {
        return;
    }
    while ((node = tree_first(&schedules->by_name))) {
        index_remove(schedules, container_of(node, struct schedule, by_name));
    }
    free(schedules);
}

//
// The configuration
//

// What is to be adopted, made in advance: then nothing can fail.
static bool prepare(struct schedules *schedules, const struct schedule_spec *specs, size_t count,
                    struct plan **plans, struct schedule_reason *why)
{
    struct schedule *schedule;

    for (size_t i = 0; i < count; i++) {
        if (!plan_new(&specs[i], schedules->zones, &plans[i], why)) {
            return false;
        }
        if (find_or_add(schedules, specs[i].name, &schedule) != STATUS_OK) {
            (void)snprintf(why->text, sizeof why->text, "no room for more schedules");
            return false;
        }
    }
    return true;
}

// Without what was prepared, all is as it was.
static void discard(struct schedules *schedules, struct plan **plans, size_t count)
{
    struct schedule *schedule = index_after(schedules, slice_of(NULL, 0)), *next;

    for (size_t i = 0; i < count; i++) {
        plan_free(plans[i]);
    }
    for (; schedule; schedule = next) {
        next = index_after(schedules, schedule_name(schedule));
        if (!schedule_plan(schedule)) {
            index_remove(schedules, schedule);
        }
    }
}

static void adopt_one(struct schedules *schedules, struct plan *plan)
{
    struct schedule *schedule = index_find(schedules, plan->spec.name);

    schedule->adopted = true;
    replace_plan(schedules, schedule, &schedule->file, plan);
}

// Schedules that the configuration no longer has.
static void end_others(struct schedules *schedules)
{
    struct schedule *schedule = index_after(schedules, slice_of(NULL, 0)), *next;

    for (; schedule; schedule = next) {
        next = index_after(schedules, schedule_name(schedule));
        if (schedule->file && !schedule->adopted) {
            replace_plan(schedules, schedule, &schedule->file, NULL);
        } else {
            schedule->adopted = false;
        }
    }
}

// What is kept of schedules that ended while no broker ran.
static void forget_strangers(struct schedules *schedules)
{
    const struct memo *memo;
    uint64_t cursor = 0;

    while ((memo = broker_memo_next(schedules->broker, MEMO_FIRED, &cursor))) {
        if (!index_find(schedules, memo->key)) {
            forget(schedules, memo->key);
        }
    }
}

bool schedules_adopt(struct schedules *schedules, const struct schedule_spec *specs, size_t count,
                     struct schedule_reason *why)
{
    struct plan **plans = calloc(count + 1, sizeof *plans);

    if (!plans) {
        (void)snprintf(why->text, sizeof why->text, "no memory");
        return false;
    }
    if (!prepare(schedules, specs, count, plans, why)) {
        discard(schedules, plans, count);
        free(plans);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        adopt_one(schedules, plans[i]);
    }
    free(plans);
    end_others(schedules);
    forget_strangers(schedules);
    schedules->looked_at = NSEC_NEVER;
    return true;
}

//
// Time
//

nsec_t schedules_due(const struct schedules *schedules)
{
    const struct schedule *first = schedule_by_wake(tree_first(&schedules->by_wake));
    struct instant now = broker_now(schedules->broker);
    nsec_t left_for;

    if (!first) {
        return NSEC_NEVER;
    }
    if (now.wall < schedules->looked_at) {
        return now.mono;
    }
    left_for = first->wake_at > now.wall ? first->wake_at - now.wall : 0;
    return nsec_add(now.mono, left_for < LOOK_AFTER ? left_for : LOOK_AFTER);
}

// When the wall clock has gone back, schedules are silent until it is where it was. That can be
// years away, so it is told.
static void tell_silence(struct schedules *schedules, nsec_t now)
{
    struct schedule *schedule = index_after(schedules, slice_of(NULL, 0)), *first = NULL;
    nsec_t until_at = 0;
    unsigned count = 0;

    for (; schedule; schedule = index_after(schedules, schedule_name(schedule))) {
        nsec_t silent_until = firing_silent_until(schedule, now);

        if (silent_until != 0) {
            first = first ? first : schedule;
            count++;
            until_at = silent_until > until_at ? silent_until : until_at;
        }
    }
    if (first) {
        char text[SCHEDULE_MOMENT_MAX];

        log_warn("schedules_silent", log_number("count", count),
                 log_text("first", schedule_name(first)),
                 log_text("until", schedule_moment_text(until_at, text)));
    }
}

void schedules_work(struct schedules *schedules)
{
    nsec_t now = broker_now(schedules->broker).wall;
    struct schedule *schedule;

    if (now < schedules->looked_at) {
        tell_silence(schedules, now);
    }
    schedules->looked_at = now;
    for (unsigned cost = 0; cost < FIRING_SLICE;) {
        schedule = schedule_by_wake(tree_first(&schedules->by_wake));
        if (!schedule || schedule->wake_at > now) {
            return;
        }
        cost += firing_work(schedules, schedule);
    }
}

//
// At run time
//

enum status schedules_put(struct schedules *schedules, const struct schedule_spec *spec,
                          struct schedule_reason *why)
{
    struct schedule *schedule;
    enum status status;
    struct plan *plan;

    if (!plan_new(spec, schedules->zones, &plan, why)) {
        return STATUS_BAD_NAME;
    }
    status = find_or_add(schedules, spec->name, &schedule);
    if (status == STATUS_OK) {
        status = kept_put_spec(schedules->broker, spec);
        schedules->position = broker_position(schedules->broker);
        if (status != STATUS_OK && !schedule_plan(schedule)) {
            index_remove(schedules, schedule);
        }
    }
    if (status != STATUS_OK) {
        plan_free(plan);
        return status;
    }
    replace_plan(schedules, schedule, &schedule->given, plan);
    return STATUS_OK;
}

enum status schedules_remove(struct schedules *schedules, struct slice name)
{
    struct schedule *schedule = index_find(schedules, name);
    enum status status;

    if (!schedule) {
        return STATUS_NOT_FOUND;
    }
    if (!schedule->given) {
        return STATUS_IN_USE;
    }
    status = broker_memo_drop(schedules->broker, MEMO_SCHEDULE, name);
    schedules->position = broker_position(schedules->broker);
    if (status == STATUS_OK) {
        replace_plan(schedules, schedule, &schedule->given, NULL);
    }
    return status;
}

enum status schedules_run(struct schedules *schedules, struct slice name,
                          struct submission *submission)
{
    struct schedule *schedule = index_find(schedules, name);

    return schedule ? firing_now(schedules, schedule, submission) : STATUS_NOT_FOUND;
}

enum status schedules_replan(struct schedules *schedules, struct slice name)
{
    struct schedule *schedule = index_find(schedules, name);

    return schedule ? firing_replan(schedules, schedule) : STATUS_NOT_FOUND;
}

uint64_t schedules_position(const struct schedules *schedules)
{
    return schedules->position;
}

//
// Looking
//

static bool describe(const struct schedules *schedules, const struct schedule *schedule,
                     struct schedule_info *info)
{
    if (!schedule) {
        return false;
    }
    *info = (struct schedule_info){
        .spec = &schedule_plan(schedule)->spec,
        .in_file = schedule->file,
        .at_run_time = schedule->given,
        .next_at = schedule->next_at,
        .silent_until = firing_silent_until(schedule, broker_now(schedules->broker).wall),
        .fired_at = schedule->fired_at,
        .outcome = schedule->outcome,
        .outcome_at = schedule->outcome_at,
        .status = schedule->status,
        .job_id = schedule->job_id,
        .counts = schedule->counts,
    };
    return true;
}

bool schedules_next(const struct schedules *schedules, struct slice name,
                    struct schedule_info *info)
{
    return describe(schedules, index_after(schedules, name), info);
}

bool schedules_find(const struct schedules *schedules, struct slice name,
                    struct schedule_info *info)
{
    return describe(schedules, index_find(schedules, name), info);
}

size_t schedules_count(const struct schedules *schedules)
{
    return schedules->count;
}

void schedules_counts(const struct schedules *schedules, struct schedule_counts *counts)
{
    *counts = schedules->counts;
}
