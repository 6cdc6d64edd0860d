/* SPDX-License-Identifier: MIT */
// Much work at once is done in slices, and other sessions are served in between.
#include "tests/core/stage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MANY = 1000 };

// One tick without settling.
static void tick(struct stage *s)
{
    broker_tick(s->broker, s->now);
    stage_step(s);
}

// One call of settle; the number of events that actors were told.
static size_t settle_once(struct stage *s, bool *more)
{
    size_t before = s->tellings;

    s->settling = true;
    *more = broker_settle(s->broker);
    s->settling = false;
    stage_step(s);
    return s->tellings - before;
}

// Settles to the end; no call may tell more than a slice. The number of events.
static size_t settle_in_slices(struct stage *s)
{
    size_t all = 0;
    bool more;

    s->mute = true;
    do {
        size_t once = settle_once(s, &more);

        assert_true(once <= BROKER_SLICE);
        all += once;
    } while (more);
    s->mute = false;
    return all;
}

// More sessions than a stage has places for: all are told through its first actor.
static struct session *crowd[MANY];

static struct session *join_crowd(struct stage *s, size_t place, const char *queue)
{
    struct actor *a;

    s->actors[0].session = NULL;
    a = stage_worker(s, "w", queue);
    assert_ptr_equal(a, &s->actors[0]);
    return crowd[place] = a->session;
}

static void leave_crowd(struct stage *s)
{
    s->actors[0].session = NULL;
    for (size_t i = 0; i < MANY; i++) {
        broker_session_close(crowd[i]);
    }
    stage_step(s);
}

static void leases_of_a_session_that_leaves_are_lost_in_slices(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    struct actor *other = stage_worker(s, "other", "else");
    unsigned turns = 0;

    for (int i = 0; i < MANY; i++) {
        PUT(s, .queue = "q");
        assert_int_equal(act_take(w), i + 1);
    }
    act_close(w);
    while (stage_queue(s, "q").jobs[JOB_RESERVED] > 0) {
        uint64_t held = stage_queue(s, "q").jobs[JOB_RESERVED];

        assert_int_equal(broker_next_due(s->broker), s->now.mono);
        PUT(s, .queue = "else");
        assert_true(act_take(other) != 0);
        tick(s);
        settle_in_slices(s);
        assert_true(held - stage_queue(s, "q").jobs[JOB_RESERVED] <= 2 * BROKER_SLICE);
        assert_true(turns++ < MANY);
    }
    assert_true(turns >= 2);
    stage_settle(s);
    assert_int_equal(stage_info(s).sessions, 1);
    for (uint64_t id = 1; id <= 3; id++) {
        assert_int_equal(stage_job(s, id).attempts, 1);
    }
    act_subscribe(other, "q");
    assert_int_equal(act_take(other), 1);
}

static void session_that_leaves_in_slices_is_told_nothing(void **state)
{
    struct stage *s = *state;
    struct actor *c = stage_worker(s, "c", "q");
    struct actor *w = stage_worker(s, "w", "else");

    SUBMIT(c, .queue = "else");
    assert_int_equal(act_take(w), 1);
    for (uint64_t id = 2; id <= MANY; id++) {
        SUBMIT(c, .queue = "q");
        assert_int_equal(act_take(c), id);
    }
    act_close(c);
    // It is not told about its jobs while it is taken apart.
    assert_status(STATUS_OK, act_data(w, 1, "part"));
    assert_status(STATUS_OK, act_complete(w, 1, "r"));
    stage_expect(s, "");
}

static void broker_may_end_before_all_leases_are_lost(void **state)
{
    struct stage *s = stage_new((struct broker_options){0}, false);
    struct actor *w = stage_worker(s, "w", "q");
    struct actor *c = stage_open(s, "c");

    (void)state;
    for (int i = 0; i < MANY; i++) {
        SUBMIT(c, .queue = "q");
        assert_int_equal(act_take(w), i + 1);
    }
    act_close(w);
    act_close(c);
    broker_free(s->broker);
    free(s);
}

static void ten_thousand_delays_that_end_at_once_end_in_slices(void **state)
{
    struct stage *s = stage_new((struct broker_options){0}, false);
    uint64_t ready = 0;
    struct queue *queue;

    (void)state;
    // The checks of each step are left out here: they would walk all jobs each time.
    assert_status(STATUS_OK, broker_queue_hold(s->broker, SLICE("q"), &queue));
    for (int i = 0; i < 10000; i++) {
        struct job_spec spec = {.queue = queue, .start_kind = START_AFTER, .start = SEC(5)};
        struct submission submission;

        if (i % 2) {
            spec.start_kind = START_AT;
            spec.start = STAGE_WALL_AT + SEC(5);
        }
        spec.durable = true;
        assert_status(STATUS_OK, broker_submit(s->broker, &spec, NULL, &submission));
    }
    s->now.mono += SEC(5);
    s->now.wall += SEC(5);
    while (ready < 10000) {
        uint64_t before = ready;

        assert_true(broker_next_due(s->broker) <= s->now.mono);
        tick(s);
        ready = stage_queue(s, "q").jobs[JOB_READY];
        // Each clock has a slice of its own.
        assert_true(ready > before && ready - before <= 2 * BROKER_SLICE);
    }
    assert_int_equal(broker_next_due(s->broker), NSEC_NEVER);
    broker_queue_drop(s->broker, queue);
    stage_free(s);
}

static void leases_that_end_at_once_end_in_slices(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    uint64_t left = MANY;

    for (int i = 0; i < MANY; i++) {
        PUT(s, .ttr_for = SEC(5));
        assert_int_equal(act_take(w), i + 1);
    }
    s->now.mono += SEC(5);
    while (left > 0) {
        uint64_t before = left;

        tick(s);
        left = stage_queue(s, "q").jobs[JOB_RESERVED];
        assert_true(left < before && before - left <= BROKER_SLICE);
    }
    assert_int_equal(stage_info(s).timeouts, MANY);
    assert_int_equal(session_leases(w->session), 0);
}

static void late_time_ends_no_lease_twice_and_touch_still_helps(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    for (int i = 0; i < 600; i++) {
        PUT(s, .ttr_for = SEC(5));
        assert_int_equal(act_take(w), i + 1);
    }
    s->now.mono += SEC(5);
    tick(s);
    // Between the slices: what is still held can be finished by its holder.
    for (uint64_t id = 1; id <= 600; id++) {
        if (stage_state(s, id) == JOB_RESERVED) {
            assert_status(STATUS_OK, act_touch(w, id));
        }
    }
    stage_settle(s);
    stage_expect_jobs(s, "q", BROKER_SLICE, 0, 600 - BROKER_SLICE, 0);
}

static void watches_of_a_session_that_leaves_are_forgotten(void **state)
{
    struct stage *s = *state;
    struct actor *c = stage_open(s, "c");

    for (int i = 0; i < MANY; i++) {
        SUBMIT(c, .fleeting = true, .delay_for = SEC(100));
    }
    act_close(c);
    stage_settle(s);
    assert_null(stage_find(s, "q"));
    stage_expect(s, "");
}

static void watchers_of_one_job_are_told_in_slices(void **state)
{
    struct stage *s = *state;
    struct actor *c = stage_open(s, "c");
    struct actor *w = stage_worker(s, "w", "q");

    for (int i = 0; i < MANY; i++) {
        SUBMIT(c, .key = "k");
    }
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_progress(w, 1, 1, 2));
    assert_int_equal(settle_in_slices(s), MANY);
    assert_status(STATUS_OK, act_complete(w, 1, "r"));
    assert_int_equal(settle_in_slices(s), MANY);
    stage_expect(s, "");
}

static void progress_reported_while_progress_is_told_reaches_all_watches(void **state)
{
    struct stage *s = *state;
    struct actor *c = stage_open(s, "c");
    struct actor *w = stage_worker(s, "w", "q");
    size_t last = 0;
    bool more;

    for (int i = 0; i < MANY; i++) {
        SUBMIT(c, .key = "k");
    }
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_progress(w, 1, 1, 2));
    settle_once(s, &more);
    assert_true(more);
    assert_status(STATUS_OK, act_progress(w, 1, 2, 2));
    stage_settle(s);
    s->told.bytes[s->told.len] = '\0';
    for (const char *at = s->told.bytes; (at = strstr(at, "c progress 1 2/2")) != NULL; at++) {
        last++;
    }
    assert_int_equal(last, MANY);
    s->told.len = 0;
    stage_expect(s, "");
}

static void session_may_leave_between_slices_of_its_events(void **state)
{
    struct stage *s = *state;
    struct actor *c = stage_open(s, "c");
    struct actor *d = stage_open(s, "d");
    struct actor *w = stage_worker(s, "w", "q");
    bool more;

    for (int i = 0; i < MANY; i++) {
        SUBMIT(c, .key = "k");
        SUBMIT(d, .key = "k");
    }
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_complete(w, 1, "r"));
    s->mute = true;
    settle_once(s, &more);
    assert_true(more);
    act_close(c);
    stage_settle(s);
    assert_true(s->tellings >= MANY && s->tellings <= MANY + BROKER_SLICE);
}

static void many_parts_for_one_watcher_are_told_in_slices(void **state)
{
    struct stage *s = *state;
    struct actor *c = stage_open(s, "c");
    struct actor *w = stage_worker(s, "w", "q");

    SUBMIT(c, .queue = "q");
    assert_int_equal(act_take(w), 1);
    for (int i = 0; i < MANY; i++) {
        assert_status(STATUS_OK, act_data(w, 1, "part"));
    }
    assert_status(STATUS_OK, act_complete(w, 1, "r"));
    assert_int_equal(settle_in_slices(s), MANY + 1);
}

static void nudges_of_one_job_are_told_in_slices(void **state)
{
    struct stage *s = *state;
    unsigned turns = 0;

    for (size_t i = 0; i < MANY; i++) {
        broker_await_nudge(join_crowd(s, i, "q"));
    }
    assert_int_equal(stage_queue(s, "q").waiting, MANY);
    PUT(s, .queue = "q");
    s->mute = true;
    do {
        bool more;

        tick(s);
        assert_true(settle_once(s, &more) <= BROKER_SLICE);
        assert_true(turns++ < MANY);
    } while (broker_next_due(s->broker) <= s->now.mono);
    assert_int_equal(s->tellings, MANY);
    assert_int_equal(stage_queue(s, "q").waiting, 0);
    leave_crowd(s);
}

static void jobs_and_waiters_of_a_long_pause_meet_in_slices(void **state)
{
    struct stage *s = *state;
    unsigned turns = 0;

    PUT(s, .queue = "q");
    assert_status(STATUS_OK, stage_pause(s, "q", SEC(5)));
    for (size_t i = 0; i < MANY; i++) {
        assert_status(STATUS_OK, broker_wait(join_crowd(s, i, "q"), NSEC_NEVER, -1));
        PUT(s, .queue = "q");
    }
    s->now.mono += SEC(5);
    s->mute = true;
    while (stage_queue(s, "q").jobs[JOB_READY] > 1) {
        uint64_t before = stage_queue(s, "q").jobs[JOB_READY];
        bool more;

        tick(s);
        settle_once(s, &more);
        assert_true(before - stage_queue(s, "q").jobs[JOB_READY] <= 2 * BROKER_SLICE);
        assert_true(turns++ < MANY);
    }
    stage_settle(s);
    assert_int_equal(s->tellings, MANY);
    assert_int_equal(stage_state(s, MANY), JOB_RESERVED);
    assert_int_equal(stage_state(s, MANY + 1), JOB_READY);
    leave_crowd(s);
}

// The last session that waits on a queue that opens waits on another queue, too, where a worse job
// comes before its turn.
static void job_that_comes_between_slices_does_not_go_before_better_ones(void **state)
{
    struct stage *s = *state;
    uint64_t worse;

    PUT(s, .queue = "q");
    assert_status(STATUS_OK, stage_pause(s, "q", SEC(5)));
    for (size_t i = 0; i < MANY; i++) {
        struct session *session = join_crowd(s, i, "q");

        if (i == MANY - 1) {
            act_subscribe(&s->actors[0], "other");
        }
        assert_status(STATUS_OK, broker_wait(session, NSEC_NEVER, -1));
        PUT(s, .queue = "q");
    }
    s->now.mono += SEC(5);
    s->mute = true;
    tick(s);
    assert_true(stage_queue(s, "q").jobs[JOB_READY] > 1);
    worse = PUT(s, .queue = "other", .pri = UINT32_MAX);
    stage_settle(s);
    assert_int_equal(stage_queue(s, "q").jobs[JOB_READY], 1);
    assert_int_equal(stage_state(s, worse), JOB_READY);
    leave_crowd(s);
}

static void waits_that_end_at_once_end_in_slices(void **state)
{
    struct stage *s = *state;

    for (size_t i = 0; i < MANY; i++) {
        assert_status(STATUS_OK, broker_wait(join_crowd(s, i, "q"), s->now.mono + SEC(1), -1));
    }
    s->now.mono += SEC(1);
    s->mute = true;
    while (broker_next_due(s->broker) <= s->now.mono) {
        bool more;

        tick(s);
        assert_true(settle_once(s, &more) <= BROKER_SLICE);
    }
    assert_int_equal(s->tellings, MANY);
    leave_crowd(s);
}

static void giving_back_many_is_made_in_slices(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    struct actor *other = stage_worker(s, "other", "else");
    unsigned slices = 1;

    act_subscribe(w, "r");
    for (int i = 0; i < MANY; i++) {
        PUT(s, .queue = i % 4 ? "q" : "r");
        assert_true(act_take(w) != 0);
    }
    while (broker_unsubscribe(w->session, SLICE("q"), true) == STATUS_MORE) {
        assert_true(stage_queue(s, "q").jobs[JOB_READY] <= slices * BROKER_SLICE);
        slices++;
        PUT(s, .queue = "else");
        assert_true(act_take(other) != 0);
    }
    assert_true(slices >= MANY / BROKER_SLICE);
    assert_false(session_subscribed(w->session, SLICE("q")));
    stage_expect_jobs(s, "q", MANY * 3 / 4, 0, 0, 0);
    stage_expect_jobs(s, "r", 0, 0, MANY / 4, 0);
    assert_int_equal(stage_job(s, 2).attempts, 1);
    assert_int_equal(stage_job(s, 1).attempts, 0);
}

static void taking_many_limits_off_is_made_in_slices(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_open(s, "w");
    unsigned slices = 1;

    act_subscribe_on(w, "q", SEC(4), ON_LIMIT_RETRY);
    for (int i = 0; i < MANY; i++) {
        // Some are met twice: they stay among the leases that end.
        PUT(s, .queue = "q", .ttr_for = SEC(10 * (i % 4)));
        assert_true(act_take(w) != 0);
    }
    while (broker_end_limits(w->session) == STATUS_MORE) {
        slices++;
        stage_step(s);
    }
    assert_true(slices >= MANY / BROKER_SLICE);
    stage_advance(s, SEC(9));
    stage_expect_jobs(s, "q", 0, 0, MANY, 0);
    stage_advance(s, SEC(100));
    stage_expect_jobs(s, "q", MANY * 3 / 4, 0, MANY / 4, 0);
}

// Sessions that subscribe to as many queues as a slice has links.
enum { SLEEPERS = 8, QUEUES = BROKER_SLICE * 16 };

static struct stage *stage_of_sleepers(struct session **sleepers, nsec_t wait_for)
{
    struct stage *s = stage_new((struct broker_options){0}, false);
    const struct subscription_terms terms = {0};

    s->mute = true;
    for (int i = 0; i < SLEEPERS; i++) {
        sleepers[i] = stage_open(s, "w")->session;
        for (int q = 0; q < QUEUES; q++) {
            char name[16];
            int len = snprintf(name, sizeof name, "q%d", q);

            assert_status(STATUS_OK,
                          broker_subscribe(sleepers[i], slice_of(name, (size_t)len), &terms));
        }
        assert_status(STATUS_OK, broker_wait(sleepers[i], s->now.mono + wait_for, -1));
    }
    return s;
}

static uint64_t waiting(struct stage *s)
{
    struct broker_info info;

    broker_info(s->broker, &info);
    return info.waiting;
}

static void waits_on_many_queues_that_end_at_once_end_in_slices(void **state)
{
    struct session *sleepers[SLEEPERS];
    struct stage *s = stage_of_sleepers(sleepers, SEC(5));

    (void)state;
    s->now.mono += SEC(5);
    for (uint64_t left = SLEEPERS; left > 0; left--) {
        assert_int_equal(waiting(s), left);
        assert_true(broker_next_due(s->broker) <= s->now.mono);
        broker_tick(s->broker, s->now);
    }
    assert_int_equal(waiting(s), 0);
    stage_settle(s);
    stage_free(s);
}

static void sessions_that_wait_on_many_queues_get_due_jobs_in_slices(void **state)
{
    struct session *sleepers[SLEEPERS];
    struct stage *s = stage_of_sleepers(sleepers, SEC(500));

    (void)state;
    for (int i = 0; i < SLEEPERS; i++) {
        PUT(s, .queue = "q7", .delay_for = SEC(5));
    }
    s->now.mono += SEC(5);
    for (uint64_t left = SLEEPERS; left > 0; left--) {
        assert_int_equal(waiting(s), left);
        broker_tick(s->broker, s->now);
    }
    assert_int_equal(waiting(s), 0);
    stage_settle(s);
    stage_free(s);
}

static void kick_wakes_sessions_that_wait_on_many_queues_in_slices(void **state)
{
    struct session *sleepers[SLEEPERS];
    struct stage *s = stage_of_sleepers(sleepers, SEC(500));
    struct kick kick;
    uint64_t left = SLEEPERS;

    (void)state;
    for (int i = 0; i < SLEEPERS; i++) {
        PUT(s, .queue = "q7", .delay_for = SEC(5));
    }
    (void)broker_take_links(s->broker);
    assert_int_equal(STATUS_OK, broker_kick_begin(NULL, stage_find(s, "q7"), SLEEPERS, &kick));
    while (broker_kick(s->broker, stage_find(s, "q7"), &kick) == STATUS_MORE) {
        assert_int_equal(waiting(s), --left);
    }
    assert_int_equal(waiting(s), 0);
    assert_true(left <= 1);
    stage_settle(s);
    stage_free(s);
}

static void session_that_leaves_unlinks_from_many_queues_in_slices(void **state)
{
    struct session *sleepers[SLEEPERS];
    struct stage *s = stage_of_sleepers(sleepers, SEC(500));
    struct queue *last = stage_find(s, "q1023");

    (void)state;
    stage_settle(s);
    for (int i = 0; i < SLEEPERS; i++) {
        act_close(&s->actors[i]);
    }
    assert_int_equal(waiting(s), 0);
    assert_null(broker_queue_find(s->broker, SLICE("q0")));
    assert_int_equal(stage_queue(s, "q1023").waiting, SLEEPERS);
    // No session is left that could take it.
    PUT(s, .queue = "q1023");
    assert_ptr_equal(stage_find(s, "q1023"), last);
    stage_expect_jobs(s, "q1023", 1, 0, 0, 0);
    assert_int_equal(stage_queue(s, "q1023").waiting, 0);
    while (broker_next_due(s->broker) <= s->now.mono) {
        broker_tick(s->broker, s->now);
    }
    assert_null(broker_queue_find(s->broker, SLICE("q1022")));
    stage_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(leases_of_a_session_that_leaves_are_lost_in_slices),
        STORY(session_that_leaves_in_slices_is_told_nothing),
        cmocka_unit_test(broker_may_end_before_all_leases_are_lost),
        cmocka_unit_test(ten_thousand_delays_that_end_at_once_end_in_slices),
        STORY(leases_that_end_at_once_end_in_slices),
        STORY(late_time_ends_no_lease_twice_and_touch_still_helps),
        STORY(watches_of_a_session_that_leaves_are_forgotten),
        STORY(watchers_of_one_job_are_told_in_slices),
        STORY(progress_reported_while_progress_is_told_reaches_all_watches),
        STORY(session_may_leave_between_slices_of_its_events),
        STORY(many_parts_for_one_watcher_are_told_in_slices),
        STORY(nudges_of_one_job_are_told_in_slices),
        STORY(jobs_and_waiters_of_a_long_pause_meet_in_slices),
        STORY(job_that_comes_between_slices_does_not_go_before_better_ones),
        STORY(waits_that_end_at_once_end_in_slices),
        STORY(giving_back_many_is_made_in_slices),
        STORY(taking_many_limits_off_is_made_in_slices),
        cmocka_unit_test(waits_on_many_queues_that_end_at_once_end_in_slices),
        cmocka_unit_test(sessions_that_wait_on_many_queues_get_due_jobs_in_slices),
        cmocka_unit_test(kick_wakes_sessions_that_wait_on_many_queues_in_slices),
        cmocka_unit_test(session_that_leaves_unlinks_from_many_queues_in_slices),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
