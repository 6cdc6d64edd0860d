/* SPDX-License-Identifier: MIT */

// What an operator does to one job, whoever holds it.

#include "core/operate_private.h"

#include "core/cleanup.h"
#include "core/lease.h"
#include "core/match.h"
#include "core/outcome.h"
#include "core/job_state.h"
#include "core/session_private.h"
#include "core/job_private.h"
#include "core/key.h"
#include "core/dead_letter_private.h"
#include "core/queue_private.h"
#include "core/record_private.h"
#include "core/watch.h"

static enum status release(struct broker *broker, struct job *job, const struct act *act)
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

// Ready or delayed: the other of the two, or delayed anew.
static void set_delay(struct broker *broker, struct job *job, nsec_t delay_for)
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
        // Its last holder may not complete it any more: the attempt is over.
        interest_retried(job_interest(job));
    }
    place.state = JOB_DELAYED;
    place.imposed = true;
    place.due_at = nsec_add(broker->now.mono, delay_for);
    job_move(broker, job, &place);
}

static enum status set(struct broker *broker, struct job *job, const struct act *act,
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
        set_delay(broker, job, delay_for);
    }
    record_append(broker, RECORD_SET, job, buried);
    return STATUS_OK;
}

static void move_to(struct broker *broker, struct job *job, struct queue *to)
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

static enum status move(struct broker *broker, struct session *by, struct job *job,
                        const struct act *act)
{
    const struct dead_letter none = {.why = DEAD_NOT};
    struct slice name = act->to;
    struct dead_letter past;
    struct queue *to;
    enum status status;

    if (act->back) {
        if (!job_dead_letter(broker, job, &past)) {
            return STATUS_WRONG_STATE;
        }
        name = past.queue;
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
        move_to(broker, job, to);
    } else {
        status = STATUS_NO_SPACE;
    }
    broker_queue_drop(broker, to);
    return status;
}

static enum status bury(struct broker *broker, struct job *job, const struct act *act)
{
    revoked_note(broker, job);
    outcome_buried(broker, job, act->sets_pri ? act->pri : job->pri);
    match_serve_lost(broker);
    return STATUS_OK;
}

static enum status touch(struct broker *broker, struct job *job)
{
    struct session *holder = session_holding(broker, job);

    // One that has closed gives back what it holds, a slice at a time: it has no alarm any more.
    if (!holder->closed) {
        lease_renew(holder, job);
    }
    return STATUS_OK;
}

unsigned act_states(const struct act *act)
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

static enum status act_on(struct broker *broker, struct session *by, struct job *job,
                          const struct act *act)
{
    switch (act->kind) {
    case ACT_DELETE:
        return broker_cancel(broker, by, job->id, true);
    case ACT_KICK:
        return broker_kick_id(broker, by, job->id);
    case ACT_BURY:
        return bury(broker, job, act);
    case ACT_RELEASE:
        return job->state == JOB_RESERVED
                   ? release(broker, job, act)
                   : set(broker, job, act, true, act->sets_delay ? act->delay_for : 0);
    case ACT_TOUCH:
        return touch(broker, job);
    case ACT_CHANGE:
        return set(broker, job, act, act->sets_delay, act->delay_for);
    case ACT_MOVE:
        return move(broker, by, job, act);
    }
    UNREACHABLE();
}

enum status broker_act(struct broker *broker, struct session *by, uint64_t id,
                       const struct act *act)
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
    return act_on(broker, by, job, act);
}
