/* SPDX-License-Identifier: MIT */
#include "schedule/schedule.h"

#include "core/base/log.h"
#include "core/base/memory.h"
#include "schedule/schedule_private.h"

//
// Schedules by name and by time
//

static struct schedule *schedule_by_name(const struct tree_node *node)
{
    return container_of((struct tree_node *)(uintptr_t)node, struct schedule, by_name);
}

static int schedule_compare_names(struct slice a, struct slice b)
{
    size_t len = a.len < b.len ? a.len : b.len;
    int order = len ? memcmp(a.ptr, b.ptr, len) : 0;

    return order ? order : (a.len > b.len) - (a.len < b.len);
}

static bool schedule_name_before(const struct tree_node *a, const struct tree_node *b)
{
    return schedule_compare_names(schedule_name(schedule_by_name(a)),
                                  schedule_name(schedule_by_name(b))) < 0;
}

struct schedule *schedule_index_find(const struct schedules *schedules, struct slice name)
{
    const struct tree_node *node = schedules->by_name.root;

    while (node) {
        int order = schedule_compare_names(name, schedule_name(schedule_by_name(node)));

        if (order == 0) {
            return schedule_by_name(node);
        }
        node = order < 0 ? node->left : node->right;
    }
    return NULL;
}

struct schedule *schedule_index_after(const struct schedules *schedules, struct slice name)
{
    const struct tree_node *node = schedules->by_name.root, *found = NULL;

    while (node) {
        bool after = schedule_compare_names(schedule_name(schedule_by_name(node)), name) > 0;

        found = after ? node : found;
        node = after ? node->left : node->right;
    }
    return found ? schedule_by_name(found) : NULL;
}

struct schedule *schedule_index_add(struct schedules *schedules, struct slice name)
{
    struct schedule *schedule = calloc(1, sizeof *schedule + name.len);

    if (schedule) {
        schedule->next_at = NSEC_NEVER;
        schedule->name_len = name.len;
        memcpy(schedule->name, name.ptr, name.len);
        tree_insert(&schedules->by_name, &schedule->by_name, schedule_name_before);
        schedules->count++;
    }
    return schedule;
}

void schedule_index_remove(struct schedules *schedules, struct schedule *schedule)
{
    firing_set_wake(schedules, schedule, NSEC_NEVER);
    tree_remove(&schedules->by_name, &schedule->by_name, schedule_name_before);
    schedules->count--;
    schedule_plan_free(schedule->file);
    schedule_plan_free(schedule->at_run_time);
    free(schedule);
}

struct schedule *schedule_index_first(const struct schedules *schedules)
{
    struct tree_node *first = tree_first(&schedules->by_wake);

    return first ? container_of(first, struct schedule, by_wake) : NULL;
}

// While there are schedules, the wall clock is read this often.
#define CLOCK_CHECK_FOR NSEC_PER_SEC

//
// Adding, changing and removing
//

// Deletes the memo about the moments of a schedule that has ended. If the store has no room for
// that, the next schedules_adopt() does it.
static void schedule_forget(struct schedules *schedules, struct slice name)
{
    enum status status = broker_memo_drop(schedules->broker, MEMO_FIRED, name);

    if (status != STATUS_OK && status != STATUS_NOT_FOUND) {
        log_warn("schedule_not_forgotten", log_text("schedule", name),
                 log_string("status", status_text(status)));
    }
}

// Replaces the plan in `*place`, which is `file` or `at_run_time` of the schedule; takes ownership
// of `plan`. A schedule that has no plan then ends.
static void schedule_replace_plan(struct schedules *schedules, struct schedule *schedule,
                                  struct schedule_plan **place, struct schedule_plan *plan)
{
    const struct schedule_plan *before = schedule_plan(schedule), *now;
    struct schedule_plan *old = *place;

    *place = plan;
    now = schedule_plan(schedule);
    if (!now) {
        schedule_forget(schedules, schedule_name(schedule));
        *place = old;
        schedule_index_remove(schedules, schedule);
        return;
    }
    if (!before || !schedule_plan_has_moments(before, now->spec.cron, now->spec.timezone)) {
        firing_begin(schedules, schedule);
    }
    schedule_plan_free(old);
}

static enum status schedule_find_or_add(struct schedules *schedules, struct slice name,
                                        struct schedule **schedule)
{
    *schedule = schedule_index_find(schedules, name);
    if (*schedule) {
        return STATUS_OK;
    }
    if (schedules->count >= SCHEDULES_MAX) {
        return STATUS_TOO_LARGE;
    }
    *schedule = schedule_index_add(schedules, name);
    return *schedule ? STATUS_OK : STATUS_NO_MEMORY;
}

static void schedule_restore(struct schedules *schedules, const struct memo *memo)
{
    struct error_text why = {"it cannot be read"};
    struct schedule_spec spec;
    struct schedule *schedule;
    struct schedule_plan *plan;
    bool readable = schedule_memo_read_spec(memo, &spec);

    // An earlier version allowed this pair, and acted as ONCE.
    if (readable && schedule_contradicts(&spec)) {
        spec.missed = SCHEDULE_MISSED_ONCE;
        log_warn("schedule_missed_once", log_text("schedule", memo->key));
    }
    if (!readable || !schedule_plan_new(&spec, schedules->zones, &plan, &why)) {
        log_error("schedule_left_out", log_text("schedule", memo->key),
                  log_string("reason", why.text));
        return;
    }
    if (schedule_find_or_add(schedules, spec.name, &schedule) != STATUS_OK) {
        log_error("schedule_left_out", log_text("schedule", memo->key),
                  log_string("reason", "no room"));
        schedule_plan_free(plan);
        return;
    }
    schedule_replace_plan(schedules, schedule, &schedule->at_run_time, plan);
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
    schedules->worked_at = NSEC_NEVER;
    while ((memo = broker_memo_next(broker, MEMO_SCHEDULE, &cursor))) {
        schedule_restore(schedules, memo);
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
        schedule_index_remove(schedules, container_of(node, struct schedule, by_name));
    }
    free(schedules);
}

//
// The configuration
//

// Allocates what schedules_adopt() needs, so that no later step can fail.
static bool schedules_prepare(struct schedules *schedules, const struct schedule_spec *specs,
                              size_t count, struct schedule_plan **plans, struct error_text *why)
{
    struct schedule *schedule;

    for (size_t i = 0; i < count; i++) {
        if (!schedule_plan_new(&specs[i], schedules->zones, &plans[i], why)) {
            return false;
        }
        if (schedule_find_or_add(schedules, specs[i].name, &schedule) != STATUS_OK) {
            return error_set(why, "no room for more schedules");
        }
    }
    return true;
}

// Undoes schedules_prepare().
static void schedules_discard(struct schedules *schedules, struct schedule_plan **plans,
                              size_t count)
{
    struct schedule *schedule = schedule_index_after(schedules, slice_of(NULL, 0)), *next;

    for (size_t i = 0; i < count; i++) {
        schedule_plan_free(plans[i]);
    }
    for (; schedule; schedule = next) {
        next = schedule_index_after(schedules, schedule_name(schedule));
        if (!schedule_plan(schedule)) {
            schedule_index_remove(schedules, schedule);
        }
    }
}

// Ends the schedules that the new configuration does not have.
static void schedules_end_others(struct schedules *schedules)
{
    struct schedule *schedule = schedule_index_after(schedules, slice_of(NULL, 0)), *next;

    for (; schedule; schedule = next) {
        next = schedule_index_after(schedules, schedule_name(schedule));
        if (schedule->file && !schedule->adopted) {
            schedule_replace_plan(schedules, schedule, &schedule->file, NULL);
        } else {
            schedule->adopted = false;
        }
    }
}

// Deletes memos about schedules that ended while the broker did not run.
static void schedules_forget_unknown(struct schedules *schedules)
{
    const struct memo *memo;
    uint64_t cursor = 0;

    while ((memo = broker_memo_next(schedules->broker, MEMO_FIRED, &cursor))) {
        if (!schedule_index_find(schedules, memo->key)) {
            schedule_forget(schedules, memo->key);
        }
    }
}

bool schedules_adopt(struct schedules *schedules, const struct schedule_spec *specs, size_t count,
                     struct error_text *why)
{
    struct schedule_plan **plans = calloc(count + 1, sizeof *plans);

    if (!plans) {
        return error_set(why, "no memory");
    }
    if (!schedules_prepare(schedules, specs, count, plans, why)) {
        schedules_discard(schedules, plans, count);
        free(plans);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        struct schedule *schedule = schedule_index_find(schedules, plans[i]->spec.name);

        schedule->adopted = true;
        schedule_replace_plan(schedules, schedule, &schedule->file, plans[i]);
    }
    free(plans);
    schedules_end_others(schedules);
    schedules_forget_unknown(schedules);
    schedules->worked_at = NSEC_NEVER;
    return true;
}

//
// Time
//

nsec_t schedules_due(const struct schedules *schedules)
{
    const struct schedule *first = schedule_index_first(schedules);
    struct instant now = broker_now(schedules->broker);
    nsec_t left_for;

    if (!first) {
        return NSEC_NEVER;
    }
    if (now.wall < schedules->worked_at) {
        return now.mono;
    }
    left_for = first->wake_at > now.wall ? first->wake_at - now.wall : 0;
    return nsec_add(now.mono, left_for < CLOCK_CHECK_FOR ? left_for : CLOCK_CHECK_FOR);
}

// The wall clock was set back: schedules are silent until it is where it was. That can take years,
// so there is a warning.
static void schedules_warn_silent(struct schedules *schedules, nsec_t now)
{
    struct schedule *schedule = schedule_index_after(schedules, slice_of(NULL, 0)), *first = NULL;
    nsec_t until_at = 0;
    unsigned count = 0;

    for (; schedule; schedule = schedule_index_after(schedules, schedule_name(schedule))) {
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

    if (now < schedules->worked_at) {
        schedules_warn_silent(schedules, now);
    }
    schedules->worked_at = now;
    for (unsigned cost = 0; cost < FIRING_SLICE;) {
        schedule = schedule_index_first(schedules);
        if (!schedule || schedule->wake_at > now) {
            return;
        }
        cost += firing_work(schedules, schedule);
    }
}

//
// Changes at run time
//

enum status schedules_put(struct schedules *schedules, const struct schedule_spec *spec,
                          struct error_text *why)
{
    struct schedule *schedule;
    enum status status;
    struct schedule_plan *plan;

    if (!schedule_plan_new(spec, schedules->zones, &plan, why)) {
        return STATUS_BAD_NAME;
    }
    status = schedule_find_or_add(schedules, spec->name, &schedule);
    if (status == STATUS_OK) {
        status = schedule_memo_put_spec(schedules->broker, spec);
        schedules->position = broker_position(schedules->broker);
        if (status != STATUS_OK && !schedule_plan(schedule)) {
            schedule_index_remove(schedules, schedule);
        }
    }
    if (status != STATUS_OK) {
        schedule_plan_free(plan);
        return status;
    }
    schedule_replace_plan(schedules, schedule, &schedule->at_run_time, plan);
    return STATUS_OK;
}

enum status schedules_remove(struct schedules *schedules, struct slice name)
{
    struct schedule *schedule = schedule_index_find(schedules, name);
    enum status status;

    if (!schedule) {
        return STATUS_NOT_FOUND;
    }
    if (!schedule->at_run_time) {
        return STATUS_IN_USE;
    }
    status = broker_memo_drop(schedules->broker, MEMO_SCHEDULE, name);
    schedules->position = broker_position(schedules->broker);
    if (status == STATUS_OK) {
        schedule_replace_plan(schedules, schedule, &schedule->at_run_time, NULL);
    }
    return status;
}

enum status schedules_run(struct schedules *schedules, struct slice name,
                          struct submission *submission)
{
    struct schedule *schedule = schedule_index_find(schedules, name);

    return schedule ? firing_now(schedules, schedule, submission) : STATUS_NOT_FOUND;
}

enum status schedules_replan(struct schedules *schedules, struct slice name)
{
    struct schedule *schedule = schedule_index_find(schedules, name);

    return schedule ? firing_replan(schedules, schedule) : STATUS_NOT_FOUND;
}

uint64_t schedules_position(const struct schedules *schedules)
{
    return schedules->position;
}

//
// Introspection
//

static bool schedule_describe(const struct schedules *schedules, const struct schedule *schedule,
                              struct schedule_info *info)
{
    if (!schedule) {
        return false;
    }
    *info = (struct schedule_info){
        .spec = &schedule_plan(schedule)->spec,
        .in_file = schedule->file,
        .at_run_time = schedule->at_run_time,
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
    return schedule_describe(schedules, schedule_index_after(schedules, name), info);
}

bool schedules_find(const struct schedules *schedules, struct slice name,
                    struct schedule_info *info)
{
    return schedule_describe(schedules, schedule_index_find(schedules, name), info);
}

size_t schedules_count(const struct schedules *schedules)
{
    return schedules->count;
}

void schedules_counts(const struct schedules *schedules, struct schedule_counts *counts)
{
    *counts = schedules->counts;
}
