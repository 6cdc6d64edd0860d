/* SPDX-License-Identifier: MIT */
#include "tests/core/oracle_gates.h"
#include "tests/core/oracle_states.h"

// The core tells waits in these.
#define STEP (INT64_C(1) << 20)

static nsec_t steps_until_over(const struct oracle_gate *gate)
{
    return (gate->expire_for - 1) / STEP + 2;
}

nsec_t model_over_at(const struct oracle *o, const struct oracle_job *job)
{
    const struct oracle_gate *gate = &o->gates[job->queue];

    return job->state == JOB_READY && gate->expire_for > 0
               ? (job->ready_at / STEP + steps_until_over(gate)) * STEP
               : NSEC_NEVER;
}

void model_expire_all(struct oracle *o)
{
    EACH_JOB(o, job)
    {
        if (model_over_at(o, job) <= o->now.mono) {
            TALLY(o, job, expired);
            model_end(o, job, "failed");
        }
    }
}
