/* SPDX-License-Identifier: MIT */

// Acts on single jobs by others than their holders: cancelling, kicking, and the other acts of an
// operator.

#include "core/operate.h"

#include "core/charge.h"
#include "core/dead_letter_private.h"
#include "core/key.h"
#include "core/lease.h"
#include "core/match.h"
#include "core/observe.h"
#include "core/outcome.h"
#include "core/record_private.h"
#include "core/watch.h"

//
// Cancelling and kicking
//

enum status broker_cancel(struct broker *broker, struct session *by, uint64_t id, bool even_held)
{
    struct job *job = broker_job(broker, id);
    enum status status = session_check_job(by, even_held ? MAY_OPERATE : MAY_CANCEL, job);

    ENSURE(!broker->settling);
    broker->store.position = 0;
    if (status != STATUS_OK) {
        return status;
    }
    if (job->state == JOB_RESERVED && !even_held) {
        return STATUS_HELD;
    }
    revoked_note(broker, job);
    COUNT(broker, queue_at(broker, job), deleted);
    outcome_ended(broker, job, JOB_EVENT_CANCELLED, NULL);
    match_serve_lost(broker);
    return STATUS_OK;
}

// The job, which is buried or delayed, becomes ready, at its old place among equals, with no
// attempt spent.
static enum status kick_job(struct broker *broker, struct job *job)
{
    const struct job_place ready = job_ready_place(job);
    bool buried = job->state == JOB_BURIED;

    if (!record_has_space(broker, RECORD_KICK, job)) {
        return STATUS_NO_SPACE;
    }
    JOB_COUNT(broker, job, kicks);
    COUNT(broker, queue_at(broker, job), kicks);
    job->attempts = 0;
    if (buried) {
        key_claim(broker, job);
    }
    match_ready(broker, job, &ready);
    record_append(broker, RECORD_KICK, job, buried);
    return STATUS_OK;
}

enum status broker_kick_id(struct broker *broker, struct session *by, uint64_t id)
{
    struct job *job = broker_job(broker, id);
    enum status status = session_check_job(by, MAY_OPERATE, job);

    ENSURE(!broker->settling);
    broker->store.position = 0;
    if (status != STATUS_OK) {
        return status;
    }
    if (job->state != JOB_BURIED && job->state != JOB_DELAYED) {
        return STATUS_NOT_FOUND;
    }
    return kick_job(broker, job);
}

enum status broker_kick_begin(const struct session *by, const struct queue *queue, uint32_t bound,
                              struct kick *kick)
{
    bool buried = queue->jobs[JOB_BURIED] > 0;
    uint64_t there = queue->jobs[buried ? JOB_BURIED : JOB_DELAYED];

    *kick = (struct kick){
        .left = there < bound ? (uint32_t)there : bound,
        .buried = buried,
    };
    return session_may(by, MAY_OPERATE, queue) ? STATUS_OK : STATUS_FORBIDDEN;
}

enum status broker_kick(struct broker *broker, struct queue *queue, struct kick *kick)
{
    ENSURE(!broker->settling);
    broker->store.position = 0;
    for (unsigned budget = BROKER_SLICE; kick->left > 0;) {
        const struct job *next =
            kick->buried ? queue_peek_buried(queue) : queue_peek_delayed(broker, queue);
        enum status status;

        if (!next) {
            return STATUS_OK;
        }
        if (budget == 0) {
            return STATUS_MORE;
        }
        status = kick_job(broker, broker_job(broker, next->id));
        if (status != STATUS_OK) {
            return status;
        }
        kick->left--;
        kick->kicked++;
        charge_pay_unit(broker, &budget);
    }
    return STATUS_OK;
}

//
// Acts
//

static enum status act_release(struct broker *broker, struct job *job, const struct job_act *act)
{
    if (!record_has_space(broker, RECORD_RELEASE, job)) {
        return STATUS_NO_SPACE;
    }
    revoked_note(broker, job);
    outcome_released(broker, job, act->sets_pri ? act->pri : job->pri,
                     act->sets_delay ? act->delay_for : 0);
    match_serve_lost(broker);
    return STATUS_OK;
}

// A ready or delayed job becomes the other of the two, or gets another delay.
static void act_set_delay(struct broker *broker, struct job *job, nsec_t delay_for)
{
    struct job_place place = job_ready_place(job);

    if (delay_for == 0 && job->state == JOB_READY) {
        return;
    }
    job_set_delay(broker, job, delay_for);
    if (delay_for == 0) {
        match_ready(broker, job, &place);
        return;
    }
    if (job_expired(job) && job_interest(job)) {
        // Its last holder can no longer complete it: the attempt is over.
        interest_retried(job_interest(job));
    }
    place.state = JOB_DELAYED;
    place.imposed = true;
    place.due_at = nsec_add(broker->now.mono, delay_for);
    job_move(broker, job, &place);
}

static enum status act_set(struct broker *broker, struct job *job, const struct job_act *act,
                           bool sets_delay, nsec_t delay_for)
{
    bool buried = job->state == JOB_BURIED;

    if (!record_has_space(broker, RECORD_SET, job)) {
        return STATUS_NO_SPACE;
    }
    if (act->sets_pri) {
        job_set_pri(broker, job, act->pri);
    }
    if (sets_delay) {
        act_set_delay(broker, job, delay_for);
    }
    record_append(broker, RECORD_SET, job, buried);
    return STATUS_OK;
}

static void act_move_to(struct broker *broker, struct job *job, struct queue *to)
{
    struct queue *from = queue_at(broker, job);
    size_t was_len = job_variable_len(broker, job);

    job->attempts = 0;
    dead_letter_remove(broker, job);
    key_move(broker, job, to);
    job_transfer(broker, job, to);
    record_move_append(broker, job, from, was_len);
    if (job->state == JOB_READY) {
        match_moved(broker, job);
    }
    queue_vanish_if_idle(broker, from);
}

static enum status act_move(struct broker *broker, struct session *by, struct job *job,
                            const struct job_act *act)
{
    const struct dead_letter none = {.why = DEAD_NOT};
    struct slice name = act->to;
    struct dead_letter letter;
    struct queue *to;
    enum status status;

    if (act->back) {
        if (!job_dead_letter(broker, job, &letter)) {
            return STATUS_WRONG_STATE;
        }
        name = letter.queue;
    }
    if (!session_may_by_name(by, MAY_SUBMIT, name)) {
        return STATUS_FORBIDDEN;
    }
    if (slice_equal(queue_name(queue_at(broker, job)), name)) {
        return STATUS_OK;
    }
    status = broker_queue_hold(broker, name, &to);
    if (status != STATUS_OK) {
        return status;
    }
    if (record_move_has_space(broker, job, to, &none)) {
        act_move_to(broker, job, to);
    } else {
        status = STATUS_NO_SPACE;
    }
    broker_queue_drop(broker, to);
    return status;
}

static enum status act_bury(struct broker *broker, struct job *job, const struct job_act *act)
{
    revoked_note(broker, job);
    outcome_buried(broker, job, act->sets_pri ? act->pri : job->pri);
    match_serve_lost(broker);
    return STATUS_OK;
}

static enum status act_touch(struct broker *broker, struct job *job)
{
    struct session *holder = session_holding(broker, job);

    // A closed session gives its jobs back, a slice at a time, and has no alarm: nothing would end
    // the lease.
    if (!holder->closed) {
        lease_renew(holder, job);
    }
    return STATUS_OK;
}

unsigned act_states(const struct job_act *act)
{
    const unsigned waits = JOB_IN(JOB_READY) | JOB_IN(JOB_DELAYED);

    switch (act->kind) {
    case ACT_DELETE:
        return JOB_IN_ANY;
    case ACT_KICK:
        return JOB_IN(JOB_BURIED) | JOB_IN(JOB_DELAYED);
    case ACT_BURY:
        return waits | JOB_IN(JOB_RESERVED);
    case ACT_RELEASE:
        return JOB_IN(JOB_RESERVED) | JOB_IN(JOB_DELAYED);
    case ACT_TOUCH:
        return JOB_IN(JOB_RESERVED);
    case ACT_CHANGE:
        return act->sets_delay ? waits : JOB_IN_ANY;
    case ACT_MOVE:
        return waits | JOB_IN(JOB_BURIED);
    }
    UNREACHABLE();
}

enum status broker_act(struct broker *broker, struct session *by, uint64_t id,
                       const struct job_act *act)
{
    struct job *job = broker_job(broker, id);
    enum status status = session_check_job(by, MAY_OPERATE, job);

    ENSURE(!broker->settling);
    broker->store.position = 0;
    if (status != STATUS_OK) {
        return status;
    }
    if (!(act_states(act) & JOB_IN(job->state))) {
        return act->kind == ACT_MOVE ? STATUS_HELD : STATUS_WRONG_STATE;
    }
    switch (act->kind) {
    case ACT_DELETE:
        return broker_cancel(broker, by, job->id, true);
    case ACT_KICK:
        return broker_kick_id(broker, by, job->id);
    case ACT_BURY:
        return act_bury(broker, job, act);
    case ACT_RELEASE:
        return job->state == JOB_RESERVED
                   ? act_release(broker, job, act)
                   : act_set(broker, job, act, true, act->sets_delay ? act->delay_for : 0);
    case ACT_TOUCH:
        return act_touch(broker, job);
    case ACT_CHANGE:
        return act_set(broker, job, act, act->sets_delay, act->delay_for);
    case ACT_MOVE:
        return act_move(broker, by, job, act);
    }
    UNREACHABLE();
}
