/* SPDX-License-Identifier: MIT */
#include "tests/core/storm.h"

#include "core/base/blob.h"
#include "core/base/memory.h"
#include "core/grants.h"
#include "tests/support/broker_check.h"
#include "core/policy.h"
#include "core/restore.h"
#include "tests/core/stage.h"
#include "tests/support/nth_alloc.h"

#include <stdlib.h>
#include <string.h>

// The number of turns after which work that is still pending counts as endless.
enum { PATIENCE = 200000 };

const char *const storm_queues[STORM_QUEUES] = {"a", "b", "c", "d", "a.dead", "dead", "x"};

uint32_t storm_draw(struct storm *g, uint32_t bound)
{
    g->random ^= g->random << 13;
    g->random ^= g->random >> 7;
    g->random ^= g->random << 17;
    return (uint32_t)(g->random >> 32) % bound;
}

struct slice storm_queue(struct storm *g)
{
    return stage_slice(storm_queues[storm_draw(g, STORM_QUEUES)]);
}

//
// Events of sessions
//

static void told_of_job(void *owner, const struct job *job)
{
    struct storm_session *s = owner;

    assert_int_equal(s->busy, STORM_WAITS);
    assert_true(job_held_by(s->g->broker, job, s->session));
    s->busy = STORM_FREE;
}

static void told_of_end(void *owner, enum wait_end why)
{
    struct storm_session *s = owner;

    (void)why;
    assert_int_equal(s->busy, STORM_WAITS);
    s->busy = STORM_FREE;
}

static void told_of_nudge(void *owner)
{
    const struct storm_session *s = owner;

    assert_int_not_equal(s->busy, STORM_WAITS);
}

// Each watch belongs to one session and one job, and is told nothing after its end.
static void told_of_event(void *owner, struct watch *watch, const struct job_event *event)
{
    struct storm_session *s = owner;
    struct storm *g = s->g;
    size_t i = 0;

    while (i < g->watch_count && g->watches[i].watch != watch) {
        i++;
    }
    assert_true(i < g->watch_count);
    assert_ptr_equal(g->watches[i].owner, s);
    assert_int_equal(g->watches[i].id, event->job_id);
    if (event->data) {
        broker_charge_bytes(g->broker, blob_slice(event->data).len);
    }
    if (event->kind >= JOB_EVENT_COMPLETE) {
        g->watches[i] = g->watches[--g->watch_count];
    }
}

static void told_of_emptied(void *owner)
{
    const struct storm_session *s = owner;

    assert_int_equal(session_leases(s->session), 0);
}

static const struct session_ops storm_ops = {.leased = told_of_job,
                                             .wait_over = told_of_end,
                                             .nudged = told_of_nudge,
                                             .job_event = told_of_event};
static const struct session_ops storm_ops_emptied = {.leased = told_of_job,
                                                     .wait_over = told_of_end,
                                                     .nudged = told_of_nudge,
                                                     .job_event = told_of_event,
                                                     .emptied = told_of_emptied,
                                                     .ignores_revoked = true};

void storm_open(struct storm *g, struct storm_session *s)
{
    size_t number = (size_t)(s - g->sessions);

    *s = (struct storm_session){.g = g, .in_turn = number % 2};
    nth_alloc_fail(0);
    assert_int_equal(broker_session_open(g->broker, number % 4 ? &storm_ops : &storm_ops_emptied, s,
                                         s->in_turn ? CHOICE_IN_TURN : CHOICE_OLDEST, &s->session),
                     STATUS_OK);
    for (int i = 0; i < STORM_SESSIONS / 2; i++) {
        const struct subscription_terms terms = {.limit_for = 0};

        if (broker_subscribe(s->session, storm_queue(g), &terms) != STATUS_OK) {
            return; // memory is missing, or the limit of queues is reached
        }
    }
}

void storm_close(struct storm *g, struct storm_session *s)
{
    broker_session_close(s->session);
    for (size_t i = 0; i < g->watch_count;) {
        if (g->watches[i].owner == s) {
            g->watches[i] = g->watches[--g->watch_count];
        } else {
            i++;
        }
    }
    for (int i = 0; i < STORM_SWEEPS; i++) {
        g->sweeps[i].on = g->sweeps[i].on && g->sweeps[i].by != s->session;
    }
}

void storm_watch(struct storm *g, const struct storm_session *s, struct watch *watch, uint64_t id)
{
    assert_non_null(watch);
    assert_true(g->watch_count < STORM_WATCHES);
    g->watches[g->watch_count++] = (struct storm_watch){watch, s, id};
}

struct storm *storm_new(uint64_t seed)
{
    struct storm *g = calloc(1, sizeof *g);
    struct broker_options options = {.recorder = &storm_recorder};

    assert_non_null(g);
    g->random = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    g->store.random = g->random;
    g->now = (struct instant){.mono = STAGE_MONO_AT, .wall = STAGE_WALL_AT};
    storm_store_init(&g->store);
    options.store = &g->store;
    g->broker = broker_new(&options, g->now);
    assert_non_null(g->broker);
    g->store.broker = g->broker;
    for (int i = 0; i < STORM_SESSIONS; i++) {
        storm_open(g, &g->sessions[i]);
    }
    return g;
}

//
// The end of a run
//

static bool gives_jobs(const struct storm *g, const struct queue *queue)
{
    struct queue_info info;

    broker_queue_info(g->broker, queue, &info);
    return info.closed == 0 && info.jobs[JOB_READY] > 0;
}

static void expect_no_wait_beside_work(const struct storm *g)
{
    for (const struct storm_session *s = g->sessions; s < g->sessions + STORM_SESSIONS; s++) {
        const struct subscription *cursor = NULL;
        struct queue *queue;

        assert_true(s->busy != STORM_WAITS || s->until > g->now.mono);
        while (s->busy == STORM_WAITS && (queue = session_queue_next(s->session, &cursor))) {
            assert_false(session_may(s->session, MAY_WORK, queue) && gives_jobs(g, queue));
        }
    }
}

// No expired job is left, except right after a restart. If allocations fail, an index may wait for
// memory.
static void expect_none_is_over(const struct storm *g, const struct queue *queue, nsec_t most_for)
{
    nsec_t age_for = 0;

    if (g->fails == 0 && g->now.mono > g->restarted_at + most_for + MSEC(3) &&
        queue_oldest_ready(g->broker, queue, &age_for)) {
        assert_true(age_for < most_for + MSEC(3));
    }
}

static void expect_nothing_is_late(const struct storm *g)
{
    const struct queue *queue;
    uint32_t place = 0;

    while ((queue = broker_queue_next(g->broker, &place))) {
        const struct policy_rule *rule = queue_policy(queue);
        struct queue_info info;

        broker_queue_info(g->broker, queue, &info);
        assert_true(!(info.closed & CLOSED_EXPIRING));
        assert_true(!(info.closed & CLOSED_RATE) || info.rate_remaining_for > 0);
        assert_true(!(info.closed & CLOSED_PAUSED) || info.pause_remaining_for > 0);
        if (rule && rule->spec.expire_after_for > 0) {
            expect_none_is_over(g, queue, rule->spec.expire_after_for);
        }
    }
}

static void expect_no_job_is_late(const struct storm *g)
{
    struct job_walk walk = {0};
    const struct job *job = NULL;
    enum status status;

    while ((status = broker_job_next(g->broker, &walk, &job)) != STATUS_EMPTY) {
        struct job_info info;

        if (status != STATUS_OK) {
            continue;
        }
        broker_job_info(g->broker, job, &info);
        assert_true(info.state != JOB_DELAYED || info.remaining_for > 0);
        assert_true(info.durable || info.watches > 0 || info.state == JOB_RESERVED);
    }
}

void storm_quiesce(struct storm *g)
{
    unsigned patience = PATIENCE;

    nth_alloc_fail(0);
    do {
        storm_store_begin(&g->store);
        broker_tick(g->broker, g->now);
        while (broker_settle(g->broker)) {
            assert_true(patience-- > 0);
        }
        assert_true(patience-- > 0);
    } while (broker_next_due(g->broker) <= g->now.mono);
    broker_check(g->broker);
    expect_no_wait_beside_work(g);
    expect_nothing_is_late(g);
    expect_no_job_is_late(g);
    storm_store_compare(&g->store);
}

//
// Restarts
//

static void expect_same_slice(struct slice a, struct slice b)
{
    assert_true(slice_equal(a, b));
}

// Leases, and the attempts that they spend without a policy, are not recorded. A delay may be over
// because the clock was set, and goes on if its job was taken by its id.
static void expect_same_job(const struct storm *g, const struct job *job,
                            const struct broker *again)
{
    const struct job *copy = broker_find(again, job_id(job));
    struct job_image was, is;

    assert_non_null(copy);
    job_describe(g->broker, job, &was);
    job_describe(again, copy, &is);
    expect_same_slice(was.queue, is.queue);
    expect_same_slice(was.body, is.body);
    expect_same_slice(was.key, is.key);
    expect_same_slice(was.dead_letter.queue, is.dead_letter.queue);
    assert_int_equal(was.dead_letter.why, is.dead_letter.why);
    assert_int_equal(was.now.pri, is.now.pri);
    assert_int_equal(was.now.keyed, is.now.keyed);
    assert_true(is.now.attempts <= was.now.attempts);
    assert_int_equal(was.now.state == JOB_BURIED, is.now.state == JOB_BURIED);
}

static void expect_same_jobs(const struct storm *g, const struct broker *again)
{
    struct job_walk walk = {0};
    const struct job *job = NULL;
    struct broker_info info;
    uint64_t durable = 0;
    enum status status;

    while ((status = broker_job_next(g->broker, &walk, &job)) != STATUS_EMPTY) {
        if (status == STATUS_OK && job_is_durable(job)) {
            expect_same_job(g, job, again);
            durable++;
        }
    }
    broker_info(again, &info);
    for (int state = 0; state < JOB_STATES; state++) {
        durable -= info.jobs[state];
    }
    assert_int_equal(durable, 0);
}

// Buried jobs keep their order, and paused queues stay paused.
static void expect_same_queues(const struct storm *g, const struct broker *again)
{
    for (int i = 0; i < STORM_QUEUES; i++) {
        struct slice name = stage_slice(storm_queues[i]);
        struct queue *queue = broker_queue_find(g->broker, name);
        struct queue *copy = broker_queue_find((struct broker *)(uintptr_t)again, name);
        struct job_cursor at = {0}, copy_at = {0};
        const struct job *job = NULL, *same = NULL;
        nsec_t pause_for, until_at;

        while (queue && queue_jobs_next(g->broker, queue, JOB_BURIED, &at, &job) == STATUS_OK) {
            assert_non_null(copy);
            assert_int_equal(queue_jobs_next(again, copy, JOB_BURIED, &copy_at, &same), STATUS_OK);
            assert_int_equal(job_id(job), job_id(same));
        }
        if (queue && !g->stepped && queue_describe_pause(g->broker, queue, &pause_for, &until_at)) {
            assert_true(copy && queue_describe_pause(again, copy, &pause_for, &until_at));
        }
    }
}

static void end_what_is_on(struct storm *g)
{
    if (g->snapshots) {
        queue_snapshot_end(g->broker, &g->snapshot);
        g->snapshots = false;
    }
    if (g->kicked) {
        broker_queue_drop(g->broker, g->kicked);
        g->kicked = NULL;
    }
    for (int i = 0; i < STORM_SWEEPS; i++) {
        g->sweeps[i].on = false;
    }
}

static void close_all(struct storm *g)
{
    for (int i = 0; i < STORM_SESSIONS; i++) {
        storm_close(g, &g->sessions[i]);
    }
    assert_int_equal(g->watch_count, 0);
}

void storm_restart(struct storm *g)
{
    struct broker_options options = {.recorder = &storm_recorder, .store = &g->store};
    unsigned refuses = g->store.refuses;
    struct broker *again;

    memory_set_limit(0);
    g->store.refuses = 0;
    end_what_is_on(g);
    storm_quiesce(g);
    if (storm_draw(g, 2)) {
        broker_retire(g->broker);
    }
    again = broker_new(&options, g->now);
    assert_non_null(again);
    storm_store_restore(&g->store, again, g->now);
    expect_same_jobs(g, again);
    expect_same_queues(g, again);
    close_all(g);
    broker_free(g->broker);
    g->broker = again;
    g->store.broker = again;
    storm_store_compact(&g->store);
    g->last_id = broker_next_id(again);
    g->restarted_at = g->now.mono;
    g->stepped = false;
    for (int i = 0; i < STORM_SESSIONS; i++) {
        storm_open(g, &g->sessions[i]);
    }
    g->store.refuses = refuses;
}

void storm_free(struct storm *g)
{
    memory_set_limit(0);
    g->store.refuses = 0;
    storm_quiesce(g);
    end_what_is_on(g);
    close_all(g);
    broker_free(g->broker);
    storm_store_clear(&g->store);
    free(g);
}
