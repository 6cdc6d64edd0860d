/* SPDX-License-Identifier: MIT */

// Which jobs a sweep is about, and where it begins.

#include "core/operate_private.h"

#include "core/session_private.h"
#include "core/job_private.h"
#include "core/queue_private.h"

#include <string.h>

static unsigned usual_states(const struct act *act)
{
    switch (act->kind) {
    case ACT_RELEASE:
    case ACT_TOUCH:
        return JOB_IN(JOB_RESERVED);
    case ACT_KICK:
        return act_states(act);
    case ACT_DELETE:
    case ACT_BURY:
    case ACT_CHANGE:
    case ACT_MOVE:
        return act_states(act) | JOB_IN(JOB_RESERVED);
    }
    UNREACHABLE();
}

static void choose_states(struct sweep *sweep)
{
    const struct act *act = &sweep->act;
    unsigned named = sweep->filter.states & JOB_IN_ANY;
    unsigned can = act_states(act);
    unsigned states = named ? named & (can | JOB_IN(JOB_RESERVED)) : usual_states(act);

    sweep->walk.states = (uint8_t)states;
    sweep->walk.takes_held = (can & JOB_IN(JOB_RESERVED)) &&
                             (named || act->kind == ACT_RELEASE || act->kind == ACT_TOUCH);
}

static uint64_t total_of(const uint64_t jobs[JOB_STATES], unsigned states)
{
    uint64_t total = 0;

    for (unsigned state = 0; state < JOB_STATES; state++) {
        total += states & JOB_IN(state) ? jobs[state] : 0;
    }
    return total;
}

static enum status check_target(const struct session *by, struct slice name)
{
    if (name.len == 0 || memchr(name.ptr, '\0', name.len)) {
        return STATUS_BAD_NAME;
    }
    if (name.len > QUEUE_NAME_MAX) {
        return STATUS_TOO_LARGE;
    }
    return session_may_by_name(by, MAY_SUBMIT, name) ? STATUS_OK : STATUS_FORBIDDEN;
}

static enum status check(struct broker *broker, const struct session *by, const struct sweep *sweep)
{
    bool may = sweep->queue.len > 0 ? session_may_by_name(by, MAY_OPERATE, sweep->queue)
                                    : session_may_somewhere(by, MAY_OPERATE);

    if (!may) {
        return STATUS_FORBIDDEN;
    }
    if (sweep->queue.len > 0 && !broker_queue_find(broker, sweep->queue)) {
        return STATUS_NOT_FOUND;
    }
    return sweep->act.kind == ACT_MOVE && !sweep->act.back ? check_target(by, sweep->act.to)
                                                           : STATUS_OK;
}

enum status broker_sweep_begin(struct broker *broker, const struct session *by, struct sweep *sweep)
{
    enum status status = check(broker, by, sweep);
    const struct queue *queue;
    const uint64_t *jobs;

    if (status != STATUS_OK) {
        return status;
    }
    queue = sweep->queue.len > 0 ? broker_queue_find(broker, sweep->queue) : NULL;
    jobs = queue ? queue->jobs : broker->count.jobs;
    sweep->counts = (struct sweep_counts){0};
    sweep->search = (struct body_search){0};
    sweep->walk = (struct sweep_walk){
        .moment = broker->snapshots.moment,
        .id = broker->next.id,
        .seq = broker->next.seq,
        .burial = broker->next.burial,
        .order = broker->next.delay,
        .session = broker->next.session,
        .began_at = broker->now.mono,
    };
    choose_states(sweep);
    sweep->total = total_of(jobs, sweep->walk.states);
    // A job that is held anew meanwhile may be met again: that must end.
    if (sweep->walk.states & JOB_IN(JOB_RESERVED) && jobs[JOB_RESERVED] > 0) {
        sweep->walk.leases = 2 * broker->count.jobs[JOB_RESERVED];
    }
    return STATUS_OK;
}
