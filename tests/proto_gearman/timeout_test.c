/* SPDX-License-Identifier: MIT */

// CAN_DO_TIMEOUT: how long a worker may hold each job of a function.

#include "tests/proto_gearman/wire_gear.h"

#define MILLISECONDS(n) ((nsec_t)(n)*NSEC_PER_MSEC)
#define NO_SUCH_RESULT RES(ERROR, "JOB_NOT_FOUND", "Job given in work result not found")

static void submit(struct peer *client, const char *function)
{
    gear_submits(client, REQ(SUBMIT_JOB, function, "", "x"));
}

static void can_do(struct peer *worker, const char *function, const char *timeout)
{
    gear_says(worker, REQ(CAN_DO_TIMEOUT, function, timeout), NOTHING);
}

static void a_job_is_ready_again_after_its_time_out(void **state)
{
    struct gear *t = *state;

    submit(t->a, "f");
    can_do(t->b, "f", "1500");
    gear_grabs(t->b, "f", "x");
    rig_advance(t->rig, MILLISECONDS(1499));
    jobs_are(t, "f", JOB_RESERVED, 1);
    rig_advance(t->rig, MILLISECONDS(1));
    jobs_are(t, "f", JOB_READY, 1);
    assert_int_equal(gear_job(t, 1).attempts, 1);
    gear_hears(t->a, NOTHING);
    gear_hears(t->b, NOTHING);
}

static void a_late_result_finds_no_job(void **state)
{
    struct gear *t = *state;

    submit(t->a, "f");
    can_do(t->b, "f", "5");
    gear_grabs(t->b, "f", "x");
    rig_advance(t->rig, MILLISECONDS(5));
    gear_says(t->b, REQ(WORK_COMPLETE, H(1), "late"), NO_SUCH_RESULT);
    gear_says(t->b, REQ(WORK_FAIL, H(1)), NO_SUCH_RESULT);
    gear_says(t->b, REQ(WORK_STATUS, H(1), "1", "2"), NO_SUCH_RESULT);
    gear_hears(t->a, NOTHING);
    gear_grabs(t->b, "f", "x");
    gear_says(t->b, REQ(WORK_COMPLETE, H(1), "in time"), NOTHING);
    gear_hears(t->a, RES(WORK_COMPLETE, H(1), "in time"));
}

static void a_timed_out_job_goes_to_the_back_and_wakes_sleeping_workers(void **state)
{
    struct gear *t = *state;

    gear_submits(t->a, REQ(SUBMIT_JOB, "f", "", "1"));
    can_do(t->b, "f", "5");
    gear_grabs(t->b, "f", "1");
    gear_says(t->c, MANY(REQ(CAN_DO, "f"), REQ(PRE_SLEEP)), NOTHING);
    rig_advance(t->rig, MILLISECONDS(4));
    gear_hears(t->c, NOTHING);
    rig_advance(t->rig, MILLISECONDS(1));
    gear_hears(t->c, RES(NOOP));
    gear_submits(t->a, REQ(SUBMIT_JOB, "f", "", "2"));
    can_do(t->b, "f", "5");
    gear_grabs(t->b, "f", "1");
    rig_advance(t->rig, MILLISECONDS(5));
    gear_grabs(t->c, "f", "2");
    gear_grabs(t->c, "f", "1");
}

static void reports_do_not_restart_the_time_out(void **state)
{
    struct gear *t = *state;

    submit(t->a, "f");
    can_do(t->b, "f", "1000");
    gear_grabs(t->b, "f", "x");
    rig_advance(t->rig, MILLISECONDS(900));
    gear_says(t->b,
              MANY(REQ(WORK_STATUS, H(1), "9", "10"), REQ(WORK_DATA, H(1), "d"),
                   REQ(WORK_WARNING, H(1), "w")),
              NOTHING);
    rig_advance(t->rig, MILLISECONDS(100));
    jobs_are(t, "f", JOB_READY, 1);
}

static void each_job_has_its_own_time_out(void **state)
{
    struct gear *t = *state;

    submit(t->a, "f");
    submit(t->a, "f");
    submit(t->a, "g");
    submit(t->a, "h");
    can_do(t->b, "f", "100");
    gear_grabs(t->b, "f", "x");
    rig_advance(t->rig, MILLISECONDS(50));
    gear_grabs(t->b, "f", "x");
    can_do(t->b, "g", "200");
    gear_says(t->b, REQ(CAN_DO, "h"), NOTHING);
    gear_grabs(t->b, "h", "x");
    gear_grabs(t->b, "g", "x");
    rig_advance(t->rig, MILLISECONDS(50));
    jobs_are(t, "f", JOB_READY, 1);
    assert_int_equal(gear_job(t, 1).state, JOB_READY);
    rig_advance(t->rig, MILLISECONDS(50));
    jobs_are(t, "f", JOB_READY, 2);
    jobs_are(t, "g", JOB_READY, 0);
    rig_advance(t->rig, MILLISECONDS(100));
    jobs_are(t, "g", JOB_READY, 1);
    rig_advance(t->rig, SECONDS(100000));
    jobs_are(t, "h", JOB_RESERVED, 1);
}

// libgearman's worker sleeps after a report was refused, and its job must still end.
static void a_sleeping_worker_has_no_time_out(void **state)
{
    struct gear *t = *state;

    submit(t->a, "f");
    submit(t->a, "f");
    can_do(t->b, "f", "100");
    gear_grabs(t->b, "f", "x");
    gear_grabs(t->b, "f", "x");
    rig_advance(t->rig, MILLISECONDS(99));
    gear_says(t->b, REQ(PRE_SLEEP), NOTHING);
    rig_advance(t->rig, SECONDS(100));
    jobs_are(t, "f", JOB_RESERVED, 2);
    gear_says(t->b, REQ(WORK_COMPLETE, H(1), "done"), NOTHING);
    gear_hears(t->a, RES(WORK_COMPLETE, H(1), "done"));
}

static void a_sleep_that_ends_at_once_does_not_end_time_outs(void **state)
{
    struct gear *t = *state;

    submit(t->a, "f");
    can_do(t->b, "f", "100");
    gear_grabs(t->b, "f", "x");
    submit(t->a, "f");
    gear_says(t->b, REQ(PRE_SLEEP), RES(NOOP));
    rig_advance(t->rig, MILLISECONDS(100));
    jobs_are(t, "f", JOB_READY, 2);
}

static void a_job_that_is_grabbed_after_the_sleep_has_a_time_out(void **state)
{
    struct gear *t = *state;

    submit(t->a, "f");
    can_do(t->b, "f", "100");
    gear_grabs(t->b, "f", "x");
    gear_says(t->b, REQ(PRE_SLEEP), NOTHING);
    submit(t->a, "f");
    gear_hears(t->b, RES(NOOP));
    gear_grabs(t->b, "f", "x");
    rig_advance(t->rig, MILLISECONDS(100));
    assert_int_equal(gear_job(t, 1).state, JOB_RESERVED);
    assert_int_equal(gear_job(t, 2).state, JOB_READY);
}

static void a_worker_with_many_jobs_goes_to_sleep_in_slices(void **state)
{
    struct gear *t = *state;

    can_do(t->b, "f", "100");
    for (int i = 0; i < 3 * BROKER_SLICE; i++) {
        submit(t->a, "f");
        gear_grabs(t->b, "f", "x");
    }
    peer_send(t->b, MANY(REQ(PRE_SLEEP), REQ(ECHO_REQ, "done")));
    rig_feed(t->rig);
    gear_hears(t->b, NOTHING);
    rig_run(t->rig);
    gear_hears(t->b, RES(ECHO_RES, "done"));
    rig_advance(t->rig, SECONDS(100));
    jobs_are(t, "f", JOB_RESERVED, (size_t)3 * BROKER_SLICE);
}

static void a_time_out_below_the_minimum_is_raised(void **state)
{
    struct gear *t = *state;

    t->settings.min_timeout = 1000;
    submit(t->a, "f");
    can_do(t->b, "f", "5");
    gear_grabs(t->b, "f", "x");
    rig_advance(t->rig, MILLISECONDS(999));
    jobs_are(t, "f", JOB_RESERVED, 1);
    rig_advance(t->rig, MILLISECONDS(1));
    jobs_are(t, "f", JOB_READY, 1);
    can_do(t->b, "f", "0");
    gear_grabs(t->b, "f", "x");
    rig_advance(t->rig, SECONDS(100));
    jobs_are(t, "f", JOB_RESERVED, 1);
}

static void a_time_out_of_0_means_no_limit(void **state)
{
    static const char *const times[] = {"0", "", "soon", "-5", "-9999999999999999999999"};
    struct gear *t = *state;

    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        submit(t->a, "f");
        can_do(t->b, "f", times[i]);
        gear_grabs(t->b, "f", "x");
    }
    rig_advance(t->rig, SECONDS(100000));
    jobs_are(t, "f", JOB_RESERVED, sizeof times / sizeof *times);
}

static void a_time_out_is_the_number_at_the_beginning_of_the_argument(void **state)
{
    static const char *const times[] = {"100ms", "100.9", " 100", "+100", "00100"};
    struct gear *t = *state;

    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        submit(t->a, "f");
        can_do(t->b, "f", times[i]);
        gear_grabs(t->b, "f", "x");
        rig_advance(t->rig, MILLISECONDS(99));
        jobs_are(t, "f", JOB_RESERVED, 1);
        rig_advance(t->rig, MILLISECONDS(1));
        jobs_are(t, "f", JOB_READY, 1);
        gear_says(t->c, REQ(CAN_DO, "f"), NOTHING);
        gear_says(t->c, REQ(WORK_COMPLETE, gear_handle(gear_grabs(t->c, "f", "x")), ""), NOTHING);
        gear_hears(t->a, RES(WORK_COMPLETE, gear_handle(i + 1), ""));
    }
}

static void a_very_long_time_out_does_not_overflow(void **state)
{
    static const char *const times[] = {"4294967295", "4294967296", "9223372036854775808",
                                        "18446744073709551615"};
    struct gear *t = *state;

    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        submit(t->a, "f");
        can_do(t->b, "f", times[i]);
        gear_grabs(t->b, "f", "x");
    }
    rig_advance(t->rig, SECONDS(48 * 86400));
    jobs_are(t, "f", JOB_RESERVED, sizeof times / sizeof *times);
}

static void terms_change_for_the_jobs_to_come(void **state)
{
    struct gear *t = *state;

    submit(t->a, "f");
    submit(t->a, "f");
    submit(t->a, "f");
    can_do(t->b, "f", "100");
    gear_grabs(t->b, "f", "x");
    can_do(t->b, "f", "200");
    gear_grabs(t->b, "f", "x");
    gear_says(t->b, REQ(CAN_DO, "f"), NOTHING);
    gear_grabs(t->b, "f", "x");
    rig_advance(t->rig, MILLISECONDS(100));
    jobs_are(t, "f", JOB_READY, 1);
    rig_advance(t->rig, MILLISECONDS(100));
    jobs_are(t, "f", JOB_READY, 2);
    rig_advance(t->rig, SECONDS(1000));
    jobs_are(t, "f", JOB_RESERVED, 1);
}

static void the_wall_clock_does_not_affect_time_outs(void **state)
{
    struct gear *t = *state;

    submit(t->a, "f");
    can_do(t->b, "f", "100");
    gear_grabs(t->b, "f", "x");
    rig_set_clock(t->rig, SECONDS(3600));
    rig_set_clock(t->rig, SECONDS(-7200));
    jobs_are(t, "f", JOB_RESERVED, 1);
    rig_advance(t->rig, MILLISECONDS(100));
    jobs_are(t, "f", JOB_READY, 1);
}

static void a_time_out_is_an_attempt(void **state)
{
    struct gear *t = *state;

    t->settings.job_retries = 2;
    submit(t->a, "f");
    can_do(t->b, "f", "100");
    gear_grabs(t->b, "f", "x");
    rig_advance(t->rig, MILLISECONDS(100));
    gear_hears(t->a, NOTHING);
    gear_grabs(t->b, "f", "x");
    rig_advance(t->rig, MILLISECONDS(100));
    gear_hears(t->a, RES(WORK_FAIL, H(1)));
    jobs_are(t, "f", JOB_READY, 0);
}

static void a_time_out_may_fail_the_job(void **state)
{
    struct gear *t = *state;

    t->settings.on_timeout = GEAR_TIMEOUT_FAILS;
    submit(t->a, "f");
    gear_submits(t->a, REQ(SUBMIT_JOB_BG, "f", "", "x"));
    can_do(t->b, "f", "100");
    gear_grabs(t->b, "f", "x");
    gear_grabs(t->b, "f", "x");
    rig_advance(t->rig, MILLISECONDS(100));
    gear_hears(t->a, RES(WORK_FAIL, H(1)));
    job_is_gone(t, 1);
    job_is_gone(t, 2);
    gear_says(t->b, REQ(WORK_COMPLETE, H(1), ""), NO_SUCH_RESULT);
}

static void a_job_that_failed_by_time_out_may_be_buried(void **state)
{
    struct gear *t = *state;

    t->settings.on_timeout = GEAR_TIMEOUT_FAILS;
    t->settings.on_fail = CONTRACT_FAIL_BURIES;
    gear_submits(t->a, REQ(SUBMIT_JOB_BG, "f", "", "x"));
    can_do(t->b, "f", "100");
    gear_grabs(t->b, "f", "x");
    rig_advance(t->rig, MILLISECONDS(100));
    jobs_are(t, "f", JOB_BURIED, 1);
}

static void a_job_without_clients_ends_at_its_time_out(void **state)
{
    struct gear *t = *state;

    submit(t->a, "f");
    can_do(t->b, "f", "100");
    gear_grabs(t->b, "f", "x");
    peer_free(t->a);
    jobs_are(t, "f", JOB_RESERVED, 1);
    rig_advance(t->rig, MILLISECONDS(100));
    job_is_gone(t, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        GEAR(a_job_is_ready_again_after_its_time_out),
        GEAR(a_late_result_finds_no_job),
        GEAR(a_timed_out_job_goes_to_the_back_and_wakes_sleeping_workers),
        GEAR(reports_do_not_restart_the_time_out),
        GEAR(each_job_has_its_own_time_out),
        GEAR(a_sleeping_worker_has_no_time_out),
        GEAR(a_sleep_that_ends_at_once_does_not_end_time_outs),
        GEAR(a_job_that_is_grabbed_after_the_sleep_has_a_time_out),
        GEAR(a_worker_with_many_jobs_goes_to_sleep_in_slices),
        GEAR(a_time_out_below_the_minimum_is_raised),
        GEAR(a_time_out_of_0_means_no_limit),
        GEAR(a_time_out_is_the_number_at_the_beginning_of_the_argument),
        GEAR(a_very_long_time_out_does_not_overflow),
        GEAR(terms_change_for_the_jobs_to_come),
        GEAR(the_wall_clock_does_not_affect_time_outs),
        GEAR(a_time_out_is_an_attempt),
        GEAR(a_time_out_may_fail_the_job),
        GEAR(a_job_that_failed_by_time_out_may_be_buried),
        GEAR(a_job_without_clients_ends_at_its_time_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
