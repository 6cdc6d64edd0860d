/* SPDX-License-Identifier: MIT */
// Runs storms (storm.h). TEST_SEED is the first seed, TEST_RUNS the number of seeds,
// TEST_TRACE prints each verb.
#include "core/base/blob.h"
#include "core/base/memory.h"
#include "core/grants.h"
#include "core/policy.h"
#include "core/result.h"
#include "core/statistics.h"
#include "core/submit.h"
#include "tests/core/stage.h"
#include "tests/core/storm.h"
#include "tests/support/broker_check.h"
#include "tests/support/nth_alloc.h"
#include "tests/support/policies.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 16, STEPS = 20000, CHECK_EACH = 3, JOBS_MOST = 400 };

typedef void (*storm_move)(struct storm *g, struct storm_session *s);

static bool one_in(struct storm *g, uint32_t count)
{
    return storm_draw(g, count) == 0;
}

// Other tests compare the answers of verbs.
static void any_answer(enum status status)
{
    (void)status;
}

static nsec_t some_seconds(struct storm *g, uint32_t below)
{
    return SEC(storm_draw(g, below));
}

static uint32_t some_pri(struct storm *g)
{
    return one_in(g, 8) ? 4000000000u : 600 * storm_draw(g, 3);
}

static uint64_t some_id(struct storm *g)
{
    uint64_t span = g->last_id < 300 ? g->last_id + 1 : 300;

    return g->last_id + 1 - storm_draw(g, (uint32_t)span);
}

// The id of a job, mostly one that the session holds.
static uint64_t held_id(struct storm *g, const struct storm_session *s)
{
    struct job_cursor cursor = {0};
    const struct job *job = NULL;
    uint64_t id = some_id(g);

    for (uint32_t skip = storm_draw(g, 4);
         session_jobs_next(s->session, &cursor, &job) == STATUS_OK; skip--) {
        id = job_id(job);
        if (skip == 0) {
            break;
        }
    }
    return one_in(g, 12) ? some_id(g) : id;
}

// A text of random length that is not freed; allocating it does not fail.
static struct blob *some_blob(struct storm *g)
{
    static const char text[5000] = "text";
    struct blob *blob;

    if (one_in(g, 2)) {
        return NULL;
    }
    nth_alloc_fail(0);
    blob = blob_copy(slice_of(text, one_in(g, 4) ? sizeof text : storm_draw(g, 8)));
    assert_non_null(blob);
    return blob;
}

//
// Submitting
//

static void draw_start(struct storm *g, struct job_spec *spec)
{
    uint32_t kind = storm_draw(g, 6);

    if (kind == 0) {
        spec->start_kind = START_AFTER;
        spec->start = some_seconds(g, 4);
    } else if (kind == 1) {
        spec->start_kind = START_AT;
        spec->start = g->now.wall + some_seconds(g, 6) - SEC(2);
    }
}

static struct slice some_body(struct storm *g)
{
    static char bodies[3][6000];
    uint32_t which = storm_draw(g, 3);

    memset(bodies[which], 'a' + (int)which, sizeof bodies[which]);
    return slice_of(bodies[which], one_in(g, 6) ? 2000 + storm_draw(g, 3000) : storm_draw(g, 12));
}

static struct slice some_key(struct storm *g)
{
    static const char *const keys[] = {"k", "l", "m"};

    return stage_slice(keys[storm_draw(g, 3)]);
}

static void storm_submit(struct storm *g, struct storm_session *s)
{
    struct job_spec spec = {
        .pri = some_pri(g),
        .ttr_for = some_seconds(g, 4),
        .key_kind = (enum key_kind)storm_draw(g, 3),
        .max_attempts = one_in(g, 3) ? 1 + storm_draw(g, 3) : 0,
        .on_fail = (enum on_fail)storm_draw(g, 2),
        .on_loss = (enum on_loss)storm_draw(g, 2),
        .durable = !one_in(g, 3),
        .body = some_body(g),
    };
    struct submission submission = {0};
    struct session *by = s->session;
    enum status status;

    spec.key = spec.key_kind == KEY_NAME ? some_key(g) : (struct slice){NULL, 0};
    spec.reducer = one_in(g, 4) ? SLICE("sum") : (struct slice){NULL, 0};
    spec.watched = !spec.durable || one_in(g, 3);
    draw_start(g, &spec);
    if (!spec.watched && one_in(g, 6)) {
        by = NULL;
    }
    status = broker_submit_to(g->broker, storm_queue(g), &spec, by, &submission);
    if (status != STATUS_OK) {
        assert_null(submission.watch);
        return;
    }
    g->last_id = submission.id > g->last_id ? submission.id : g->last_id;
    if (spec.watched) {
        storm_watch(g, s, submission.watch, submission.id);
    }
}

// More jobs of one queue than several slices hold.
static void storm_flood(struct storm *g, struct storm_session *s)
{
    struct slice name = storm_queue(g);

    (void)s;
    for (uint32_t left = storm_draw(g, 8 * BROKER_SLICE); left > 0; left--) {
        struct job_spec spec = {.durable = true, .pri = some_pri(g), .ttr_for = SEC(2)};
        struct submission submission = {0};

        if (broker_submit_to(g->broker, name, &spec, NULL, &submission) != STATUS_OK) {
            return;
        }
        g->last_id = submission.id > g->last_id ? submission.id : g->last_id;
    }
}

static void storm_import(struct storm *g, struct storm_session *s)
{
    static const uint8_t states[] = {JOB_READY, JOB_DELAYED, JOB_BURIED};
    struct job_image image = {
        .now = {.id = one_in(g, 3) ? g->last_id + 1 + storm_draw(g, 5) : 0,
                .state = states[storm_draw(g, 3)],
                .on_wall = one_in(g, 2),
                .attempts = (uint16_t)storm_draw(g, 4),
                .pri = some_pri(g),
                .delay = storm_draw(g, 3),
                .counters = {.reserves = storm_draw(g, 40)},
                .due_at = g->now.wall + some_seconds(g, 5) - SEC(1)},
        .queue = storm_queue(g),
        .queue_kept = one_in(g, 8),
        .key_kind = (uint8_t)storm_draw(g, 3),
        .on_fail = (uint8_t)storm_draw(g, 2),
        .on_loss = (uint8_t)storm_draw(g, 2),
        .max_attempts = one_in(g, 3) ? 2 : 0,
        .ttr = storm_draw(g, 4),
        .created_ms = (uint64_t)(g->now.wall / NSEC_PER_MSEC) - storm_draw(g, 100000),
        .body = some_body(g),
    };
    struct imported imported;

    if (image.key_kind == KEY_NAME) {
        image.key = some_key(g);
    }
    if (one_in(g, 3)) {
        image.dead_letter =
            (struct dead_letter){.queue = storm_queue(g), .why = DEAD_FAILED, .at_ms = 5};
    }
    if (broker_import(g->broker, &image, one_in(g, 2) ? NULL : s->session, &imported) ==
        STATUS_OK) {
        g->last_id = imported.id > g->last_id ? imported.id : g->last_id;
    }
}

static void storm_unwatch(struct storm *g, struct storm_session *s)
{
    (void)s;
    if (g->watch_count > 0) {
        size_t place = storm_draw(g, (uint32_t)g->watch_count);
        struct watch *watch = g->watches[place].watch;

        g->watches[place] = g->watches[--g->watch_count];
        broker_unwatch(watch);
    }
}

static void storm_follow(struct storm *g, struct storm_session *s)
{
    uint64_t id = some_id(g);
    struct watch *watch = NULL;

    if (broker_follow(s->session, id, &watch) == STATUS_OK) {
        storm_watch(g, s, watch, id);
    }
}

//
// Working
//

static void storm_take(struct storm *g, struct storm_session *s)
{
    const struct job *job = NULL;
    enum status status;

    if (s->in_turn) {
        (void)broker_unwait(s->session);
    }
    status = broker_take(s->session, &job);
    if (status == STATUS_OK) {
        assert_true(job_held_by(g->broker, job, s->session));
    } else if (status == STATUS_EMPTY && !s->in_turn && one_in(g, 2)) {
        s->until = one_in(g, 3) ? NSEC_NEVER : g->now.mono + some_seconds(g, 4);
        status = broker_wait(s->session, s->until, one_in(g, 2) ? SEC(1) : -1);
        s->busy = status == STATUS_OK ? STORM_WAITS : STORM_FREE;
    } else if (status == STATUS_EMPTY && s->in_turn && one_in(g, 2)) {
        s->busy = broker_await_nudge(s->session) && one_in(g, 2) ? STORM_GOES_TO_SLEEP : STORM_FREE;
    }
}

static void storm_take_id(struct storm *g, struct storm_session *s)
{
    const struct job *job = NULL;

    if (broker_take_id(s->session, some_id(g), &job) == STATUS_OK) {
        assert_true(job_held_by(g->broker, job, s->session));
    }
}

static void storm_unwait(struct storm *g, struct storm_session *s)
{
    (void)g;
    if (broker_unwait(s->session) && s->busy == STORM_WAITS) {
        s->busy = STORM_FREE;
    }
}

static void storm_complete(struct storm *g, struct storm_session *s)
{
    uint64_t id = held_id(g, s);
    struct blob *result = some_blob(g);

    any_answer(broker_complete(s->session, id, result));
    blob_unref(result);
}

static void storm_fail(struct storm *g, struct storm_session *s)
{
    uint64_t id = held_id(g, s);
    struct blob *exception = some_blob(g);

    any_answer(broker_fail(s->session, id, exception));
    blob_unref(exception);
}

static void storm_release(struct storm *g, struct storm_session *s)
{
    uint64_t id = held_id(g, s);
    uint32_t pri = some_pri(g);

    any_answer(broker_release(s->session, id, pri, one_in(g, 2) ? 0 : some_seconds(g, 3)));
}

static void storm_bury(struct storm *g, struct storm_session *s)
{
    any_answer(broker_bury(s->session, held_id(g, s), some_pri(g)));
}

static void storm_renew(struct storm *g, struct storm_session *s)
{
    uint64_t id = held_id(g, s);

    if (one_in(g, 2)) {
        any_answer(broker_touch(s->session, id));
    } else {
        any_answer(broker_limit(s->session, id, some_seconds(g, 4)));
    }
}

static void storm_report(struct storm *g, struct storm_session *s)
{
    uint64_t id = held_id(g, s);
    struct job_event event = {
        .kind = (enum job_event_kind)storm_draw(g, 3), .numerator = 1, .denominator = 2};

    if (broker_report_waits(s->session, id)) {
        if (one_in(g, 5)) {
            broker_data_lost(s->session, id);
        }
        return;
    }
    event.data = some_blob(g);
    any_answer(broker_report(s->session, id, &event));
    blob_unref(event.data);
}

//
// Sessions
//

static void storm_subscribe(struct storm *g, struct storm_session *s)
{
    const struct subscription_terms terms = {
        .limit_for = one_in(g, 2) ? 0 : MSEC(500 + storm_draw(g, 2000)),
        .on_limit = one_in(g, 2) ? ON_LIMIT_RETRY : ON_LIMIT_FAIL,
    };

    any_answer(broker_subscribe(s->session, storm_queue(g), &terms));
}

// Verbs that take several calls, during which the session does nothing else.
static void go_on(struct storm *g, struct storm_session *s)
{
    enum status status = STATUS_OK;

    (void)g;
    if (s->busy == STORM_UNSUBSCRIBES) {
        status = s->gone ? broker_unsubscribe(s->session, stage_slice(s->gone), true)
                         : broker_unsubscribe_all(s->session);
    } else if (s->busy == STORM_GOES_TO_SLEEP) {
        status = broker_end_limits(s->session);
    }
    assert_true(status == STATUS_OK || status == STATUS_MORE);
    s->busy = status == STATUS_MORE ? s->busy : STORM_FREE;
}

static void storm_unsubscribe(struct storm *g, struct storm_session *s)
{
    if (one_in(g, 2)) {
        (void)broker_unsubscribe(s->session, storm_queue(g), false);
        return;
    }
    s->busy = STORM_UNSUBSCRIBES;
    s->gone = one_in(g, 6) ? NULL : storm_queues[storm_draw(g, STORM_QUEUES)];
    go_on(g, s);
}

static void storm_reopen(struct storm *g, struct storm_session *s)
{
    if (one_in(g, 3)) {
        broker_all_undelivered(s->session);
    } else if (one_in(g, 2)) {
        broker_undelivered(s->session, held_id(g, s));
    }
    storm_close(g, s);
    storm_open(g, s);
}

static void storm_grant(struct storm *g, struct storm_session *s)
{
    static const char *const globs[] = {"*", "a*", "[bcd]", "dead"};
    struct grants *grants = NULL;
    struct grant list[3];
    size_t count = storm_draw(g, 4);

    for (size_t i = 0; i < count; i++) {
        list[i] =
            (struct grant){1 + storm_draw(g, MAY_EVERYTHING), stage_slice(globs[storm_draw(g, 4)])};
    }
    if (one_in(g, 3)) {
        nth_alloc_fail(0);
        grants = grants_new(list, count);
        assert_non_null(grants);
    }
    while (broker_session_grant(s->session, grants) == GRANT_MORE) {
    }
    grants_unref(grants);
}

//
// Operators and the host
//

static struct job_act some_act(struct storm *g)
{
    return (struct job_act){
        .kind = (enum act_kind)storm_draw(g, ACT_MOVE + 1),
        .sets_pri = one_in(g, 2),
        .pri = some_pri(g),
        .sets_delay = one_in(g, 2),
        .delay_for = some_seconds(g, 3),
        .to = storm_queue(g),
        .back = one_in(g, 3),
    };
}

static void storm_act(struct storm *g, struct storm_session *s)
{
    struct job_act act = some_act(g);

    any_answer(broker_act(g->broker, one_in(g, 2) ? NULL : s->session, some_id(g), &act));
}

static void begin_sweep(struct storm *g, struct storm_session *s, struct storm_sweep *sweep)
{
    *sweep = (struct storm_sweep){.by = one_in(g, 2) ? NULL : s->session};
    sweep->sweep.filter = (struct job_filter)JOB_FILTER_ALL;
    sweep->sweep.filter.states = one_in(g, 2) ? 0 : storm_draw(g, JOB_IN_ANY + 1);
    sweep->sweep.filter.contains = one_in(g, 4) ? SLICE("bb") : (struct slice){NULL, 0};
    if (one_in(g, 2)) {
        sweep->sweep.queue = storm_queue(g);
    } else {
        sweep->sweep.queues = one_in(g, 2) ? SLICE("*") : SLICE("a*");
    }
    sweep->sweep.act = some_act(g);
    sweep->sweep.most = one_in(g, 3) ? storm_draw(g, 20) : 0;
    sweep->sweep.dry = one_in(g, 5);
    sweep->on = broker_sweep_begin(g->broker, sweep->by, &sweep->sweep) == STATUS_OK;
}

static void storm_sweep(struct storm *g, struct storm_session *s)
{
    struct storm_sweep *sweep = &g->sweeps[storm_draw(g, STORM_SWEEPS)];

    if (sweep->on) {
        enum status status = broker_sweep(g->broker, sweep->by, &sweep->sweep);

        sweep->on = status == STATUS_MORE || (status == STATUS_NO_SPACE && !one_in(g, 4));
    } else {
        begin_sweep(g, s, sweep);
    }
}

static void storm_kick(struct storm *g, struct storm_session *s)
{
    struct queue *queue = NULL;

    if (one_in(g, 3)) {
        any_answer(broker_kick_id(g->broker, one_in(g, 2) ? NULL : s->session, some_id(g)));
    } else if (g->kicked) {
        if (broker_kick(g->broker, g->kicked, &g->kick) != STATUS_MORE) {
            broker_queue_drop(g->broker, g->kicked);
            g->kicked = NULL;
        }
    } else if (broker_queue_hold(g->broker, storm_queue(g), &queue) == STATUS_OK) {
        assert_int_equal(broker_kick_begin(NULL, queue, storm_draw(g, 30), &g->kick), STATUS_OK);
        g->kicked = queue;
    }
}

static void storm_cancel(struct storm *g, struct storm_session *s)
{
    any_answer(
        broker_cancel(g->broker, one_in(g, 2) ? NULL : s->session, some_id(g), one_in(g, 2)));
}

static void draw_retries(struct storm *g, struct policy_spec *spec)
{
    spec->max_attempts = storm_draw(g, 4);
    spec->backoff = (enum backoff)storm_draw(g, 3);
    spec->backoff_min_for = SEC(1) + some_seconds(g, 2);
    spec->backoff_max_for = one_in(g, 2) ? SEC(4) : 0;
    spec->backoff_jitter = one_in(g, 3) ? POLICY_JITTER_WHOLE / 2 : 0;
    spec->count_releases = one_in(g, 2);
    spec->on_exhausted = (enum on_exhausted)storm_draw(g, ON_EXHAUSTED_MOVE + 1);
}

static struct policy_spec some_policy(struct storm *g)
{
    struct policy_spec spec = {
        .max_jobs = one_in(g, 4) ? 1 + storm_draw(g, 30) : 0,
        .max_bytes = one_in(g, 5) ? 2000 + storm_draw(g, 5000) : 0,
        .max_job_size = one_in(g, 6) ? 100 + storm_draw(g, 4000) : 0,
        .max_running = one_in(g, 3) ? 1 + storm_draw(g, 3) : 0,
        .rate_interval_for = one_in(g, 3) ? SEC(1) / (1 + storm_draw(g, 4)) : 0,
        .burst = storm_draw(g, 3),
        .expire_after_for = one_in(g, 2) ? SEC(1) + some_seconds(g, 3) : 0,
        .on_expired = (enum on_expired)storm_draw(g, 2),
        .weight = one_in(g, 3) ? 1 + storm_draw(g, 3) : 0,
        .unique_body = one_in(g, 3),
        .unique_for_for = one_in(g, 3) ? SEC(1) + some_seconds(g, 3) : 0,
        .keep_result_for = one_in(g, 2) ? SEC(1) + some_seconds(g, 5) : 0,
    };

    if (one_in(g, 2)) {
        draw_retries(g, &spec);
    }
    if (!one_in(g, 3)) {
        spec.dead_queue = one_in(g, 2) ? SLICE("{queue}.dead") : SLICE("dead");
    }
    return spec;
}

static void storm_policies(struct storm *g, struct storm_session *s)
{
    static const char *const globs[] = {"a", "b", "[cd]", "*.dead", "*"};
    struct policy_rule rules[4] = {{.tag = 0}};
    size_t count = storm_draw(g, 5);

    (void)s;
    for (size_t i = 0; i < count; i++) {
        rules[i] = (struct policy_rule){.glob = stage_slice(globs[storm_draw(g, 5)]),
                                        .origin = SLICE("storm"),
                                        .tell = one_in(g, 2),
                                        .spec = some_policy(g)};
    }
    any_answer(set_policies(g->broker, rules, count));
}

static void storm_pause(struct storm *g, struct storm_session *s)
{
    struct queue *queue = broker_queue_find(g->broker, storm_queue(g));

    (void)s;
    if (queue) {
        any_answer(broker_pause(g->broker, NULL, queue, some_seconds(g, 3)));
    }
}

static void storm_queue_verbs(struct storm *g, struct storm_session *s)
{
    struct slice name = storm_queue(g);
    struct queue *queue = broker_queue_find(g->broker, name);
    const uint32_t limits[BAND_COUNT] = {one_in(g, 3) ? storm_draw(g, 10) : 0};

    (void)s;
    if (one_in(g, 3)) {
        any_answer(broker_queue_create(g->broker, NULL, name));
    } else if (one_in(g, 2)) {
        any_answer(broker_queue_forget(g->broker, NULL, name));
    } else if (queue) {
        any_answer(broker_queue_limit(NULL, queue, limits));
    }
}

static void storm_memo(struct storm *g, struct storm_session *s)
{
    static const char value[3000] = "value";
    const struct memo memo = {
        .kind = (enum memo_kind)(MEMO_ANSWER + storm_draw(g, 3)),
        .key = some_key(g),
        .value = slice_of(value, one_in(g, 4) ? sizeof value : storm_draw(g, 20)),
        .until_at = one_in(g, 3) ? NSEC_NEVER : g->now.wall + some_seconds(g, 5) - SEC(1),
    };

    (void)s;
    if (one_in(g, 20)) {
        broker_memo_limit(g->broker, one_in(g, 2) ? MEMO_RESULT : MEMO_UNIQUE,
                          one_in(g, 3) ? storm_draw(g, 2000) : UINT64_MAX);
    } else if (one_in(g, 4)) {
        any_answer(broker_memo_drop(g->broker, memo.kind, memo.key));
    } else {
        any_answer(broker_memo_set(g->broker, &memo));
    }
}

static void storm_roll(struct storm *g, struct storm_session *s)
{
    (void)s;
    if (!g->snapshots) {
        queue_snapshot_begin(g->broker, &g->snapshot);
        g->snapshots = true;
    } else if (one_in(g, 6)) {
        queue_snapshot_end(g->broker, &g->snapshot);
        g->snapshots = false;
    } else if (one_in(g, 6)) {
        queue_snapshot_rewind(&g->snapshot);
    } else {
        const struct queue *queue = queue_snapshot_next(g->broker, &g->snapshot);

        assert_true(!queue || queue_name(queue).len > 0);
    }
}

static void storm_host(struct storm *g, struct storm_session *s)
{
    (void)s;
    switch (storm_draw(g, 7)) {
    case 0:
        if (one_in(g, 4)) {
            broker_drain(g->broker);
        }
        break;
    case 1:
    case 2:
        broker_end_drain(g->broker);
        break;
    case 3:
        broker_set_max_queues(g->broker, one_in(g, 4) ? 3 + storm_draw(g, 3) : 0);
        break;
    case 4:
        broker_set_nudges(g->broker, storm_draw(g, 3));
        break;
    case 5:
        memory_set_limit(one_in(g, 8) ? 1 : 0);
        break;
    default:
        broker_observe(g->broker, one_in(g, 2));
        while (broker_policy_changed_next(g->broker)) {
        }
    }
}

// Walks a list of one queue to its end, while nothing else changes.
static void storm_look(struct storm *g, struct storm_session *s)
{
    const struct queue *queue = broker_queue_find(g->broker, storm_queue(g));
    enum job_state state = (enum job_state)storm_draw(g, JOB_STATES);
    struct job_cursor cursor = {0};
    const struct job *job = NULL;
    struct queue_info info;
    uint64_t seen = 0, results = 0;
    struct result result;
    enum status status;

    (void)s;
    while (stage_result_next(g->broker, &results, &result)) {
    }
    if (!queue) {
        return;
    }
    while ((status = queue_jobs_next(g->broker, queue, state, &cursor, &job)) != STATUS_EMPTY) {
        seen += status == STATUS_OK;
        assert_true(status != STATUS_OK || job_queue(g->broker, job) == queue);
    }
    broker_queue_info(g->broker, queue, &info);
    assert_int_equal(seen, info.jobs[state]);
}

//
// Time
//

static void storm_tick(struct storm *g, struct storm_session *s)
{
    nsec_t by_for = 0;

    (void)s;
    if (!one_in(g, 4)) {
        by_for = one_in(g, 3) ? SEC(1) / 4 * (1 + storm_draw(g, 8)) : MSEC(storm_draw(g, 100));
    }
    if (one_in(g, 80)) {
        g->now.wall += some_seconds(g, 20) - SEC(10);
        g->stepped = true;
    }
    g->now.mono += by_for;
    g->now.wall += by_for;
    broker_tick(g->broker, g->now);
}

static void storm_settle(struct storm *g, struct storm_session *s)
{
    (void)s;
    (void)broker_settle(g->broker);
}

// The share of each verb, and whether its session may be busy then.
static const struct {
    unsigned weight;
    bool while_busy;
    storm_move move;
    const char *name;
} storm_moves[] = {
    {150, true, storm_submit, "submit"},
    {3, true, storm_flood, "flood"},
    {20, true, storm_import, "import"},
    {30, true, storm_unwatch, "unwatch"},
    {10, true, storm_follow, "follow"},
    {120, false, storm_take, "take"},
    {20, false, storm_take_id, "take_id"},
    {20, true, storm_unwait, "unwait"},
    {70, false, storm_complete, "complete"},
    {30, false, storm_fail, "fail"},
    {30, false, storm_release, "release"},
    {20, false, storm_bury, "bury"},
    {20, false, storm_renew, "renew"},
    {40, false, storm_report, "report"},
    {40, false, storm_subscribe, "subscribe"},
    {10, false, storm_unsubscribe, "unsubscribe"},
    {4, true, storm_reopen, "reopen"},
    {10, true, storm_grant, "grant"},
    {20, true, storm_act, "act"},
    {20, true, storm_sweep, "sweep"},
    {15, true, storm_kick, "kick"},
    {20, true, storm_cancel, "cancel"},
    {4, true, storm_policies, "policies"},
    {15, true, storm_pause, "pause"},
    {20, true, storm_queue_verbs, "queue"},
    {10, true, storm_memo, "memo"},
    {20, true, storm_roll, "snapshot"},
    {8, true, storm_host, "host"},
    {20, true, storm_look, "look"},
    {30, true, storm_tick, "tick"},
    {50, true, storm_settle, "settle"},
};

static size_t choose_move(struct storm *g)
{
    unsigned total = 0;
    unsigned chosen;
    size_t move = 0;

    for (size_t i = 0; i < sizeof storm_moves / sizeof *storm_moves; i++) {
        total += storm_moves[i].weight;
    }
    for (chosen = storm_draw(g, total); chosen >= storm_moves[move].weight; move++) {
        chosen -= storm_moves[move].weight;
    }
    return move;
}

static bool too_many(const struct storm *g, storm_move move)
{
    struct broker_info info;
    uint64_t jobs = 0;

    broker_info(g->broker, &info);
    for (int state = 0; state < JOB_STATES; state++) {
        jobs += info.jobs[state];
    }
    return (move == storm_submit || move == storm_flood || move == storm_import) &&
           jobs >= JOBS_MOST;
}

static void step(struct storm *g, bool aloud)
{
    struct storm_session *s = &g->sessions[storm_draw(g, STORM_SESSIONS)];
    size_t move = choose_move(g);

    storm_store_begin(&g->store);
    if (s->busy > STORM_WAITS) {
        go_on(g, s);
    } else if ((s->busy == STORM_FREE || storm_moves[move].while_busy) &&
               !too_many(g, storm_moves[move].move)) {
        if (aloud) {
            print_message("s%d %s\n", (int)(s - g->sessions), storm_moves[move].name);
        }
        if (g->fails > 0 && one_in(g, g->fails)) {
            nth_alloc_fail_from(1 + storm_draw(g, 4));
        }
        storm_moves[move].move(g, s);
        nth_alloc_fail(0);
    }
}

static void play_storm(uint64_t seed)
{
    struct storm *g = storm_new(seed);
    bool aloud = getenv("TEST_TRACE") != NULL;

    g->fails = seed % 2 ? 6 : 0;
    for (int i = 0; i < STEPS; i++) {
        g->store.refuses = seed / 2 % 2 && one_in(g, 2) ? 4 : 0;
        step(g, aloud);
        if (i % CHECK_EACH == 0) {
            broker_check(g->broker);
        }
        if (one_in(g, 100)) {
            g->store.refuses = 0;
            storm_quiesce(g);
        }
        if (one_in(g, 700)) {
            storm_restart(g);
        }
    }
    storm_free(g);
}

static uint64_t number_from(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);

    return text ? strtoull(text, NULL, 10) : otherwise;
}

static void broker_stands_a_storm(void **state)
{
    uint64_t seed = number_from("TEST_SEED", 1);
    uint64_t runs = number_from("TEST_RUNS", RUNS);

    (void)state;
    for (uint64_t run = 0; run < runs; run++) {
        print_message("seed %" PRIu64 "\n", seed + run);
        play_storm(seed + run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(broker_stands_a_storm)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
