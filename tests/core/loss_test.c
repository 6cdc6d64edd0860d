/* SPDX-License-Identifier: MIT */
// The log events of jobs that fail or lose their holder.
#include "core/base/log.h"
#include "core/durable_lease.h"
#include "tests/core/stage_restart.h"

#include <stdio.h>
#include <string.h>

// The lines, as "event job queue attempts: why" and perhaps " (unsaid)", divided by "; ".
static struct stage_text lines;

static void gather(void *context, enum log_level level, const char *event,
                   const struct log_field *fields, size_t count)
{
    char unsaid[32] = "";

    (void)context;
    assert_int_equal(level, LOG_LEVEL_INFO);
    assert_in_range(count, 4, 5);
    assert_string_equal(fields[0].key, "job");
    assert_string_equal(fields[1].key, "queue");
    assert_string_equal(fields[2].key, "attempts");
    assert_string_equal(fields[3].key, "why");
    if (count == 5) {
        assert_string_equal(fields[4].key, "unsaid");
        (void)snprintf(unsaid, sizeof unsaid, " (%lld)", (long long)fields[4].number);
    }
    stage_text_add(&lines, "%s %lld %.*s %lld: %.*s%s", event, (long long)fields[0].number,
                   (int)fields[1].text.len, fields[1].text.ptr, (long long)fields[2].number,
                   (int)fields[3].text.len, fields[3].text.ptr, unsaid);
}

static int loss_setup(void **state)
{
    memset(&lines, 0, sizeof lines);
    log_set_sink(gather, NULL, LOG_LEVEL_INFO);
    return stage_setup(state);
}

static int loss_teardown(void **state)
{
    int result = stage_teardown(state);

    log_set_sink(NULL, NULL, LOG_LEVEL_ERROR);
    return result;
}

static void expect_lines(const char *text)
{
    assert_string_equal(lines.bytes, text);
    memset(&lines, 0, sizeof lines);
}

static void job_that_its_worker_fails_is_logged(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    PUT(s, .pri = 0);
    PUT(s, .pri = 0);
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_fail(w, 1, NULL));
    expect_lines("job_failed 1 q 0: its worker reported a failure");
    assert_int_equal(act_take(w), 2);
    assert_status(STATUS_OK, act_fail(w, 2, "no"));
    expect_lines("job_failed 2 q 0: its worker reported an exception");
}

static void job_that_loses_its_holder_is_logged(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    PUT(s, .ttr_for = SEC(5));
    assert_int_equal(act_take(w), 1);
    stage_advance(s, SEC(5));
    expect_lines("job_lost 1 q 1: its time to run was over");
    assert_int_equal(act_take(w), 1);
    act_close(w);
    stage_settle(s);
    expect_lines("job_lost 1 q 2: its worker left or gave it back");
}

// Of two jobs, the limit of the first ends before its time to run, that of the other behind.
static void resumed_lease_says_what_ended_it(void **state)
{
    struct stage *s = *state;
    struct stage *again;
    struct actor *w = stage_worker(s, "w", "q");
    struct durable_lease lease;
    uint64_t cursor = 0;

    for (uint64_t id = 1; id <= 2; id++) {
        nsec_t limit_for = id == 1 ? SEC(10) : SEC(50);

        PUT(s, .ttr_for = SEC(20));
        assert_int_equal(act_take(w), id);
        assert_status(STATUS_OK, broker_limit(w->session, id, limit_for));
        lease = (struct durable_lease){.job_id = id, .limit_for = limit_for};
        broker_lease_persist(w->session, &lease);
        stage_step(s);
    }
    again = stage_restart(s, SEC(5));
    w = stage_open(again, "w");
    while (broker_durable_lease_next(again->broker, &cursor, &lease)) {
        assert_status(STATUS_OK, broker_lease_resume(w->session, &lease));
    }
    stage_advance(again, SEC(5));
    expect_lines("job_lost 1 q 1: the timeout that its worker has set was over "
                 "(its minimum is gearman.min_timeout)");
    stage_advance(again, SEC(10));
    expect_lines("job_lost 2 q 1: its time to run was over");
    stage_free(again);
}

static void last_attempt_that_is_lost_is_a_failure(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    PUT(s, .ttr_for = SEC(5), .max_attempts = 1);
    assert_int_equal(act_take(w), 1);
    stage_advance(s, SEC(5));
    expect_lines("job_failed 1 q 1: its time to run was over");
}

static void successes_are_not_logged(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    PUT(s, .pri = 0);
    PUT(s, .pri = 0);
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_complete(w, 1, "done"));
    assert_int_equal(act_take(w), 2);
    assert_status(STATUS_OK, act_release(w, 2, 0, 0));
    assert_status(STATUS_OK, stage_cancel(s, 2));
    expect_lines("");
}

// A line for each job would hide all other lines, and cost more than the jobs.
static void a_second_has_ten_lines_and_the_next_line_has_the_number_omitted(void **state)
{
    enum { LINES = 10, JOBS = 25 };
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    size_t count = 0;

    for (int i = 0; i < JOBS; i++) {
        PUT(s, .pri = 0);
        assert_status(STATUS_OK, act_fail(w, act_take(w), NULL));
    }
    for (const char *at = strstr(lines.bytes, "job_"); at; at = strstr(at + 1, "job_")) {
        count++;
    }
    assert_int_equal(count, LINES);
    memset(&lines, 0, sizeof lines);
    stage_advance(s, SEC(1));
    PUT(s, .pri = 0);
    assert_status(STATUS_OK, act_fail(w, act_take(w), NULL));
    expect_lines("job_failed 26 q 0: its worker reported a failure (15)");
    PUT(s, .pri = 0);
    assert_status(STATUS_OK, act_fail(w, act_take(w), NULL));
    expect_lines("job_failed 27 q 0: its worker reported a failure");
}

#define LOSS_STORY(f) cmocka_unit_test_setup_teardown(f, loss_setup, loss_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        LOSS_STORY(job_that_its_worker_fails_is_logged),
        LOSS_STORY(job_that_loses_its_holder_is_logged),
        LOSS_STORY(resumed_lease_says_what_ended_it),
        LOSS_STORY(last_attempt_that_is_lost_is_a_failure),
        LOSS_STORY(successes_are_not_logged),
        LOSS_STORY(a_second_has_ten_lines_and_the_next_line_has_the_number_omitted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
