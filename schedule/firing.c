/* SPDX-License-Identifier: MIT */

// A moment is decided once: either its job is submitted, or the moment is skipped. A memo says up
// to which moment all are decided. Its record comes after the job's: if the store loses its end, it
// loses the memo first. Then the moment counts as undecided, and its second submission joins the
// live job that has the same key.

#include "schedule/schedule_private.h"

#include "core/base/log.h"

#include "schedule/date.h"

#include <stdio.h>

// A moment is missed if it is this old.
#define MISSED_AFTER (60 * NSEC_PER_SEC)
// If the clock was set back by less, the silence is not reported.
#define SILENT_AFTER (60 * NSEC_PER_SEC)
// The time between retries, of a job that was refused and of a memo that could not be written.
#define AGAIN_AFTER NSEC_PER_SEC

#define FIRING_KEY_MAX (SCHEDULE_NAME_MAX + 1 + SCHEDULE_MOMENT_MAX)

struct slice schedule_moment_text(nsec_t at, char text[SCHEDULE_MOMENT_MAX])
{
    int64_t seconds = floor_div(at, NSEC_PER_SEC), days = floor_div(seconds, DAY_SECONDS);
    int of_day = (int)(seconds - days * DAY_SECONDS);
    struct date date = date_from_days(days);
    int len = snprintf(text, SCHEDULE_MOMENT_MAX, "%04d-%02d-%02dT%02d:%02d:%02dZ", (int)date.year,
                       date.month, date.day, of_day / 3600, of_day / 60 % 60, of_day % 60);

    return slice_of(text, (size_t)len);
}

static struct schedule *schedule_by_wake(const struct tree_node *node)
{
    return container_of((struct tree_node *)(uintptr_t)node, struct schedule, by_wake);
}

static bool schedule_wakes_before(const struct tree_node *a, const struct tree_node *b)
{
    const struct schedule *x = schedule_by_wake(a), *y = schedule_by_wake(b);

    return x->wake_at != y->wake_at ? x->wake_at < y->wake_at : x < y;
}

void firing_set_wake(struct schedules *schedules, struct schedule *schedule, nsec_t at)
{
    if (schedule->wakes) {
        tree_remove(&schedules->by_wake, &schedule->by_wake, schedule_wakes_before);
    }
    schedule->wakes = at != NSEC_NEVER;
    schedule->wake_at = at;
    if (schedule->wakes) {
        tree_insert(&schedules->by_wake, &schedule->by_wake, schedule_wakes_before);
    }
}

static nsec_t firing_wall(const struct schedules *schedules)
{
    return broker_now(schedules->broker).wall;
}

static struct slice firing_job_key(const struct schedule *schedule, nsec_t at,
                                   char key[FIRING_KEY_MAX])
{
    char text[SCHEDULE_MOMENT_MAX];
    struct slice moment = schedule_moment_text(at, text);

    memcpy(key, schedule->name, schedule->name_len);
    key[schedule->name_len] = '@';
    memcpy(key + schedule->name_len + 1, moment.ptr, moment.len);
    return slice_of(key, schedule->name_len + 1 + moment.len);
}

static void firing_log(enum log_level level, const char *event, const struct schedule *schedule,
                       nsec_t at, enum status status)
{
    char text[SCHEDULE_MOMENT_MAX];

    LOG_AT(level, event, log_text("schedule", schedule_name(schedule)),
           log_text("moment", schedule_moment_text(at, text)),
           log_string("status", status_text(status)));
}

static void firing_set_outcome(struct schedule *schedule, enum schedule_outcome outcome, nsec_t at,
                               enum status status)
{
    schedule->outcome = outcome;
    schedule->outcome_at = at;
    schedule->status = status;
}

// Writes the memo; if that fails, it is retried. If the process restarts before it succeeds, and
// the job is done by then, the moment submits a second job.
static void firing_save(struct schedules *schedules, struct schedule *schedule)
{
    enum status status = schedule_memo_put_fired(schedules->broker, schedule);

    if (status != STATUS_OK && !schedule->unsaved) {
        firing_log(LOG_LEVEL_WARN, "schedule_not_kept", schedule, schedule->decided_at, status);
    }
    schedule->unsaved = status != STATUS_OK;
}

// Finds the next moment, and sets when the schedule wakes.
static void firing_await_next(struct schedules *schedules, struct schedule *schedule)
{
    const struct schedule_plan *plan = schedule_plan(schedule);
    nsec_t wake_at;

    schedule->give_up_at = 0;
    if (!cron_next(&plan->cron, plan->zone, schedule->decided_at, &schedule->next_at)) {
        schedule->next_at = NSEC_NEVER;
    }
    wake_at = schedule->next_at;
    if (schedule->unsaved) {
        nsec_t again_at = nsec_add(firing_wall(schedules), AGAIN_AFTER);

        wake_at = again_at < wake_at ? again_at : wake_at;
    }
    firing_set_wake(schedules, schedule, wake_at);
}

static void firing_decide(struct schedules *schedules, struct schedule *schedule, nsec_t at)
{
    schedule->decided_at = at;
    firing_save(schedules, schedule);
    firing_await_next(schedules, schedule);
}

void firing_begin(struct schedules *schedules, struct schedule *schedule)
{
    nsec_t now = firing_wall(schedules);

    // If the plan has other moments than before, or there was none, only moments from now on count.
    if (schedule->decided_at != 0 || !schedule_memo_read_fired(schedules->broker, schedule)) {
        schedule->decided_at = now > schedule->decided_at ? now : schedule->decided_at;
        firing_save(schedules, schedule);
    }
    firing_await_next(schedules, schedule);
}

nsec_t firing_silent_until(const struct schedule *schedule, nsec_t now)
{
    return schedule->decided_at - now >= SILENT_AFTER ? schedule->decided_at : 0;
}

enum status firing_replan(struct schedules *schedules, struct schedule *schedule)
{
    nsec_t decided_at = schedule->decided_at;
    enum status status;

    schedule->decided_at = firing_wall(schedules);
    status = schedule_memo_put_fired(schedules->broker, schedule);
    schedules->position = broker_position(schedules->broker);
    if (status != STATUS_OK) {
        schedule->decided_at = decided_at;
        return status;
    }
    schedule->unsaved = false;
    schedule->missed_to = 0;
    firing_await_next(schedules, schedule);
    return STATUS_OK;
}

//
// Missed moments
//

// The first of the last SCHEDULE_MISSED_MAX moments in [next_at, last].
static nsec_t firing_first_of_last(const struct schedule *schedule, nsec_t last)
{
    const struct schedule_plan *plan = schedule_plan(schedule);
    nsec_t first = last;

    for (int i = 1; i < SCHEDULE_MISSED_MAX && first > schedule->next_at; i++) {
        if (!cron_last(&plan->cron, plan->zone, schedule->next_at - 1, first - 1, &first)) {
            break;
        }
    }
    return first;
}

// If moments were missed, moves `next_at` to the first of them that submits a job. False: none of
// them does, and all are decided.
static bool firing_skip_missed(struct schedules *schedules, struct schedule *schedule,
                               unsigned *cost)
{
    const struct schedule_plan *plan = schedule_plan(schedule);
    nsec_t now = firing_wall(schedules), last = schedule->next_at, first = NSEC_NEVER;

    if (now - schedule->next_at < MISSED_AFTER || schedule->next_at <= schedule->missed_to) {
        return true;
    }
    *cost = FIRING_SLICE;
    if (!cron_last(&plan->cron, plan->zone, schedule->next_at, now, &last)) {
        last = schedule->next_at;
    }
    switch (plan->spec.missed) {
    case SCHEDULE_MISSED_SKIP:
        if (now - last < MISSED_AFTER) {
            first = last;
        }
        break;
    case SCHEDULE_MISSED_ONCE:
        first = last;
        break;
    case SCHEDULE_MISSED_ALL:
        first = firing_first_of_last(schedule, last);
        break;
    }
    if (first > schedule->next_at) {
        schedule->counts.missed++;
        schedules->counts.missed++;
        firing_set_outcome(schedule, SCHEDULE_MISSED, schedule->next_at, STATUS_OK);
        firing_log(LOG_LEVEL_INFO, "schedule_missed", schedule, schedule->next_at, STATUS_OK);
    }
    schedule->missed_to = last;
    schedule->next_at = first;
    if (first == NSEC_NEVER) {
        firing_decide(schedules, schedule, last);
    }
    return first != NSEC_NEVER;
}

//
// Submitting
//

static enum status firing_submit(struct schedules *schedules, struct schedule *schedule, nsec_t at,
                                 struct submission *submission)
{
    const struct schedule_spec *spec = &schedule_plan(schedule)->spec;
    char key[FIRING_KEY_MAX];
    struct job_spec job = {
        .pri = spec->pri,
        .ttr_for = spec->ttr_for,
        .key_kind = KEY_NAME,
        .key = firing_job_key(schedule, at, key),
        .durable = true,
        .body = spec->body,
    };
    enum status status = broker_submit_to(schedules->broker, spec->queue, &job, NULL, submission);

    if (status == STATUS_OK) {
        schedule->fired_at = at;
        schedule->job_id = submission->id;
        schedule->counts.fired++;
        schedules->counts.fired++;
        firing_set_outcome(schedule, SCHEDULE_FIRED, at, STATUS_OK);
        firing_log(LOG_LEVEL_DEBUG, "schedule_fired", schedule, at, STATUS_OK);
    }
    return status;
}

// Whether the schedule's last job still has its key in the queue. A buried job has given up its
// key.
static bool firing_overlaps(struct schedules *schedules, const struct schedule *schedule)
{
    const struct schedule_spec *spec = &schedule_plan(schedule)->spec;
    struct queue *queue = broker_queue_find(schedules->broker, spec->queue);
    char key[FIRING_KEY_MAX];

    return spec->overlap == SCHEDULE_OVERLAP_SKIP && queue && schedule->fired_at != 0 &&
           schedule->fired_at != schedule->next_at &&
           broker_find_key(schedules->broker, queue,
                           firing_job_key(schedule, schedule->fired_at, key));
}

static void firing_overlapped(struct schedules *schedules, struct schedule *schedule)
{
    schedule->counts.overlapped++;
    schedules->counts.overlapped++;
    firing_set_outcome(schedule, SCHEDULE_OVERLAPPED, schedule->next_at, STATUS_OK);
    firing_log(LOG_LEVEL_INFO, "schedule_overlapped", schedule, schedule->next_at, STATUS_OK);
    firing_decide(schedules, schedule, schedule->next_at);
}

static void firing_give_up(struct schedules *schedules, struct schedule *schedule)
{
    nsec_t at = schedule->next_at;

    schedule->counts.given_up++;
    schedules->counts.given_up++;
    firing_set_outcome(schedule, SCHEDULE_GIVEN_UP, at, schedule->status);
    firing_log(LOG_LEVEL_ERROR, "schedule_given_up", schedule, at, schedule->status);
    firing_decide(schedules, schedule, at);
}

// The broker refused the job. It is retried until the next moment, which has a job of its own.
static void firing_refused(struct schedules *schedules, struct schedule *schedule,
                           enum status status)
{
    const struct schedule_plan *plan = schedule_plan(schedule);
    nsec_t now = firing_wall(schedules), at = schedule->next_at;

    schedule->counts.refused++;
    schedules->counts.refused++;
    if (schedule->give_up_at == 0) {
        firing_log(LOG_LEVEL_WARN, "schedule_refused", schedule, at, status);
        if (!cron_next(&plan->cron, plan->zone, now, &schedule->give_up_at)) {
            schedule->give_up_at = NSEC_NEVER;
        }
    }
    firing_set_outcome(schedule, SCHEDULE_REFUSED, at, status);
    firing_set_wake(schedules, schedule, nsec_add(now, AGAIN_AFTER));
}

static void firing_fire(struct schedules *schedules, struct schedule *schedule)
{
    nsec_t at = schedule->next_at;
    bool late = firing_wall(schedules) - at >= MISSED_AFTER;
    struct submission submission;
    enum status status = firing_submit(schedules, schedule, at, &submission);

    if (status != STATUS_OK) {
        firing_refused(schedules, schedule, status);
        return;
    }
    schedule->counts.late += late;
    schedules->counts.late += late;
    firing_decide(schedules, schedule, at);
}

unsigned firing_work(struct schedules *schedules, struct schedule *schedule)
{
    nsec_t now = firing_wall(schedules);
    unsigned cost = 1;

    if (schedule->unsaved) {
        firing_save(schedules, schedule);
    }
    if (schedule->next_at > now) {
        firing_await_next(schedules, schedule);
        return cost;
    }
    if (schedule->give_up_at != 0 && now >= schedule->give_up_at) {
        firing_give_up(schedules, schedule);
        return cost;
    }
    if (schedule->give_up_at == 0 && !firing_skip_missed(schedules, schedule, &cost)) {
        return cost;
    }
    if (firing_overlaps(schedules, schedule)) {
        firing_overlapped(schedules, schedule);
    } else {
        firing_fire(schedules, schedule);
    }
    return cost;
}

enum status firing_now(struct schedules *schedules, struct schedule *schedule,
                       struct submission *submission)
{
    nsec_t now = firing_wall(schedules);
    enum status status = firing_submit(schedules, schedule, now - now % NSEC_PER_SEC, submission);

    schedules->position = broker_position(schedules->broker);
    if (status == STATUS_OK) {
        firing_save(schedules, schedule);
        if (schedule->unsaved && schedule->give_up_at == 0) {
            firing_await_next(schedules, schedule);
        }
    }
    return status;
}
