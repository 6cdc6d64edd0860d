/* SPDX-License-Identifier: MIT */
#include "tests/core/oracle_gates.h"
#include "tests/core/oracle_states.h"

// The core tells waits in these.
#define STEP (INT64_C(1) << 20)

static nsec_t steps_until_over(const struct oracle_gate *gate)
{
    return (gate->expire_for - 1) / STEP + 2;
}

static nsec_t steps_waited(const struct oracle *o, const struct oracle_job *job)
{
    return o->now.mono / STEP - job->ready_at / STEP;
}

bool model_over(const struct oracle *o, const struct oracle_job *job)
{
    const struct oracle_gate *gate = &o->gates[job->queue];

    return job->state == JOB_READY && gate->expire_for > 0 &&
           steps_waited(o, job) >= steps_until_over(gate);
}

void model_came(struct oracle *o, int queue)
{
    struct oracle_gate *gate = &o->gates[queue];

    if (gate->expire_for > 0 && gate->looks_at == NSEC_NEVER) {
        gate->looks_at = (o->now.mono / STEP + steps_until_over(gate)) * STEP;
    }
}

void model_expire(struct oracle *o, struct oracle_job *job)
{
    TALLY(o, job, expired);
    model_end(o, job, "failed");
}

// It has been ready since it was submitted, as far as can be told: so have those behind it.
static bool came_straight(const struct oracle *o, const struct oracle_job *job)
{
    nsec_t created_at = job->created_at / NSEC_PER_MSEC * NSEC_PER_MSEC;

    return o->now.mono - created_at - steps_waited(o, job) * STEP < MSEC(4);
}

// The next ready job of the queue behind that place; NULL for none.
static struct oracle_job *next_ready(struct oracle *o, int queue, uint32_t pri, uint64_t seq)
{
    struct oracle_job *next = NULL;

    EACH_JOB(o, job)
    {
        if (job->queue == queue && job->state == JOB_READY &&
            (job->pri > pri || (job->pri == pri && job->seq > seq)) &&
            (!next || job->pri < next->pri || (job->pri == next->pri && job->seq < next->seq))) {
            next = job;
        }
    }
    return next;
}

void model_look(struct oracle *o, int queue)
{
    struct oracle_gate *gate = &o->gates[queue];
    nsec_t longest = 0;
    struct oracle_job *job;
    uint64_t seq = 0;
    uint32_t pri = 0;

    while ((job = next_ready(o, queue, pri, seq)) != NULL) {
        pri = job->pri;
        seq = job->seq;
        if (model_over(o, job)) {
            model_expire(o, job);
        } else {
            longest = steps_waited(o, job) > longest ? steps_waited(o, job) : longest;
            seq = came_straight(o, job) ? UINT64_MAX : seq;
        }
    }
    gate->looks_at = NSEC_NEVER;
    if (next_ready(o, queue, 0, 0)) {
        nsec_t soonest_at = o->now.mono + gate->expire_for / 64;

        gate->looks_at = (o->now.mono / STEP - longest + steps_until_over(gate)) * STEP;
        gate->looks_at = gate->looks_at > soonest_at ? gate->looks_at : soonest_at;
    }
}

void model_looks_tick(struct oracle *o)
{
    for (int i = 0; i < ORACLE_QUEUES; i++) {
        if (o->gates[i].looks_at <= o->now.mono) {
            model_look(o, i);
        }
    }
}
