/* SPDX-License-Identifier: MIT */
#include "tests/core/oracle_operate.h"

#include "tests/core/oracle_gates.h"
#include "tests/core/oracle_states.h"

static enum status bury(struct oracle *o, struct oracle_job *job, const struct job_act *act)
{
    if (job->state == JOB_BURIED) {
        return STATUS_WRONG_STATE;
    }
    job->pri = act->sets_pri ? act->pri : job->pri;
    job->last_holder = 0;
    if (job->durable) {
        model_bury(o, job);
    } else {
        ORACLE_COUNT(o, job, failed);
        model_end(o, job, "failed");
    }
    return STATUS_OK;
}

static enum status change(struct oracle *o, struct oracle_job *job, const struct job_act *act)
{
    if (act->sets_delay && (job->state == JOB_RESERVED || job->state == JOB_BURIED)) {
        return STATUS_WRONG_STATE;
    }
    job->pri = act->sets_pri ? act->pri : job->pri;
    job->placed = job->state == JOB_READY ? ++o->stamp : job->placed;
    if (act->sets_delay && (act->delay_for > 0 || job->state == JOB_DELAYED)) {
        if (job->state == JOB_READY && job->last_holder) {
            model_tell_watchers(o, job, "retried");
        }
        job->last_holder = 0;
        model_start(o, job, o->now.mono + act->delay_for, false);
        job->imposed = true;
    }
    return STATUS_OK;
}

static enum status release(struct oracle *o, struct oracle_job *job, const struct job_act *act)
{
    struct job_act ends_delay = *act;

    if (job->state == JOB_RESERVED) {
        return oracle_release(o, job->holder, job->id, act->sets_pri ? act->pri : job->pri,
                              act->sets_delay ? act->delay_for : 0);
    }
    ends_delay.delay_for = act->sets_delay ? act->delay_for : 0;
    ends_delay.sets_delay = true;
    return job->state == JOB_DELAYED ? change(o, job, &ends_delay) : STATUS_WRONG_STATE;
}

static enum status move(struct oracle *o, struct oracle_job *job, int to)
{
    if (job->state == JOB_RESERVED) {
        return STATUS_HELD;
    }
    if (job->queue == to) {
        return STATUS_OK;
    }
    job->keyed = job->keyed && !oracle_namesake(o, to, job->plan.key);
    job->queue = to;
    job->attempts = 0;
    job->placed = ++o->stamp;
    if (job->state == JOB_BURIED) {
        job->buried = ++o->stamp;
    } else if (job->state == JOB_DELAYED) {
        job->delayed = ++o->stamp;
    } else if (job->state == JOB_READY) {
        if (o->gates[to].expire_for > 0) {
            job->ready_at = o->now.mono;
        }
        model_assign(o, job);
    }
    return STATUS_OK;
}

static enum status instead(enum status answer, enum status of, enum status give)
{
    return answer == of ? give : answer;
}

enum status oracle_act(struct oracle *o, uint64_t id, const struct job_act *act, int to)
{
    struct oracle_job *job = oracle_find(o, id);

    if (!job) {
        return STATUS_NOT_FOUND;
    }
    switch (act->kind) {
    case ACT_DELETE:
        return oracle_cancel(o, id, true);
    case ACT_KICK:
        return instead(oracle_kick_id(o, id), STATUS_NOT_FOUND, STATUS_WRONG_STATE);
    case ACT_BURY:
        return bury(o, job, act);
    case ACT_RELEASE:
        return release(o, job, act);
    case ACT_TOUCH:
        return job->state == JOB_RESERVED ? oracle_touch(o, job->holder, id) : STATUS_WRONG_STATE;
    case ACT_CHANGE:
        return change(o, job, act);
    case ACT_MOVE:
        return move(o, job, to);
    }
    return STATUS_MORE;
}

//
// Random acts
//

static uint32_t draw(uint64_t *chance, uint32_t bound)
{
    *chance = *chance * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)(*chance >> 33) % bound;
}

static struct job_act draw_act(uint64_t *chance, struct slice to)
{
    return (struct job_act){
        .kind = (enum act_kind)draw(chance, ACT_MOVE + 1),
        .sets_pri = draw(chance, 2),
        .pri = draw(chance, 3),
        .sets_delay = draw(chance, 2),
        .delay_for = draw(chance, 2) ? SEC(1 + draw(chance, 3)) : 0,
        .to = to,
    };
}

void oracle_play_act(struct oracle *o, struct stage *s, uint64_t id, uint64_t chance,
                     const char *const *queue_names, uint32_t queues)
{
    int to = (int)draw(&chance, queues);
    struct job_act act = draw_act(&chance, stage_slice(queue_names[to]));

    assert_status(oracle_act(o, id, &act, to), stage_act(s, NULL, id, &act));
}

// In the order in which a sweep meets jobs of one state.
static bool met_before(const struct oracle_job *a, const struct oracle_job *b)
{
    if (a->state == JOB_READY) {
        return a->pri != b->pri ? a->pri < b->pri : a->seq < b->seq;
    }
    if (a->state == JOB_BURIED) {
        return a->buried < b->buried;
    }
    if (a->on_wall != b->on_wall) {
        return b->on_wall;
    }
    return a->due_at != b->due_at ? a->due_at < b->due_at : a->delayed < b->delayed;
}

// The ids of the queue's jobs of that state.
static size_t list_jobs(struct oracle *o, int queue, enum job_state state, uint64_t *ids)
{
    const struct oracle_job *jobs[ORACLE_JOBS];
    size_t count = 0;

    EACH_JOB(o, job)
    {
        if (job->queue == queue && job->state == state) {
            size_t at = count++;

            for (; at > 0 && met_before(job, jobs[at - 1]); at--) {
                jobs[at] = jobs[at - 1];
            }
            jobs[at] = job;
        }
    }
    for (size_t i = 0; i < count; i++) {
        ids[i] = jobs[i]->id;
    }
    return count;
}

// Acts on the listed jobs; the number of jobs that changed.
static uint64_t model_sweep(struct oracle *o, const struct sweep *sweep, int to,
                            const uint64_t ids[ORACLE_JOBS], size_t count)
{
    uint64_t done = 0;

    for (size_t i = 0; i < count; i++) {
        const struct oracle_job *job = oracle_find(o, ids[i]);
        const struct job_act *act = &sweep->act;
        bool is_so = act->kind == ACT_CHANGE && (!act->sets_pri || act->pri == job->pri) &&
                     (!act->sets_delay || (act->delay_for == 0 && job->state == JOB_READY));

        if (job->pri >= sweep->filter.min_pri && !is_so && (!sweep->most || done < sweep->most)) {
            done += oracle_act(o, ids[i], act, to) == STATUS_OK;
        }
    }
    return done;
}

// Held jobs, whose order depends on where their sessions stand, are left alone.
void oracle_play_sweep(struct oracle *o, struct stage *s, uint64_t chance,
                       const char *const *queue_names, uint32_t queues)
{
    static const enum job_state states[] = {JOB_READY, JOB_DELAYED, JOB_BURIED};
    int queue = (int)draw(&chance, queues);
    int to = (int)draw(&chance, queues);
    struct sweep sweep = {
        .queue = stage_slice(queue_names[queue]),
        .filter = JOB_FILTER_ALL,
        .act = draw_act(&chance, stage_slice(queue_names[to])),
        .most = draw(&chance, 3),
    };
    uint64_t ids[ORACLE_JOBS];
    size_t count = 0;
    enum status status;

    sweep.filter.states = draw(&chance, 16) & ~JOB_IN(JOB_RESERVED);
    sweep.filter.min_pri = draw(&chance, 2);
    if (!sweep.filter.states || !stage_find(s, queue_names[queue])) {
        return;
    }
    assert_status(STATUS_OK, broker_sweep_begin(s->broker, NULL, &sweep));
    do {
        status = broker_sweep(s->broker, NULL, &sweep);
        stage_step(s);
    } while (status == STATUS_MORE);
    assert_status(STATUS_OK, status);
    for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
        if (sweep.filter.states & JOB_IN(states[i]) &&
            (sweep.act.kind != ACT_MOVE || queue != to)) {
            count += list_jobs(o, queue, states[i], ids + count);
        }
    }
    assert_int_equal(sweep.counts.done, model_sweep(o, &sweep, to, ids, count));
}
