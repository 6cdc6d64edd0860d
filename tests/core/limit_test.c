/* SPDX-License-Identifier: MIT */
// Submissions that a queue's policy refuses, and submissions that it accepts.
#include "tests/core/stage.h"

#include <string.h>

#define REFUSED(s, status, ...)                                                                    \
    assert_status(status, stage_try_put((s), NULL, PLAN(__VA_ARGS__), NULL))

static void full_queue_refuses_new_jobs_until_one_leaves(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    POLICY(s, "q", .max_jobs = 2);
    PUT(s, .body = "a");
    PUT(s, .delay_for = SEC(1));
    REFUSED(s, STATUS_QUEUE_FULL, .body = "c");
    assert_int_equal(act_take(w), 1);
    REFUSED(s, STATUS_QUEUE_FULL, .body = "c");
    assert_status(STATUS_OK, act_complete(w, 1, NULL));
    PUT(s, .body = "c");
    REFUSED(s, STATUS_QUEUE_FULL, .body = "d");
    PUT(s, .queue = "other");
    PUT(s, .queue = "other");
    PUT(s, .queue = "other");
}

static void limits_do_not_count_buried_jobs(void **state)
{
    struct stage *s = *state;

    POLICY(s, "q", .max_jobs = 1, .max_bytes = 3);
    PUT_BURIED(s, .body = "abc");
    PUT_BURIED(s, .body = "abc");
    PUT(s, .body = "abc");
    REFUSED(s, STATUS_QUEUE_FULL, .body = "");
}

static void bytes_count_all_bodies_except_buried_ones(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    POLICY(s, "q", .max_bytes = 10);
    PUT(s, .body = "123456");
    REFUSED(s, STATUS_QUEUE_FULL, .body = "12345");
    PUT(s, .body = "1234", .delay_for = SEC(9));
    REFUSED(s, STATUS_QUEUE_FULL, .body = "1");
    PUT(s, .body = "");
    assert_int_equal(stage_queue(s, "q").bytes, 10);
    assert_int_equal(act_take(w), 1);
    assert_int_equal(stage_queue(s, "q").bytes, 10);
    assert_status(STATUS_OK, act_bury(w, 1, 0));
    assert_int_equal(stage_queue(s, "q").bytes, 4);
    PUT(s, .body = "123456");
    assert_int_equal(stage_kick(s, "q", 1), 1);
    assert_int_equal(stage_queue(s, "q").bytes, 16);
    REFUSED(s, STATUS_QUEUE_FULL, .body = "");
}

static void job_that_could_never_come_in_is_too_large(void **state)
{
    struct stage *s = *state;

    POLICY(s, "q", .max_job_size = 4);
    PUT(s, .body = "1234");
    REFUSED(s, STATUS_JOB_TOO_LARGE, .body = "12345");
    PUT(s, .body = "12345", .queue = "r");
    POLICY(s, "*", .max_bytes = 4);
    REFUSED(s, STATUS_QUEUE_FULL, .body = "1");
    REFUSED(s, STATUS_JOB_TOO_LARGE, .body = "12345");
}

static void submission_that_joins_is_not_refused(void **state)
{
    struct stage *s = *state;
    struct submission submission;

    POLICY(s, "q", .max_jobs = 1, .max_job_size = 3);
    PUT(s, .key = "k", .body = "abc");
    assert_status(STATUS_OK,
                  stage_try_put(s, NULL, PLAN(.key = "k", .body = "a long one"), &submission));
    assert_true(submission.joined);
    REFUSED(s, STATUS_QUEUE_FULL, .key = "l");
}

static void moves_and_kicks_are_not_refused(void **state)
{
    struct stage *s = *state;

    PUT(s, .queue = "from", .body = "too long for it");
    PUT_BURIED(s, .queue = "q");
    PUT(s, .queue = "q");
    POLICY(s, "q", .max_jobs = 1, .max_bytes = 1, .max_job_size = 1);
    assert_status(STATUS_OK, stage_act(s, NULL, 1, ACT(.kind = ACT_MOVE, .to = SLICE("q"))));
    assert_int_equal(stage_kick(s, "q", 1), 1);
    stage_expect_jobs(s, "q", 3, 0, 0, 0);
    assert_int_equal(stage_queue(s, "q").bytes, 15);
}

static void limit_that_is_lowered_touches_no_job_that_is_there(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    PUT(s, .body = "a");
    PUT(s, .body = "b");
    PUT(s, .body = "c");
    POLICY(s, "q", .max_jobs = 1);
    REFUSED(s, STATUS_QUEUE_FULL, .body = "d");
    act_drain(w, "1 2 3");
    PUT(s, .body = "d");
    POLICY(s, "none", .max_jobs = 1);
    PUT(s, .body = "e");
}

static void large_bodies_are_counted_by_their_bytes(void **state)
{
    struct stage *s = *state;
    static char text[5000 + 1];

    memset(text, 'x', sizeof text - 1);
    POLICY(s, "q", .max_bytes = 9999);
    PUT(s, .body = text);
    assert_int_equal(stage_queue(s, "q").bytes, 5000);
    REFUSED(s, STATUS_QUEUE_FULL, .body = text);
    assert_status(STATUS_OK, stage_cancel(s, 1));
    PUT(s, .body = text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(full_queue_refuses_new_jobs_until_one_leaves),
        STORY(limits_do_not_count_buried_jobs),
        STORY(bytes_count_all_bodies_except_buried_ones),
        STORY(job_that_could_never_come_in_is_too_large),
        STORY(submission_that_joins_is_not_refused),
        STORY(moves_and_kicks_are_not_refused),
        STORY(limit_that_is_lowered_touches_no_job_that_is_there),
        STORY(large_bodies_are_counted_by_their_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
