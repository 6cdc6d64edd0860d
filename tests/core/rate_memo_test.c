/* SPDX-License-Identifier: MIT */
// A restart does not forget how much of a long rate has been used.
#include "tests/core/stage_restart.h"
#include "tests/support/nth_alloc.h"
#include "tests/support/policies.h"

#include "core/restore.h"

#define HOURLY(s, n)                                                                               \
    POLICY(s, "q", .rate_interval_for = SEC(3600) / (n), .burst = (n), .max_jobs = 1000)

static uint64_t take_all(struct actor *w)
{
    uint64_t count = 0;

    while (act_take(w)) {
        count++;
    }
    return count;
}

static void put_many(struct stage *s, int count)
{
    for (int i = 0; i < count; i++) {
        PUT(s, .queue = "q");
    }
}

static void used_part_of_a_long_rate_survives_a_restart(void **state)
{
    struct stage *s = *state;
    struct stage *again;
    struct actor *w = stage_worker(s, "w", "q");

    HOURLY(s, 4);
    put_many(s, 9);
    assert_int_equal(take_all(w), 4);
    again = stage_restart(s, SEC(60));
    HOURLY(again, 4);
    w = stage_worker(again, "w", "q");
    assert_int_equal(act_take(w), 0);
    assert_int_equal(stage_queue(again, "q").closed, CLOSED_RATE);
    stage_advance(again, SEC(840) - 1);
    assert_int_equal(act_take(w), 0);
    stage_advance(again, 1);
    assert_int_equal(take_all(w), 1);
    stage_advance(again, SEC(3600));
    assert_int_equal(take_all(w), 4);
    stage_free(again);
}

static void a_queue_that_comes_later_has_its_used_rate(void **state)
{
    struct stage *s = *state;
    struct stage *again;
    struct actor *w = stage_worker(s, "w", "q");

    HOURLY(s, 1);
    put_many(s, 1);
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_complete(w, 1, NULL));
    again = stage_restart(s, SEC(1800));
    HOURLY(again, 1);
    assert_null(stage_find(again, "q"));
    put_many(again, 1);
    assert_int_equal(act_take(stage_worker(again, "w", "q")), 0);
    assert_int_equal(stage_queue(again, "q").rate_remaining_for, SEC(1800));
    stage_free(again);
}

// Policies of a file are there before the queues come back, and memos come after the queues.
static void a_queue_that_has_its_policy_before_the_memo_comes_has_used_it_too(void **state)
{
    struct stage *s = *state;
    struct stage *again = stage_new((struct broker_options){0}, true);
    const struct memo *restored;
    struct job_image image;
    const struct job *copy;
    uint64_t cursor = 0;

    HOURLY(s, 4);
    put_many(s, 5);
    assert_int_equal(take_all(stage_worker(s, "w", "q")), 4);
    HOURLY(again, 4);
    image = stage_image(s, 5);
    assert_status(STATUS_OK, broker_restore_job(again->broker, &image, &copy));
    assert_status(STATUS_OK,
                  broker_restore_memo(again->broker,
                                      broker_memo_next(s->broker, MEMO_RATE, &cursor), &restored));
    assert_status(STATUS_OK, broker_restore_finish(again->broker, 6));
    stage_step(again);
    assert_int_equal(act_take(stage_worker(again, "w", "q")), 0);
    assert_int_equal(stage_queue(again, "q").rate_remaining_for, SEC(900));
    stage_free(again);
}

static void it_is_written_once_for_an_eighth_and_exactly_at_the_end(void **state)
{
    struct stage *s = *state;
    struct stage *again;
    struct actor *w = stage_worker(s, "w", "q");

    HOURLY(s, 80);
    s->mute = true;
    put_many(s, 100);
    s->mute = false;
    for (int i = 0; i < 9; i++) {
        (void)act_take(w);
    }
    stage_expect_recorded(s, "");
    (void)act_take(w);
    stage_expect_recorded(s, "memo rate");
    for (int i = 0; i < 9; i++) {
        (void)act_take(w);
    }
    stage_expect_recorded(s, "");
    broker_retire(s->broker);
    stage_expect_recorded(s, "memo rate");
    broker_retire(s->broker);
    stage_expect_recorded(s, "");
    again = stage_restart(s, 0);
    HOURLY(again, 80);
    assert_int_equal(take_all(stage_worker(again, "w", "q")), 80 - 19);
    stage_free(again);
}

static void undelivered_jobs_do_not_use_the_rate_after_a_restart(void **state)
{
    struct stage *s = *state;
    struct stage *again;
    struct actor *w = stage_worker(s, "w", "q");

    HOURLY(s, 1);
    put_many(s, 1);
    assert_int_equal(act_take(w), 1);
    // Since then more of the rate has come back than was used before.
    stage_advance(s, SEC(30));
    broker_all_undelivered(w->session);
    act_close(w);
    stage_settle(s);
    again = stage_restart(s, SEC(1));
    HOURLY(again, 1);
    assert_int_equal(take_all(stage_worker(again, "w", "q")), 1);
    stage_free(again);
}

static void a_clock_that_is_set_back_closes_a_queue_for_no_longer_than_its_rate_would(void **state)
{
    struct stage *s = *state;
    struct stage *again;

    HOURLY(s, 4);
    put_many(s, 9);
    assert_int_equal(take_all(stage_worker(s, "w", "q")), 4);
    again = stage_restart(s, -SEC(86400));
    HOURLY(again, 4);
    assert_int_equal(stage_queue(again, "q").rate_remaining_for, SEC(900));
    stage_free(again);
}

// As at a restart: the policies of the file are there first; when all jobs are back, policies of
// the run time replace them.
static struct stage *restart_under(struct stage *s, const struct policy_spec *of_file,
                                   uint64_t last_id)
{
    struct stage *again = stage_new((struct broker_options){0}, true);
    const struct policy_rule rule = {.glob = SLICE("*"), .spec = *of_file};
    const struct memo *restored;
    uint64_t cursor = 0;

    assert_status(STATUS_OK, set_policies(again->broker, &rule, 1));
    again->now.wall = s->now.wall;
    broker_tick(again->broker, again->now);
    for (uint64_t id = 1; id <= last_id; id++) {
        struct job_image image = stage_image(s, id);
        const struct job *copy;

        assert_status(STATUS_OK, broker_restore_job(again->broker, &image, &copy));
    }
    assert_status(STATUS_OK,
                  broker_restore_memo(again->broker,
                                      broker_memo_next(s->broker, MEMO_RATE, &cursor), &restored));
    assert_status(STATUS_OK, broker_restore_finish(again->broker, last_id + 1));
    return again;
}

static void a_policy_of_the_run_time_finds_its_used_rate_after_one_of_the_file(void **state)
{
    struct stage *s = *state;
    const struct policy_spec of_file[] = {
        {.max_running = 10}, {.weight = 2}, {.rate_interval_for = MSEC(1), .burst = 9}};

    HOURLY(s, 4);
    put_many(s, 9);
    assert_int_equal(take_all(stage_worker(s, "w", "q")), 4);
    for (size_t i = 0; i < sizeof of_file / sizeof *of_file; i++) {
        struct stage *again = restart_under(s, &of_file[i], 9);

        HOURLY(again, 4);
        stage_step(again);
        stage_settle(again);
        assert_int_equal(take_all(stage_worker(again, "w", "q")), 0);
        assert_int_equal(stage_queue(again, "q").rate_remaining_for, SEC(900));
        stage_free(again);
    }
}

static void it_finds_its_used_rate_after_the_queue_was_freed_meanwhile(void **state)
{
    struct stage *s = *state;
    struct stage *again;
    struct actor *w = stage_worker(s, "w", "q");

    HOURLY(s, 1);
    put_many(s, 1);
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_complete(w, 1, NULL));
    again = restart_under(s, &(struct policy_spec){.max_running = 10}, 0);
    assert_status(STATUS_OK, stage_cancel(again, PUT(again, .queue = "q")));
    assert_null(stage_find(again, "q"));
    HOURLY(again, 1);
    put_many(again, 1);
    assert_int_equal(act_take(stage_worker(again, "w", "q")), 0);
    stage_free(again);
}

static void setting_a_policy_again_does_not_reset_its_rate(void **state)
{
    struct stage *s = *state;

    POLICY(s, "q", .rate_interval_for = SEC(86400));
    put_many(s, 2);
    assert_int_equal(take_all(stage_worker(s, "w", "q")), 1);
    HOURLY(s, 1);
    stage_settle(s);
    assert_int_equal(stage_queue(s, "q").rate_remaining_for, SEC(3600));
    stage_advance(s, SEC(3000));
    HOURLY(s, 1);
    stage_settle(s);
    assert_int_equal(stage_queue(s, "q").rate_remaining_for, SEC(600));
}

// The rate is at rest, and the queue is freed.
static void rest_and_vanish(struct stage *s)
{
    stage_advance(s, SEC(3600));
    stage_settle(s);
    assert_null(stage_find(s, "q"));
}

static void a_clock_that_is_set_back_does_not_close_a_queue_that_is_at_rest(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_open(s, "w");

    HOURLY(s, 1);
    put_many(s, 1);
    act_subscribe(w, "q");
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_complete(w, 1, NULL));
    act_close(w);
    s->now.wall -= SEC(86400);
    rest_and_vanish(s);
    put_many(s, 1);
    assert_int_equal(act_take(stage_worker(s, "w", "q")), 2);
}

static void a_clock_that_is_set_back_at_a_restart_closes_a_queue_only_once(void **state)
{
    struct stage *s = *state;
    struct stage *again;
    struct actor *w = stage_worker(s, "w", "q");
    uint64_t id;

    HOURLY(s, 1);
    put_many(s, 1);
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_complete(w, 1, NULL));
    again = stage_restart(s, -SEC(86400));
    HOURLY(again, 1);
    id = PUT(again, .queue = "q");
    assert_int_equal(stage_queue(again, "q").rate_remaining_for, SEC(3600));
    assert_status(STATUS_OK, stage_cancel(again, id));
    rest_and_vanish(again);
    put_many(again, 1);
    assert_int_equal(take_all(stage_worker(again, "w", "q")), 1);
    stage_free(again);
}

static void a_rate_that_is_at_rest_in_time_has_nothing_taken_back(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    HOURLY(s, 1);
    put_many(s, 1);
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_complete(w, 1, NULL));
    act_close(w);
    stage_expect_recorded(s, "submit 1; memo rate; end 1");
    rest_and_vanish(s);
    stage_expect_recorded(s, "");
}

static void a_rate_that_is_at_rest_within_a_minute_is_not_kept(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    POLICY(s, "q", .rate_interval_for = SEC(10), .burst = 5);
    s->mute = true;
    put_many(s, 9);
    s->mute = false;
    assert_int_equal(take_all(w), 5);
    broker_retire(s->broker);
    stage_expect_recorded(s, "");
}

static void without_room_the_queue_goes_on(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    HOURLY(s, 4);
    put_many(s, 9);
    s->refused = STORE_REFUSES(RECORD_MEMO);
    assert_int_equal(act_take(w), 1);
    s->refused = 0;
    nth_alloc_fail(1);
    assert_int_equal(act_take(w), 2);
    nth_alloc_fail(0);
    stage_expect_told(s, "");
    assert_int_equal(take_all(w), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(used_part_of_a_long_rate_survives_a_restart),
        STORY(a_queue_that_comes_later_has_its_used_rate),
        STORY(a_queue_that_has_its_policy_before_the_memo_comes_has_used_it_too),
        STORY(it_is_written_once_for_an_eighth_and_exactly_at_the_end),
        STORY(undelivered_jobs_do_not_use_the_rate_after_a_restart),
        STORY(a_clock_that_is_set_back_closes_a_queue_for_no_longer_than_its_rate_would),
        STORY(a_policy_of_the_run_time_finds_its_used_rate_after_one_of_the_file),
        STORY(it_finds_its_used_rate_after_the_queue_was_freed_meanwhile),
        STORY(setting_a_policy_again_does_not_reset_its_rate),
        STORY(a_clock_that_is_set_back_does_not_close_a_queue_that_is_at_rest),
        STORY(a_clock_that_is_set_back_at_a_restart_closes_a_queue_only_once),
        STORY(a_rate_that_is_at_rest_in_time_has_nothing_taken_back),
        STORY(a_rate_that_is_at_rest_within_a_minute_is_not_kept),
        STORY(without_room_the_queue_goes_on),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
