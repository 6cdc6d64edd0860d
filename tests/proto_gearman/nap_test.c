/* SPDX-License-Identifier: MIT */

// Sleeping workers: after PRE_SLEEP, a worker gets one NOOP as soon as there may be a job.

#include "tests/proto_gearman/wire_gear.h"

static int waking(void **state, int64_t workers)
{
    struct gear_options settings = GEAR_DEFAULTS;

    settings.worker_wakeup = workers;
    return gear_setup_with(state, (struct rig_options){0}, settings);
}

static int waking_one(void **state)
{
    return waking(state, 1);
}

static int waking_two(void **state)
{
    return waking(state, 2);
}

static void sleep_for_f(struct peer *worker)
{
    gear_says(worker, MANY(REQ(CAN_DO, "f"), REQ(GRAB_JOB), REQ(PRE_SLEEP)), RES(NO_JOB));
}

static void submit(struct peer *client)
{
    gear_submits(client, REQ(SUBMIT_JOB_BG, "f", "", "x"));
}

static void a_sleeping_worker_is_woken_by_a_job(void **state)
{
    struct gear *t = *state;

    sleep_for_f(t->b);
    submit(t->a);
    gear_hears(t->b, RES(NOOP));
    gear_grabs(t->b, "f", "x");
}

static void a_worker_that_sleeps_when_a_job_is_ready_is_woken_at_once(void **state)
{
    struct gear *t = *state;

    submit(t->a);
    gear_says(t->b, REQ(CAN_DO, "f"), NOTHING);
    gear_says(t->b, REQ(PRE_SLEEP), RES(NOOP));
    gear_says(t->b, REQ(PRE_SLEEP), RES(NOOP));
    gear_grabs(t->b, "f", "x");
    gear_says(t->b, REQ(PRE_SLEEP), NOTHING);
}

static void a_sleeping_worker_is_woken_once(void **state)
{
    struct gear *t = *state;

    sleep_for_f(t->b);
    submit(t->a);
    submit(t->a);
    submit(t->a);
    gear_hears(t->b, RES(NOOP));
}

static void sleeping_twice_asks_for_one_wake_up(void **state)
{
    struct gear *t = *state;

    sleep_for_f(t->b);
    gear_says(t->b, MANY(REQ(PRE_SLEEP), REQ(PRE_SLEEP)), NOTHING);
    submit(t->a);
    gear_hears(t->b, RES(NOOP));
}

static void all_sleeping_workers_are_woken(void **state)
{
    struct gear *t = *state;

    sleep_for_f(t->b);
    sleep_for_f(t->c);
    submit(t->a);
    gear_hears(t->b, RES(NOOP));
    gear_hears(t->c, RES(NOOP));
    gear_grabs(t->c, "f", "x");
    gear_says(t->b, MANY(REQ(GRAB_JOB), REQ(PRE_SLEEP)), RES(NO_JOB));
    submit(t->a);
    gear_hears(t->b, RES(NOOP));
    gear_hears(t->c, NOTHING);
}

static void one_job_may_wake_one_worker_at_a_time(void **state)
{
    struct gear *t = *state;

    sleep_for_f(t->b);
    sleep_for_f(t->c);
    submit(t->a);
    gear_hears(t->b, RES(NOOP));
    gear_hears(t->c, NOTHING);
    submit(t->a);
    gear_hears(t->b, NOTHING);
    gear_hears(t->c, RES(NOOP));
}

static void one_job_may_wake_two_workers(void **state)
{
    struct gear *t = *state;
    struct peer *d = peer_new(t->rig);

    sleep_for_f(t->b);
    sleep_for_f(t->c);
    sleep_for_f(d);
    submit(t->a);
    gear_hears(t->b, RES(NOOP));
    gear_hears(t->c, RES(NOOP));
    gear_hears(d, NOTHING);
    submit(t->a);
    gear_hears(d, RES(NOOP));
}

static void a_worker_that_grabs_is_awake(void **state)
{
    static const char *const grabs[] = {GRAB_JOB, GRAB_JOB_UNIQ, GRAB_JOB_ALL};
    struct gear *t = *state;

    gear_says(t->b, REQ(CAN_DO, "f"), NOTHING);
    for (size_t i = 0; i < 3; i++) {
        gear_says(t->b, MANY(REQ(PRE_SLEEP), REQ(grabs[i])), RES(NO_JOB));
    }
    submit(t->a);
    gear_hears(t->b, NOTHING);
    gear_grabs(t->b, "f", "x");
}

static void other_packets_do_not_wake_a_worker_up(void **state)
{
    struct gear *t = *state;

    sleep_for_f(t->b);
    gear_says(t->b, REQ(ECHO_REQ, "x"), RES(ECHO_RES, "x"));
    gear_says(t->b, REQ(GET_STATUS, H(1)), RES(STATUS_RES, H(1), "0", "0", "0", "0"));
    submit(t->a);
    gear_hears(t->b, RES(NOOP));
}

static void a_job_of_another_function_wakes_no_worker(void **state)
{
    struct gear *t = *state;

    sleep_for_f(t->b);
    gear_submits(t->a, REQ(SUBMIT_JOB_BG, "g", "", "x"));
    gear_hears(t->b, NOTHING);
}

static void a_worker_that_sleeps_without_functions_is_not_woken(void **state)
{
    struct gear *t = *state;

    submit(t->a);
    gear_says(t->b, REQ(PRE_SLEEP), NOTHING);
    submit(t->a);
    gear_hears(t->b, NOTHING);
}

static void a_new_function_wakes_a_sleeping_worker_if_a_job_waits(void **state)
{
    struct gear *t = *state;

    gear_says(t->b, MANY(REQ(CAN_DO, "g"), REQ(PRE_SLEEP)), NOTHING);
    submit(t->a);
    gear_hears(t->b, NOTHING);
    gear_says(t->b, REQ(CAN_DO, "f"), RES(NOOP));
    gear_grabs(t->b, "f", "x");
}

static void a_function_that_is_given_up_no_longer_wakes_its_worker(void **state)
{
    struct gear *t = *state;

    sleep_for_f(t->b);
    gear_says(t->b, MANY(REQ(CAN_DO, "g"), REQ(CANT_DO, "f")), NOTHING);
    submit(t->a);
    gear_hears(t->b, NOTHING);
    gear_submits(t->a, REQ(SUBMIT_JOB_BG, "g", "", "x"));
    gear_hears(t->b, RES(NOOP));
}

static void a_worker_that_is_too_late_gets_no_job(void **state)
{
    struct gear *t = *state;

    sleep_for_f(t->b);
    submit(t->a);
    gear_says(t->c, REQ(CAN_DO, "f"), NOTHING);
    gear_grabs(t->c, "f", "x");
    gear_hears(t->b, RES(NOOP));
    gear_says(t->b, REQ(GRAB_JOB), RES(NO_JOB));
}

static void a_worker_that_never_grabs_withholds_nothing(void **state)
{
    struct gear *t = *state;

    sleep_for_f(t->b);
    submit(t->a);
    gear_hears(t->b, RES(NOOP));
    gear_says(t->c, REQ(CAN_DO, "f"), NOTHING);
    gear_grabs(t->c, "f", "x");
}

static void a_delayed_job_wakes_no_worker_before_its_time(void **state)
{
    struct gear *t = *state;

    sleep_for_f(t->b);
    gear_submits(t->a, REQ(SUBMIT_JOB_EPOCH, "f", "", "1700000010", "x"));
    gear_hears(t->b, NOTHING);
    gear_says(t->b, MANY(REQ(GRAB_JOB), REQ(PRE_SLEEP)), RES(NO_JOB));
    rig_advance(t->rig, SECONDS(9));
    gear_hears(t->b, NOTHING);
    rig_advance(t->rig, SECONDS(1));
    gear_hears(t->b, RES(NOOP));
    gear_grabs(t->b, "f", "x");
}

static void a_delayed_job_does_not_hide_a_ready_one(void **state)
{
    struct gear *t = *state;

    gear_submits(t->a, REQ(SUBMIT_JOB_EPOCH, "f", "", "1700000010", "later"));
    gear_submits(t->a, REQ(SUBMIT_JOB_LOW_BG, "f", "", "low"));
    gear_says(t->b, MANY(REQ(CAN_DO, "f"), REQ(PRE_SLEEP)), RES(NOOP));
    gear_grabs(t->b, "f", "low");
}

static void a_job_that_is_ready_again_wakes_sleeping_workers(void **state)
{
    struct gear *t = *state;

    submit(t->a);
    gear_says(t->c, REQ(CAN_DO, "f"), NOTHING);
    gear_grabs(t->c, "f", "x");
    sleep_for_f(t->b);
    peer_free(t->c);
    gear_hears(t->b, RES(NOOP));
    gear_grabs(t->b, "f", "x");
}

static void a_worker_that_gives_a_function_up_keeps_its_job_and_wakes_no_worker(void **state)
{
    struct gear *t = *state;

    submit(t->a);
    gear_says(t->b, REQ(CAN_DO, "f"), NOTHING);
    gear_grabs(t->b, "f", "x");
    sleep_for_f(t->c);
    gear_says(t->b, MANY(REQ(PRE_SLEEP), REQ(CANT_DO, "f")), NOTHING);
    gear_hears(t->c, NOTHING);
    jobs_are(t, "f", JOB_RESERVED, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        GEAR(a_sleeping_worker_is_woken_by_a_job),
        GEAR(a_worker_that_sleeps_when_a_job_is_ready_is_woken_at_once),
        GEAR(a_sleeping_worker_is_woken_once),
        GEAR(sleeping_twice_asks_for_one_wake_up),
        GEAR(all_sleeping_workers_are_woken),
        cmocka_unit_test_setup_teardown(one_job_may_wake_one_worker_at_a_time, waking_one,
                                        gear_teardown),
        cmocka_unit_test_setup_teardown(one_job_may_wake_two_workers, waking_two, gear_teardown),
        GEAR(a_worker_that_grabs_is_awake),
        GEAR(other_packets_do_not_wake_a_worker_up),
        GEAR(a_job_of_another_function_wakes_no_worker),
        GEAR(a_worker_that_sleeps_without_functions_is_not_woken),
        GEAR(a_new_function_wakes_a_sleeping_worker_if_a_job_waits),
        GEAR(a_function_that_is_given_up_no_longer_wakes_its_worker),
        GEAR(a_worker_that_is_too_late_gets_no_job),
        GEAR(a_worker_that_never_grabs_withholds_nothing),
        GEAR(a_delayed_job_wakes_no_worker_before_its_time),
        GEAR(a_delayed_job_does_not_hide_a_ready_one),
        GEAR(a_job_that_is_ready_again_wakes_sleeping_workers),
        GEAR(a_worker_that_gives_a_function_up_keeps_its_job_and_wakes_no_worker),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
