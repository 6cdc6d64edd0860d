/* SPDX-License-Identifier: MIT */
#include "tests/core/oracle_gates.h"

#include "tests/core/oracle_states.h"
#include "tests/support/broker_check.h"
#include "tests/support/policies.h"

#define STRIDE (UINT64_C(1) << 24)

static nsec_t opens_at(const struct oracle_gate *gate)
{
    return gate->rests_at - (nsec_t)((gate->burst > 1 ? gate->burst - 1 : 0) * gate->interval_for);
}

static bool rate_closes(const struct oracle *o, const struct oracle_gate *gate)
{
    return gate->interval_for > 0 && opens_at(gate) > o->now.mono;
}

static uint64_t count_in(const struct oracle *o, int queue, bool held)
{
    uint64_t count = 0;

    for (const struct oracle_job *job = o->jobs; job < o->jobs + ORACLE_JOBS; job++) {
        count += job->id && job->queue == queue &&
                 (held ? job->state == JOB_RESERVED : job->state != JOB_BURIED);
    }
    return count;
}

bool oracle_full(const struct oracle *o, int queue)
{
    uint64_t most = o->gates[queue].max_jobs;

    return most > 0 && count_in(o, queue, false) >= most;
}

bool model_open(const struct oracle *o, int queue)
{
    const struct oracle_gate *gate = &o->gates[queue];

    return !o->paused_until[queue] && !rate_closes(o, gate) &&
           (gate->max_running == 0 || count_in(o, queue, true) < gate->max_running);
}

static void review(struct oracle *o, struct oracle_gate *gate)
{
    if (rate_closes(o, gate) && gate->wakes_at != opens_at(gate)) {
        gate->wakes_at = opens_at(gate);
        gate->closed = ++o->stamp;
    }
}

void model_gate_take(struct oracle *o, int queue)
{
    struct oracle_gate *gate = &o->gates[queue];

    if (gate->interval_for > 0) {
        gate->rests_at = (gate->rests_at > o->now.mono ? gate->rests_at : o->now.mono) +
                         (nsec_t)gate->interval_for;
        review(o, gate);
    }
}

void model_gates_tick(struct oracle *o)
{
    for (;;) {
        int first = -1;

        for (int i = 0; i < ORACLE_QUEUES; i++) {
            if (o->gates[i].wakes_at <= o->now.mono &&
                (first < 0 || o->gates[i].closed < o->gates[first].closed)) {
                first = i;
            }
        }
        if (first < 0) {
            return;
        }
        o->gates[first].wakes_at = NSEC_NEVER;
        review(o, &o->gates[first]);
    }
}

bool model_gate_keeps(struct oracle *o, int queue)
{
    struct oracle_gate *gate = &o->gates[queue];

    if (gate->rests_at <= o->now.mono) {
        gate->rests_at = 0;
        gate->wakes_at = NSEC_NEVER;
        gate->tag = 0;
        return false;
    }
    if (gate->wakes_at == NSEC_NEVER) {
        gate->wakes_at = gate->rests_at;
    }
    return true;
}

//
// Weights
//

static bool goes_first(const struct oracle_job *a, const struct oracle_job *b)
{
    return a->pri != b->pri ? a->pri < b->pri : a->seq < b->seq;
}

struct candidates {
    struct oracle_job *best[ORACLE_QUEUES + 1]; // of queues with a weight; of all others
    uint32_t pri;
    uint64_t last;
    int count;
};

static uint64_t tag_of(const struct oracle *o, int place)
{
    return place < ORACLE_QUEUES ? o->gates[place].tag : o->others;
}

static uint64_t stride_of(const struct oracle *o, int place)
{
    return place < ORACLE_QUEUES ? STRIDE / o->gates[place].weight : STRIDE;
}

// The candidates of the session; the number of those with the lowest priority number.
static struct candidates gather(struct oracle *o, int session)
{
    const struct oracle_session *who = &o->sessions[session];
    struct candidates choice = {.pri = UINT32_MAX};

    EACH_JOB(o, job)
    {
        int place = o->gates[job->queue].weight ? job->queue : ORACLE_QUEUES;

        if (job->state == JOB_READY && who->subs[job->queue].on && !who->subs[job->queue].barred &&
            model_open(o, job->queue) &&
            (!choice.best[place] || goes_first(job, choice.best[place]))) {
            choice.best[place] = job;
            choice.pri = job->pri < choice.pri ? job->pri : choice.pri;
        }
    }
    for (int i = 0; i <= ORACLE_QUEUES; i++) {
        if (choice.best[i] && choice.best[i]->pri == choice.pri) {
            uint64_t began = tag_of(o, i) > stride_of(o, i) ? tag_of(o, i) - stride_of(o, i) : 0;

            choice.last = began > choice.last ? began : choice.last;
            choice.count++;
        }
    }
    return choice;
}

static bool weighs(const struct oracle *o, int session)
{
    bool some = false;
    int subscriptions = 0;

    for (int i = 0; i < ORACLE_QUEUES; i++) {
        some = some || o->gates[i].weight > 0;
        subscriptions += o->sessions[session].subs[i].on;
    }
    return some && subscriptions > 1 && !o->sessions[session].in_turn;
}

struct oracle_job *model_weigh(struct oracle *o, int session)
{
    struct oracle_job *best = NULL;
    uint64_t best_tag = 0;
    struct candidates choice;

    if (!weighs(o, session)) {
        return NULL;
    }
    choice = gather(o, session);
    for (int i = 0; i <= ORACLE_QUEUES; i++) {
        struct oracle_job *job = choice.best[i];
        uint64_t tag = tag_of(o, i);

        if (job && job->pri == choice.pri &&
            (!best || tag < best_tag || (tag == best_tag && job->seq < best->seq))) {
            best = job;
            best_tag = tag;
        }
    }
    return best;
}

// Before it is taken.
void model_weigh_take(struct oracle *o, int session, const struct oracle_job *job)
{
    int place = o->gates[job->queue].weight ? job->queue : ORACLE_QUEUES;
    struct candidates choice;
    uint64_t tag;

    if (!weighs(o, session)) {
        return;
    }
    choice = gather(o, session);
    tag = tag_of(o, place) > choice.last ? tag_of(o, place) : choice.last;
    if (choice.count > 1 && place < ORACLE_QUEUES) {
        o->gates[place].tag = tag + stride_of(o, place);
    } else if (choice.count > 1) {
        o->others = tag + STRIDE;
    }
}

//
// Policies that change
//

static void choose_policy(struct oracle_gate *gate, int queue, uint64_t random)
{
    gate->max_jobs = random % 5 == 0 ? 3 + random / 5 % 3 : 0;
    gate->max_running = random / 15 % 3 == 0 ? 1 + random / 45 % 2 : 0;
    // No two queues have rates that end together, and none ends with a pause.
    gate->interval_for =
        random / 90 % 2 ? (uint64_t)(MSEC(100 + 150 * (nsec_t)(random / 180 % 3)) + 7 + queue) : 0;
    gate->burst = random / 540 % 4;
    gate->expire_for = random / 19440 % 3 == 0 ? MSEC(300 + 700 * (nsec_t)(random / 58320 % 3)) : 0;
    gate->weight = random / 2160 % 3 == 0 ? 1 + random / 6480 % 3 : 0;
}

static bool gated(const struct oracle_gate *gate)
{
    return gate->max_running || gate->interval_for || gate->weight || gate->expire_for;
}

static void set(struct oracle *o, struct oracle_gate *gate)
{
    nsec_t ahead_for = (nsec_t)((gate->burst > 1 ? gate->burst - 1 : 0) * gate->interval_for);
    nsec_t worst_at = o->now.mono + ahead_for + (nsec_t)gate->interval_for;

    gate->wakes_at = NSEC_NEVER;
    if (!gated(gate)) {
        gate->rests_at = 0;
        gate->tag = 0;
    } else if (gate->rests_at > worst_at) {
        gate->rests_at = worst_at;
    }
    review(o, gate);
}

void oracle_play_policy(struct oracle *o, struct stage *s, uint64_t random,
                        const char *const *queue_names, uint32_t queues)
{
    int changed = (int)(random % queues);
    struct policy_rule rules[ORACLE_QUEUES] = {{.tag = 0}};

    choose_policy(&o->gates[changed], changed, random >> 8);
    for (uint32_t i = 0; i < queues; i++) {
        const struct oracle_gate *gate = &o->gates[i];

        rules[i] = (struct policy_rule){.glob = stage_slice(queue_names[i]),
                                        .spec = {.max_jobs = gate->max_jobs,
                                                 .max_running = gate->max_running,
                                                 .rate_interval_for = (nsec_t)gate->interval_for,
                                                 .burst = (uint32_t)gate->burst,
                                                 .expire_after_for = gate->expire_for,
                                                 .weight = (uint32_t)gate->weight}};
        set(o, &o->gates[i]);
    }
    assert_status(STATUS_OK, set_policies(s->broker, rules, queues));
    while (!check_policies_settled(s->broker)) {
        broker_tick(s->broker, s->now);
    }
    stage_step(s);
    model_expire_all(o);
    model_meet_all(o);
}

//
// Expiry
//

// The core stores waits in steps of this length.
#define WAIT_STEP (INT64_C(1) << 20)

static nsec_t steps_until_over(const struct oracle_gate *gate)
{
    return (gate->expire_for - 1) / WAIT_STEP + 2;
}

nsec_t model_over_at(const struct oracle *o, const struct oracle_job *job)
{
    const struct oracle_gate *gate = &o->gates[job->queue];

    return job->state == JOB_READY && gate->expire_for > 0
               ? (job->ready_at / WAIT_STEP + steps_until_over(gate)) * WAIT_STEP
               : NSEC_NEVER;
}

void model_expire_all(struct oracle *o)
{
    EACH_JOB(o, job)
    {
        if (model_over_at(o, job) <= o->now.mono) {
            ORACLE_COUNT(o, job, expired);
            model_end(o, job, "failed");
        }
    }
}
