/* SPDX-License-Identifier: MIT */

// A moment is decided once: its job is submitted, or it is passed over. Which one it was is kept as
// a memo behind the job's record, so that a store that lost its end lost the memo first: then the
// moment is found undecided, and its job joins the one that lives under the same key.

#include "schedule/firing.h"

#include "core/base/log.h"

#include "schedule/kept.h"

// What is this old was missed.
#define MISSED_AFTER (60 * NSEC_PER_SEC)
// A clock that was set back by less is not worth a word.
#define SILENT_AFTER (60 * NSEC_PER_SEC)
// What was refused, or could not be kept, is tried again so often.
#define AGAIN_AFTER NSEC_PER_SEC

#define KEY_MAX (SCHEDULE_NAME_MAX + 1 + SCHEDULE_MOMENT_MAX)

static nsec_t wall_now(const struct schedules *schedules)
{
    return broker_now(schedules->broker).wall;
}

static struct slice key_of(const struct schedule *schedule, nsec_t at, char key[KEY_MAX])
{
    char text[SCHEDULE_MOMENT_MAX];
    struct slice moment = schedule_moment_text(at, text);

    memcpy(key, schedule->name, schedule->name_len);
    key[schedule->name_len] = '@';
    memcpy(key + schedule->name_len + 1, moment.ptr, moment.len);
    return slice_of(key, schedule->name_len + 1 + moment.len);
}

static void note(enum log_level level, const char *event, const struct schedule *schedule,
                 nsec_t at, enum status status)
{
    char text[SCHEDULE_MOMENT_MAX];

    LOG_AT(level, event, log_text("schedule", schedule_name(schedule)),
           log_text("moment", schedule_moment_text(at, text)),
           log_string("status", status_text(status)));
}

// Keeps what was decided. Until that is done it is tried again: only a restart in between could
// take a moment whose job is done by then for one that is still to come.
static void keep(struct schedules *schedules, struct schedule *schedule)
{
    enum status status = kept_put_fired(schedules->broker, schedule);

    if (status != STATUS_OK && !schedule->unkept) {
        note(LOG_LEVEL_WARN, "schedule_not_kept", schedule, schedule->decided_at, status);
    }
    schedule->unkept = status != STATUS_OK;
}

static void set_outcome(struct schedule *schedule, enum schedule_outcome outcome, nsec_t at,
                        enum status status)
{
    schedule->outcome = outcome;
    schedule->outcome_at = at;
    schedule->status = status;
}

// The first moment that is still to be decided, and when it is to be looked at.
static void await_next(struct schedules *schedules, struct schedule *schedule)
{
    const struct plan *plan = schedule_plan(schedule);
    nsec_t wake_at;

    schedule->give_up_at = 0;
    if (!cron_next(&plan->cron, plan->zone, schedule->decided_at, &schedule->next_at)) {
        schedule->next_at = NSEC_NEVER;
    }
    wake_at = schedule->next_at;
    if (schedule->unkept) {
        nsec_t again_at = nsec_add(wall_now(schedules), AGAIN_AFTER);

        wake_at = again_at < wake_at ? again_at : wake_at;
    }
    schedule_wake(schedules, schedule, wake_at);
}

static void decide(struct schedules *schedules, struct schedule *schedule, nsec_t at)
{
    schedule->decided_at = at;
    keep(schedules, schedule);
    await_next(schedules, schedule);
}

void firing_begin(struct schedules *schedules, struct schedule *schedule)
{
    nsec_t now = wall_now(schedules);

    // Moments of other plans, and those before anybody wanted them, are none of this one's.
    if (schedule->decided_at != 0 || !kept_read_fired(schedules->broker, schedule)) {
        schedule->decided_at = now > schedule->decided_at ? now : schedule->decided_at;
        keep(schedules, schedule);
    }
    await_next(schedules, schedule);
}

nsec_t firing_silent_until(const struct schedule *schedule, nsec_t now)
{
    return schedule->decided_at - now >= SILENT_AFTER ? schedule->decided_at : 0;
}

enum status firing_replan(struct schedules *schedules, struct schedule *schedule)
{
    nsec_t decided_at = schedule->decided_at;
    enum status status;

    schedule->decided_at = wall_now(schedules);
    status = kept_put_fired(schedules->broker, schedule);
    schedules->position = broker_position(schedules->broker);
    if (status != STATUS_OK) {
        schedule->decided_at = decided_at;
        return status;
    }
    schedule->unkept = false;
    schedule->missed_to = 0;
    await_next(schedules, schedule);
    return STATUS_OK;
}

//
// Moments that were missed
//

// Of the moments from `next_at` to `last`, the first of the last SCHEDULE_MISSED_MAX.
static nsec_t first_of_last(const struct schedule *schedule, nsec_t last)
{
    const struct plan *plan = schedule_plan(schedule);
    nsec_t first = last;

    for (int i = 1; i < SCHEDULE_MISSED_MAX && first > schedule->next_at; i++) {
        if (!cron_last(&plan->cron, plan->zone, schedule->next_at - 1, first - 1, &first)) {
            break;
        }
    }
    return first;
}

// `next_at` becomes the moment that is to happen of those that have come. False: none of them is.
static bool choose(struct schedules *schedules, struct schedule *schedule, unsigned *cost)
{
    const struct plan *plan = schedule_plan(schedule);
    nsec_t now = wall_now(schedules), last = schedule->next_at, first = NSEC_NEVER;

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
        first = first_of_last(schedule, last);
        break;
    }
    if (first > schedule->next_at) {
        schedule->counts.missed++;
        schedules->counts.missed++;
        set_outcome(schedule, SCHEDULE_MISSED, schedule->next_at, STATUS_OK);
        note(LOG_LEVEL_INFO, "schedule_missed", schedule, schedule->next_at, STATUS_OK);
    }
    schedule->missed_to = last;
    schedule->next_at = first;
    if (first == NSEC_NEVER) {
        decide(schedules, schedule, last);
    }
    return first != NSEC_NEVER;
}

//
// Submitting
//

static enum status submit(struct schedules *schedules, struct schedule *schedule, nsec_t at,
                          struct submission *submission)
{
    const struct schedule_spec *spec = &schedule_plan(schedule)->spec;
    char key[KEY_MAX];
    struct job_spec job = {
        .pri = spec->pri,
        .ttr_for = spec->ttr_for,
        .key_kind = KEY_NAME,
        .key = key_of(schedule, at, key),
        .durable = true,
        .body = spec->body,
    };
    enum status status = broker_submit_to(schedules->broker, spec->queue, &job, NULL, submission);

    if (status == STATUS_OK) {
        schedule->fired_at = at;
        schedule->job_id = submission->id;
        schedule->counts.fired++;
        schedules->counts.fired++;
        set_outcome(schedule, SCHEDULE_FIRED, at, STATUS_OK);
        note(LOG_LEVEL_DEBUG, "schedule_fired", schedule, at, STATUS_OK);
    }
    return status;
}

// Whether the job that was submitted last still lives in the schedule's queue. One that was buried
// has given its key up.
static bool overlaps(struct schedules *schedules, const struct schedule *schedule)
{
    const struct schedule_spec *spec = &schedule_plan(schedule)->spec;
    struct queue *queue = broker_queue_find(schedules->broker, spec->queue);
    char key[KEY_MAX];

    return spec->overlap == SCHEDULE_OVERLAP_SKIP && queue && schedule->fired_at != 0 &&
           schedule->fired_at != schedule->next_at &&
           broker_find_key(schedules->broker, queue, key_of(schedule, schedule->fired_at, key));
}

static void give_up(struct schedules *schedules, struct schedule *schedule)
{
    nsec_t at = schedule->next_at;

    schedule->counts.given_up++;
    schedules->counts.given_up++;
    set_outcome(schedule, SCHEDULE_GIVEN_UP, at, schedule->status);
    note(LOG_LEVEL_ERROR, "schedule_given_up", schedule, at, schedule->status);
    decide(schedules, schedule, at);
}

// It was not accepted: tried again until the next moment comes, which has its own job.
static void try_again(struct schedules *schedules, struct schedule *schedule, enum status status)
{
    const struct plan *plan = schedule_plan(schedule);
    nsec_t now = wall_now(schedules), at = schedule->next_at;

    schedule->counts.refused++;
    schedules->counts.refused++;
    if (schedule->give_up_at == 0) {
        note(LOG_LEVEL_WARN, "schedule_refused", schedule, at, status);
        if (!cron_next(&plan->cron, plan->zone, now, &schedule->give_up_at)) {
            schedule->give_up_at = NSEC_NEVER;
        }
    }
    set_outcome(schedule, SCHEDULE_REFUSED, at, status);
    schedule_wake(schedules, schedule, nsec_add(now, AGAIN_AFTER));
}

static void fire(struct schedules *schedules, struct schedule *schedule)
{
    nsec_t at = schedule->next_at;
    bool late = wall_now(schedules) - at >= MISSED_AFTER;
    struct submission submission;
    enum status status = submit(schedules, schedule, at, &submission);

    if (status != STATUS_OK) {
        try_again(schedules, schedule, status);
        return;
    }
    schedule->counts.late += late;
    schedules->counts.late += late;
    decide(schedules, schedule, at);
}

static void overlapped(struct schedules *schedules, struct schedule *schedule)
{
    schedule->counts.overlapped++;
    schedules->counts.overlapped++;
    set_outcome(schedule, SCHEDULE_OVERLAPPED, schedule->next_at, STATUS_OK);
    note(LOG_LEVEL_INFO, "schedule_overlapped", schedule, schedule->next_at, STATUS_OK);
    decide(schedules, schedule, schedule->next_at);
}

unsigned firing_work(struct schedules *schedules, struct schedule *schedule)
{
    nsec_t now = wall_now(schedules);
    unsigned cost = 1;

    if (schedule->unkept) {
        keep(schedules, schedule);
    }
    if (schedule->next_at > now) {
        await_next(schedules, schedule);
        return cost;
    }
    if (schedule->give_up_at != 0 && now >= schedule->give_up_at) {
        give_up(schedules, schedule);
        return cost;
    }
    if (schedule->give_up_at == 0 && !choose(schedules, schedule, &cost)) {
        return cost;
    }
    if (overlaps(schedules, schedule)) {
        overlapped(schedules, schedule);
    } else {
        fire(schedules, schedule);
    }
    return cost;
}

enum status firing_now(struct schedules *schedules, struct schedule *schedule,
                       struct submission *submission)
{
    nsec_t now = wall_now(schedules);
    enum status status = submit(schedules, schedule, now - now % NSEC_PER_SEC, submission);

    schedules->position = broker_position(schedules->broker);
    if (status == STATUS_OK) {
        keep(schedules, schedule);
        if (schedule->unkept && schedule->give_up_at == 0) {
            await_next(schedules, schedule);
        }
    }
    return status;
}
