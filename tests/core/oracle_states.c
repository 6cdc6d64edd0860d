/* SPDX-License-Identifier: MIT */
#include "tests/core/oracle_states.h"

#include <stdio.h>
#include <string.h>

void model_tell(struct oracle *o, int session, const char *what, uint64_t id)
{
    char *line = o->told[o->lines++];

    assert_true(o->lines < ORACLE_LINES);
    if (id) {
        (void)snprintf(line, ORACLE_LINE, "s%d %s %llu", session, what, (unsigned long long)id);
    } else {
        (void)snprintf(line, ORACLE_LINE, "s%d %s", session, what);
    }
}

void model_tell_watchers(struct oracle *o, const struct oracle_job *job, const char *what)
{
    for (int i = 0; i < job->watches; i++) {
        model_tell(o, job->watchers[i], what, job->id);
    }
}

nsec_t model_min(nsec_t a, nsec_t b)
{
    return a < b ? a : b;
}

nsec_t oracle_lease_end(const struct oracle_job *job)
{
    return model_min(job->ttr_at, job->limit_at);
}

struct oracle_job *oracle_find(struct oracle *o, uint64_t id)
{
    EACH_JOB(o, job)
    {
        if (job->id == id) {
            return job;
        }
    }
    return NULL;
}

struct oracle_job *model_held(struct oracle *o, int session, uint64_t id)
{
    struct oracle_job *job = oracle_find(o, id);

    return job && job->state == JOB_RESERVED && job->holder == session ? job : NULL;
}

struct oracle_job *oracle_namesake(struct oracle *o, int queue, const char *key)
{
    EACH_JOB(o, job)
    {
        if (key && job->keyed && job->queue == queue && strcmp(job->plan.key, key) == 0) {
            return job;
        }
    }
    return NULL;
}

const struct oracle_job *oracle_first_of_name(const struct oracle *o, const char *key)
{
    const struct oracle_job *first = NULL;

    for (const struct oracle_job *job = o->jobs; job < o->jobs + ORACLE_JOBS; job++) {
        if (job->id && job->keyed && strcmp(job->plan.key, key) == 0 &&
            (!first || job->claimed < first->claimed)) {
            first = job;
        }
    }
    return first;
}

//
// From state to state
//

void model_end(struct oracle *o, struct oracle_job *job, const char *told)
{
    if (told) {
        model_tell_watchers(o, job, told);
    }
    job->id = 0;
}

void model_lease(struct oracle *o, struct oracle_job *job, int session, bool by_id)
{
    struct oracle_sub *sub = &o->sessions[session].subs[job->queue];
    bool limited = !by_id && sub->limit_for;

    if (job->last_holder) {
        model_tell_watchers(o, job, "retried");
    }
    job->state = JOB_RESERVED;
    job->holder = session;
    job->by_id = by_id;
    job->last_holder = 0;
    job->reserves++;
    job->ttr_at = job->plan.ttr_for ? o->now.mono + job->plan.ttr_for : NSEC_NEVER;
    job->limit_at = limited ? o->now.mono + sub->limit_for : NSEC_NEVER;
    job->on_limit = limited ? sub->on_limit : ON_LIMIT_RETRY;
    if (!by_id) {
        sub->served = (int64_t)++o->stamp;
    }
}

// The session that has waited longest on the queue, -1 for none.
static int longest_waiting(const struct oracle *o, int queue)
{
    int longest = -1;

    for (int i = 0; i < ORACLE_SESSIONS; i++) {
        const struct oracle_session *session = &o->sessions[i];

        if (session->wait_state == ORACLE_WAITS_FOR_JOB && session->subs[queue].on &&
            (longest < 0 || session->waits_since < o->sessions[longest].waits_since)) {
            longest = i;
        }
    }
    return longest;
}

// True where the job went to a waiter.
bool model_assign(struct oracle *o, struct oracle_job *job)
{
    int waiter = o->paused_until[job->queue] ? -1 : longest_waiting(o, job->queue);

    if (waiter < 0) {
        return false;
    }
    o->sessions[waiter].wait_state = ORACLE_WAITS_NOT;
    model_lease(o, job, waiter, false);
    model_tell(o, waiter, "leased", job->id);
    return true;
}

static void gather(struct oracle *o, int queue)
{
    int i = 0;

    while (i < o->gathered_count && o->gathered[i] != queue) {
        i++;
    }
    o->gathered[i] = queue;
    o->gathered_count += i == o->gathered_count;
}

void model_ready(struct oracle *o, struct oracle_job *job)
{
    job->state = JOB_READY;
    if (o->gathering) {
        gather(o, job->queue);
    } else {
        model_assign(o, job);
    }
}

// The best jobs of the queue go to its waiters, as long as there are any of both.
void model_meet(struct oracle *o, int queue)
{
    struct oracle_job *best;

    do {
        best = NULL;
        EACH_JOB(o, job)
        {
            if (job->queue == queue && job->state == JOB_READY &&
                (!best || job->pri < best->pri ||
                 (job->pri == best->pri && job->seq < best->seq))) {
                best = job;
            }
        }
    } while (best && model_assign(o, best));
}

// The same start as said by either clock, counted from now.
nsec_t model_left_until(const struct oracle *o, nsec_t at, bool on_wall)
{
    return at - (on_wall ? o->now.wall : o->now.mono);
}

void model_start(struct oracle *o, struct oracle_job *job, nsec_t at, bool on_wall)
{
    if (model_left_until(o, at, on_wall) > 0) {
        job->state = JOB_DELAYED;
        job->delayed = ++o->stamp;
        job->due_at = at;
        job->on_wall = on_wall;
    } else {
        model_ready(o, job);
    }
}

void model_bury(struct oracle *o, struct oracle_job *job)
{
    model_tell_watchers(o, job, "failed");
    job->watches = 0;
    job->state = JOB_BURIED;
    job->buried = ++o->stamp;
    job->keyed = false;
}

void model_failed(struct oracle *o, struct oracle_job *job)
{
    if (job->durable && job->plan.on_fail == ON_FAIL_BURY) {
        model_bury(o, job);
    } else {
        model_end(o, job, "failed");
    }
}

bool model_abandoned(const struct oracle_job *job)
{
    return !job->durable && job->watches == 0;
}

void model_lost(struct oracle *o, struct oracle_job *job, enum loss why)
{
    uint32_t most = job->plan.max_attempts;

    job->attempts++;
    if (why != LOST_LEFT) {
        job->timeouts++;
        o->timeouts++;
    }
    if (model_abandoned(job)) {
        model_end(o, job, NULL);
    } else if ((most && job->attempts >= most) ||
               (why == LOST_LIMIT && job->on_limit == ON_LIMIT_FAIL)) {
        model_failed(o, job);
    } else {
        if (why != LOST_TTR) {
            model_tell_watchers(o, job, "retried");
        }
        if (job->plan.on_loss == ON_LOSS_BACK) {
            job->seq = ++o->stamp;
        }
        job->last_holder = why == LOST_TTR ? o->sessions[job->holder].number : 0;
        model_ready(o, job);
    }
}

// Before a buried job leaves that state.
void model_reclaim_key(struct oracle *o, struct oracle_job *job)
{
    if (job->state == JOB_BURIED && job->plan.key &&
        !oracle_namesake(o, job->queue, job->plan.key)) {
        job->keyed = true;
        job->claimed = ++o->stamp;
    }
}

void model_kick(struct oracle *o, struct oracle_job *job)
{
    model_reclaim_key(o, job);
    job->kicks++;
    job->attempts = 0;
    model_ready(o, job);
}
