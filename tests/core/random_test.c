/* SPDX-License-Identifier: MIT */
// Random verbs of several sessions; after each, the broker is compared with a plain model. To
// repeat a run that failed, set TEST_SEED to the seed that it printed; TEST_TRACE
// prints each verb.
#include "tests/core/oracle_gates.h"
#include "tests/core/oracle_operate.h"
#include "tests/core/oracle_restart.h"
#include "tests/core/oracle_inspect.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 8, STEPS = 25000 };

// A run has few queues, so that many verbs concern the same queue, or many, to choose among.
enum { FEW_QUEUES = 3 };

// The smallest number of records before the broker is restarted from them.
enum { RECORDS = STAGE_TAPE / 2 };

static const char *const queue_names[ORACLE_QUEUES] = {
    "q",  "r",  "s",  "a",  "b",  "c",  "d",  "e",  "f",  "g",
    "q1", "r1", "s1", "a1", "b1", "c1", "d1", "e1", "f1", "g1",
};
static const char *const key_names[] = {"k", "l", NULL, NULL};

struct game {
    struct stage *s;
    struct oracle o;
    struct stage_tape tape;
    struct actor *actors[ORACLE_SESSIONS];
    uint64_t random;
    uint64_t last_id;
    uint32_t queues;
    bool policies; // queues have policies, which change
    struct oracle_inspector inspector;
};

static uint32_t below(struct game *g, uint32_t bound)
{
    g->random ^= g->random << 13;
    g->random ^= g->random >> 7;
    g->random ^= g->random << 17;
    return (uint32_t)(g->random >> 32) % bound;
}

// The id of any job that may still live, or of none.
static uint64_t some_id(struct game *g)
{
    struct oracle_job *job = &g->o.jobs[below(g, ORACLE_JOBS)];

    return job->id && below(g, 8) ? job->id : 1 + below(g, (uint32_t)g->last_id + 1);
}

// A job of that session, more often than not.
static uint64_t some_id_of(struct game *g, int session)
{
    for (int tries = 0; tries < 24; tries++) {
        struct oracle_job *job = &g->o.jobs[below(g, ORACLE_JOBS)];

        if (job->id && job->state == JOB_RESERVED && job->holder == session) {
            return job->id;
        }
    }
    return some_id(g);
}

//
// Verbs: each is done by the broker and by the oracle, and both must answer the same
//

typedef void (*move_fn)(struct game *g, int session);

static void settle(struct game *g);

static void move_put(struct game *g, int session)
{
    struct plan plan = {
        .pri = below(g, 3),
        .ttr_for = SEC(below(g, 4)),
        .max_attempts = below(g, 4),
        .on_fail = below(g, 2) ? ON_FAIL_BURY : ON_FAIL_DROP,
        .on_loss = below(g, 2) ? ON_LOSS_FRONT : ON_LOSS_BACK,
        .key = key_names[below(g, 4)],
        .fleeting = below(g, 3) == 0,
    };
    int queue = (int)below(g, g->queues);
    int watcher = plan.fleeting || below(g, 2) ? session : -1;
    struct oracle_job *namesake = oracle_namesake(&g->o, queue, plan.key);
    struct submission submission;
    size_t live = 0;

    for (size_t i = 0; i < ORACLE_JOBS; i++) {
        live += g->o.jobs[i].id != 0;
    }
    if (live == ORACLE_JOBS || (namesake && namesake->watches == ORACLE_WATCHES)) {
        return;
    }
    if (below(g, 4) == 0) {
        plan.delay_for = SEC(1 + below(g, 3));
    } else if (below(g, 6) == 0) {
        plan.at = g->s->now.wall + SEC(1) * (nsec_t)below(g, 5) - SEC(1);
    }
    plan.queue = queue_names[queue];
    if (!namesake && oracle_full(&g->o, queue)) {
        assert_status(STATUS_QUEUE_FULL, stage_try_put(g->s, NULL, &plan, NULL));
        return;
    }
    assert_status(STATUS_OK,
                  stage_try_put(g->s, watcher < 0 ? NULL : g->actors[watcher], &plan, &submission));
    assert_int_equal(submission.joined, namesake != NULL);
    if (!submission.joined) {
        assert_true(submission.id > g->last_id);
        g->last_id = submission.id;
    }
    oracle_put(&g->o, queue, &plan, submission.id, watcher, submission.watch);
}

static void move_take(struct game *g, int session)
{
    assert_int_equal(act_take(g->actors[session]), oracle_take(&g->o, session));
}

static void move_take_id(struct game *g, int session)
{
    uint64_t id = some_id(g);

    assert_status(oracle_take_id(&g->o, session, id), act_take_id(g->actors[session], id));
}

static void move_wait(struct game *g, int session)
{
    nsec_t until = below(g, 3) ? g->s->now.mono + SEC(below(g, 4)) : NSEC_NEVER;
    nsec_t margin_for = below(g, 2) ? SEC(1) : -1;
    uint64_t id = act_take(g->actors[session]);

    assert_int_equal(id, oracle_take(&g->o, session));
    if (id == 0) {
        assert_status(oracle_wait(&g->o, session, until, margin_for),
                      act_wait_until(g->actors[session], until, margin_for));
    }
}

// gate_test.c tests the number of nudges for a queue that its policy opens for a few jobs.
static void move_await_nudge(struct game *g, int session)
{
    if (g->policies) {
        return;
    }
    act_await_nudge(g->actors[session]);
    oracle_await_nudge(&g->o, session);
}

static void move_unwait(struct game *g, int session)
{
    assert_true(act_unwait(g->actors[session]));
    oracle_unwait(&g->o, session);
}

static void move_complete(struct game *g, int session)
{
    uint64_t id = some_id_of(g, session);

    assert_status(oracle_complete(&g->o, session, id), act_complete(g->actors[session], id, NULL));
}

static void move_fail(struct game *g, int session)
{
    uint64_t id = some_id_of(g, session);

    assert_status(oracle_fail(&g->o, session, id), act_fail(g->actors[session], id, NULL));
}

static void move_release(struct game *g, int session)
{
    uint64_t id = some_id_of(g, session);
    uint32_t pri = below(g, 3);
    nsec_t delay_for = below(g, 3) ? 0 : SEC(1 + below(g, 3));

    assert_status(oracle_release(&g->o, session, id, pri, delay_for),
                  act_release(g->actors[session], id, pri, delay_for));
}

static void move_bury(struct game *g, int session)
{
    uint64_t id = some_id_of(g, session);
    uint32_t pri = below(g, 3);

    assert_status(oracle_bury(&g->o, session, id, pri), act_bury(g->actors[session], id, pri));
}

static void move_touch(struct game *g, int session)
{
    uint64_t id = some_id_of(g, session);

    assert_status(oracle_touch(&g->o, session, id), act_touch(g->actors[session], id));
}

static void move_end_limits(struct game *g, int session)
{
    act_end_limits(g->actors[session]);
    oracle_end_limits(&g->o, session);
}

static void move_report(struct game *g, int session)
{
    uint64_t id = some_id_of(g, session);

    assert_status(oracle_data(&g->o, session, id), act_data(g->actors[session], id, NULL));
}

static void move_cancel(struct game *g, int session)
{
    uint64_t id = some_id(g);
    bool even_held = below(g, 2);

    (void)session;
    assert_status(oracle_cancel(&g->o, id, even_held),
                  even_held ? stage_cancel_held(g->s, id) : stage_cancel(g->s, id));
}

static void move_kick(struct game *g, int session)
{
    int queue = (int)below(g, g->queues);
    uint32_t bound = below(g, 4);

    (void)session;
    assert_int_equal(oracle_kick(&g->o, queue, bound), stage_kick(g->s, queue_names[queue], bound));
}

static void move_operate(struct game *g, int session)
{
    (void)session;
    oracle_play_act(&g->o, g->s, some_id(g), g->random, queue_names, g->queues);
}

static void move_sweep(struct game *g, int session)
{
    (void)session;
    oracle_play_sweep(&g->o, g->s, g->random, queue_names, g->queues);
}

static void move_pause(struct game *g, int session)
{
    int queue = (int)below(g, g->queues);
    nsec_t pause_for = SEC(below(g, 3));

    (void)session;
    if (stage_find(g->s, queue_names[queue])) {
        assert_status(STATUS_OK, stage_pause(g->s, queue_names[queue], pause_for));
        oracle_pause(&g->o, queue, pause_for);
    }
}

static void move_policy(struct game *g, int session)
{
    (void)session;
    if (g->policies) {
        oracle_play_policy(&g->o, g->s, g->random, queue_names, g->queues);
    }
}

static void move_subscribe(struct game *g, int session)
{
    int queue = (int)below(g, g->queues);
    // No whole seconds, so that a limit and a time to run do not end at the same moment.
    struct subscription_terms terms = {.limit_for =
                                           below(g, 3) ? 0 : MSEC(700 + 1000 * below(g, 2)),
                                       .on_limit = below(g, 2) ? ON_LIMIT_RETRY : ON_LIMIT_FAIL};

    if (!oracle_may_work(&g->o, session, queue)) {
        return;
    }
    act_subscribe_on(g->actors[session], queue_names[queue], terms.limit_for, terms.on_limit);
    oracle_subscribe(&g->o, session, queue, &terms);
}

static void move_grant(struct game *g, int session)
{
    struct grant list[ORACLE_QUEUES + 1] = {{MAY_SUBMIT | MAY_OBSERVE, SLICE("*")}};
    bool allowed[ORACLE_QUEUES] = {false};
    bool ruled = below(g, 2);
    size_t count = 1;

    for (uint32_t i = 0; i < g->queues; i++) {
        allowed[i] = below(g, 2);
        list[count] = (struct grant){MAY_WORK, stage_slice(queue_names[i])};
        count += allowed[i];
    }
    act_grant(g->actors[session], ruled ? list : NULL, count);
    oracle_grant(&g->o, session, ruled ? allowed : NULL);
}

static void move_unsubscribe(struct game *g, int session)
{
    int queue = (int)below(g, g->queues);
    bool give_back = below(g, 2);

    if (give_back) {
        act_give_back(g->actors[session], queue_names[queue]);
    } else {
        act_unsubscribe(g->actors[session], queue_names[queue]);
    }
    oracle_unsubscribe(&g->o, session, queue, give_back);
}

static void move_unwatch(struct game *g, int session)
{
    struct oracle_job *job = &g->o.jobs[below(g, ORACLE_JOBS)];

    (void)session;
    if (job->id && job->watches) {
        int place = (int)below(g, (uint32_t)job->watches);
        struct watch *watch = job->handles[place];

        oracle_unwatch(&g->o, job, place);
        stage_unwatch(g->s, watch);
    }
}

static void open_session(struct game *g, int session)
{
    bool in_turn = session >= ORACLE_SESSIONS / 2;
    char name[8];

    (void)snprintf(name, sizeof name, "s%d", session);
    g->actors[session] = in_turn ? stage_open_in_turn(g->s, name) : stage_open(g->s, name);
    oracle_open(&g->o, session, in_turn);
    for (uint32_t i = 0; i < g->queues; i++) {
        move_subscribe(g, session);
    }
}

static void move_reopen(struct game *g, int session)
{
    act_close(g->actors[session]);
    oracle_close(&g->o, session);
    settle(g); // queues without other references are freed before it comes again
    open_session(g, session);
}

// The share of each verb. A session that waits does only what its front-end would do then.
static const struct move {
    unsigned weight;
    bool while_waiting;
    move_fn move;
    const char *name;
} moves[] = {
    {20, true, move_put, "put"},
    {10, false, move_take, "take"},
    {3, false, move_take_id, "take_id"},
    {8, false, move_wait, "wait"},
    {6, false, move_await_nudge, "await_nudge"},
    {2, true, move_unwait, "unwait"},
    {8, false, move_complete, "complete"},
    {2, false, move_fail, "fail"},
    {6, false, move_release, "release"},
    {4, false, move_bury, "bury"},
    {3, true, move_touch, "touch"},
    {1, false, move_end_limits, "end_limits"},
    {3, true, move_report, "report"},
    {3, true, move_cancel, "cancel"},
    {3, true, move_kick, "kick"},
    {8, true, move_operate, "operate"},
    {1, true, move_sweep, "sweep"},
    {2, true, move_pause, "pause"},
    {1, true, move_policy, "policy"},
    {2, false, move_subscribe, "subscribe"},
    {1, false, move_unsubscribe, "unsubscribe"},
    {3, true, move_unwatch, "unwatch"},
    {2, true, move_grant, "grant"},
    {1, true, move_reopen, "reopen"},
};

//
// Comparing
//

static void compare_job(struct game *g, const struct oracle_job *job)
{
    struct job_info info = stage_job(g->s, job->id);
    nsec_t left_for = 0;

    if (job->state == JOB_DELAYED) {
        left_for = job->due_at - (job->on_wall ? g->o.now.wall : g->o.now.mono);
    } else if (job->state == JOB_RESERVED && oracle_lease_end(job) != NSEC_NEVER) {
        left_for = oracle_lease_end(job) - g->o.now.mono;
    }
    assert_int_equal(info.state, job->state);
    assert_int_equal(info.pri, job->pri);
    assert_int_equal(info.attempts, job->attempts);
    assert_int_equal(info.reserves, job->reserves);
    assert_int_equal(info.timeouts, job->timeouts);
    assert_int_equal(info.releases, job->releases);
    assert_int_equal(info.kicks, job->kicks);
    assert_int_equal(info.watches, job->watches);
    assert_int_equal(info.durable, job->durable);
    assert_int_equal(info.remaining_for, left_for);
    if (job->state == JOB_RESERVED) {
        assert_true(job_held_by(g->s->broker, broker_find(g->s->broker, job->id),
                                g->actors[job->holder]->session));
    }
}

static void compare_names(struct game *g)
{
    for (size_t i = 0; i < 2; i++) {
        const struct job *found = broker_find_name(g->s->broker, stage_slice(key_names[i]));
        const struct oracle_job *first = oracle_first_of_name(&g->o, key_names[i]);

        assert_int_equal(found ? job_id(found) : 0, first ? first->id : 0);
    }
}

static void compare(struct game *g)
{
    struct broker_info info = stage_info(g->s);
    uint64_t jobs[JOB_STATES] = {0};

    oracle_expect_told(&g->o, g->s);
    compare_names(g);
    oracle_inspect_compare(&g->inspector, g->last_id, below(g, 3), below(g, 4));
    for (const struct oracle_job *job = g->o.jobs; job < g->o.jobs + ORACLE_JOBS; job++) {
        if (job->id) {
            compare_job(g, job);
            jobs[job->state]++;
        }
    }
    assert_memory_equal(jobs, info.jobs, sizeof jobs);
    assert_int_equal(info.timeouts, g->o.ever.timeouts);
    assert_int_equal(info.total_jobs, g->o.ever.submitted);
    assert_int_equal(broker_next_due(g->s->broker), oracle_next_due(&g->o));
}

//
// Restarting
//

// At random moments, the broker is restarted: from full records, and from all records.
static void restart(struct game *g)
{
    if (below(g, 100) == 0) {
        oracle_expect_restarted(&g->o, g->s, stage_restart(g->s, 0), queue_names, false);
    }
    if (g->tape.count > RECORDS) {
        oracle_expect_restarted(&g->o, g->s, stage_tape_play(&g->tape, g->s->now.wall), queue_names,
                                true);
        oracle_expect_restarted(&g->o, g->s, stage_tape_follow(&g->tape, g->random), queue_names,
                                true);
        stage_tape_begin(&g->tape);
        g->o.stepped = false;
    }
}

static void settle(struct game *g)
{
    stage_settle(g->s);
    oracle_settle(&g->o);
    compare(g);
}

// Time passes; each timer on the way fires at its own moment.
static void pass_time(struct game *g)
{
    nsec_t by_for = (nsec_t)below(g, below(g, 6) ? 1000000 : 2000000000) + 1;
    nsec_t until = g->s->now.mono + by_for;

    while (g->s->now.mono < until) {
        nsec_t next = broker_next_due(g->s->broker);
        nsec_t step_for = (next < until ? next : until) - g->s->now.mono;

        g->s->now.mono += step_for;
        g->s->now.wall += step_for;
        oracle_tick(&g->o, g->s->now);
        settle(g);
    }
    if (below(g, 200) == 0) {
        // By whole seconds: ages do not notice smaller steps.
        g->s->now.wall += SEC((nsec_t)below(g, 5) - 2) * (below(g, 4) ? 1 : 1000000);
        oracle_tick(&g->o, g->s->now);
        settle(g);
    }
}

static const struct move *choose(struct game *g, int session)
{
    unsigned total = 0;
    unsigned chosen;
    const struct move *move = moves;

    for (size_t i = 0; i < sizeof moves / sizeof *moves; i++) {
        total += moves[i].weight;
    }
    for (chosen = below(g, total); chosen >= move->weight; move++) {
        chosen -= move->weight;
    }
    return g->o.sessions[session].wait_state == ORACLE_WAITS_FOR_JOB && !move->while_waiting ? NULL
                                                                                             : move;
}

static void play(uint64_t seed)
{
    struct game *g = calloc(1, sizeof *g);
    bool aloud = getenv("TEST_TRACE") != NULL;

    assert_non_null(g);
    g->s = stage_new((struct broker_options){.recorder = &stage_tape_recorder, .store = &g->tape},
                     false);
    g->tape.broker = g->s->broker;
    g->tape.now = &g->s->now;
    g->queues = seed % 2 ? FEW_QUEUES : ORACLE_QUEUES;
    g->random = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    g->policies = seed / 2 % 2;
    g->o.now = g->s->now;
    for (int i = 0; i < ORACLE_QUEUES; i++) {
        g->o.gates[i].wakes_at = NSEC_NEVER;
    }
    g->inspector = (struct oracle_inspector){
        .s = g->s, .o = &g->o, .queue_names = queue_names, .queues = (int)g->queues};
    broker_observe(g->s->broker, true);
    for (int i = 0; i < ORACLE_SESSIONS; i++) {
        open_session(g, i);
    }
    for (int step = 0; step < STEPS; step++) {
        int session = (int)below(g, ORACLE_SESSIONS);
        const struct move *move = choose(g, session);

        if (move) {
            if (aloud) {
                print_message("step %d: s%d %s\n", step, session, move->name);
            }
            move->move(g, session);
            settle(g);
            pass_time(g);
            restart(g);
        }
    }
    stage_free(g->s);
    free(g);
}

static void broker_does_what_the_model_does(void **state)
{
    const char *text = getenv("TEST_SEED");
    uint64_t seed = text ? strtoull(text, NULL, 10) : 1;

    (void)state;
    for (uint64_t run = 0; run < RUNS; run++) {
        print_message("seed %" PRIu64 "\n", seed + run);
        play(seed + run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(broker_does_what_the_model_does)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
