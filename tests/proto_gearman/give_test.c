/* SPDX-License-Identifier: MIT */

// Functions that a worker gives up while it holds jobs of them: it keeps the jobs until it has done
// them.

#include "tests/proto_gearman/wire_gear.h"

#define MANY_FUNCTIONS 3000

static void submit(struct peer *client, const char *function, const char *body)
{
    gear_submits(client, REQ(SUBMIT_JOB, function, "", body));
}

// The worker takes one job of each function, and sends `said`, which gives them up.
static void give_up(struct gear *t, struct slice said)
{
    submit(t->a, "f", "1");
    submit(t->a, "g", "2");
    gear_says(t->b, MANY(REQ(CAN_DO, "f"), REQ(CAN_DO, "g")), NOTHING);
    gear_grabs(t->b, "g", "2");
    gear_grabs(t->b, "f", "1");
    gear_says(t->b, said, NOTHING);
    submit(t->a, "f", "3");
    gear_says(t->b, REQ(GRAB_JOB), RES(NO_JOB));
}

static void a_worker_finishes_the_jobs_of_a_function_that_it_gives_up(void **state)
{
    struct gear *t = *state;

    give_up(t, REQ(CANT_DO, "f"));
    jobs_are(t, "f", JOB_RESERVED, 1);
    assert_int_equal(gear_job(t, 1).attempts, 0);
    gear_says(t->b,
              MANY(REQ(WORK_DATA, H(1), "part"), REQ(WORK_STATUS, H(1), "1", "2"),
                   REQ(WORK_COMPLETE, H(1), "done"), REQ(WORK_COMPLETE, H(2), "too")),
              NOTHING);
    gear_hears(t->a, MANY(RES(WORK_DATA, H(1), "part"), RES(WORK_STATUS, H(1), "1", "2"),
                          RES(WORK_COMPLETE, H(1), "done"), RES(WORK_COMPLETE, H(2), "too")));
    gear_says(t->c, REQ(CAN_DO, "f"), NOTHING);
    gear_grabs(t->c, "f", "3");
}

static void a_reset_leaves_the_worker_its_jobs(void **state)
{
    struct gear *t = *state;

    give_up(t, REQ(RESET_ABILITIES));
    jobs_are(t, "f", JOB_RESERVED, 1);
    jobs_are(t, "g", JOB_RESERVED, 1);
    gear_says(t->b, MANY(REQ(WORK_COMPLETE, H(1), "done"), REQ(WORK_FAIL, H(2))), NOTHING);
    gear_hears(t->a, MANY(RES(WORK_COMPLETE, H(1), "done"), RES(WORK_FAIL, H(2))));
}

static void the_last_attempt_is_not_spent_by_giving_the_function_up(void **state)
{
    struct gear *t = *state;

    t->settings.job_retries = 1;
    give_up(t, REQ(CANT_DO, "f"));
    gear_hears(t->a, NOTHING);
    gear_says(t->b, REQ(WORK_COMPLETE, H(1), "done"), NOTHING);
    gear_hears(t->a, RES(WORK_COMPLETE, H(1), "done"));
}

static void a_worker_that_leaves_gives_back_jobs_of_functions_given_up(void **state)
{
    struct gear *t = *state;
    struct queue_info info;

    give_up(t, REQ(RESET_ABILITIES));
    peer_free(t->b);
    jobs_are(t, "f", JOB_READY, 2);
    jobs_are(t, "g", JOB_READY, 1);
    assert_int_equal(gear_job(t, 1).attempts, 1);
    broker_queue_info(rig_broker(t->rig), broker_queue_find(rig_broker(t->rig), SLICE("f")), &info);
    assert_int_equal(info.holders, 0);
    assert_int_equal(info.subscriptions, 0);
}

static void the_time_out_of_a_function_given_up_continues(void **state)
{
    struct gear *t = *state;

    submit(t->a, "f", "x");
    gear_says(t->b, REQ(CAN_DO_TIMEOUT, "f", "1000"), NOTHING);
    gear_grabs(t->b, "f", "x");
    gear_says(t->b, REQ(CANT_DO, "f"), NOTHING);
    rig_advance(t->rig, SECONDS(1));
    rig_run(t->rig);
    jobs_are(t, "f", JOB_READY, 1);
    assert_int_equal(gear_job(t, 1).attempts, 1);
}

static void a_repeated_can_do_gives_nothing_back(void **state)
{
    struct gear *t = *state;

    submit(t->a, "f", "x");
    gear_says(t->b, REQ(CAN_DO, "f"), NOTHING);
    gear_grabs(t->b, "f", "x");
    gear_says(t->b, MANY(REQ(CAN_DO, "f"), REQ(CAN_DO_TIMEOUT, "f", "9")), NOTHING);
    jobs_are(t, "f", JOB_RESERVED, 1);
    gear_says(t->b, REQ(WORK_COMPLETE, H(1), "done"), NOTHING);
    gear_hears(t->a, RES(WORK_COMPLETE, H(1), "done"));
}

static int unchecked(void **state)
{
    return gear_setup_with(state, (struct rig_options){.unchecked = true}, GEAR_DEFAULTS);
}

// The worker offers many functions, holds a job of one, and begins to give all of them up.
static void begin_a_long_reset(struct gear *t)
{
    for (uint64_t i = 1; i <= MANY_FUNCTIONS; i++) {
        gear_says(t->b, REQ(CAN_DO, gear_handle(i)), NOTHING);
    }
    submit(t->a, gear_handle(7), "x");
    gear_grabs(t->b, gear_handle(7), "x");
    peer_send(t->b, MANY(REQ(RESET_ABILITIES), REQ(ECHO_REQ, "done")));
    rig_feed(t->rig);
    gear_hears(t->b, NOTHING);
}

static void many_functions_are_given_up_in_slices(void **state)
{
    struct gear *t = *state;

    begin_a_long_reset(t);
    peer_send(t->c, REQ(ECHO_REQ, "x"));
    rig_feed(t->rig);
    gear_hears(t->c, RES(ECHO_RES, "x"));
    gear_hears(t->b, NOTHING);
    rig_run(t->rig);
    gear_hears(t->b, RES(ECHO_RES, "done"));
    submit(t->a, gear_handle(9), "y");
    gear_says(t->b, REQ(GRAB_JOB), RES(NO_JOB));
    gear_says(t->b, REQ(WORK_COMPLETE, H(1), "done"), NOTHING);
    gear_hears(t->a, RES(WORK_COMPLETE, H(1), "done"));
}

static void a_worker_may_disconnect_while_it_gives_functions_up(void **state)
{
    struct gear *t = *state;

    begin_a_long_reset(t);
    peer_free(t->b);
    jobs_are(t, gear_handle(7), JOB_READY, 1);
    gear_says(t->c, REQ(CAN_DO, gear_handle(7)), NOTHING);
    gear_grabs(t->c, gear_handle(7), "x");
}

#define UNCHECKED(test) cmocka_unit_test_setup_teardown(test, unchecked, gear_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        GEAR(a_worker_finishes_the_jobs_of_a_function_that_it_gives_up),
        GEAR(a_reset_leaves_the_worker_its_jobs),
        GEAR(the_last_attempt_is_not_spent_by_giving_the_function_up),
        GEAR(a_worker_that_leaves_gives_back_jobs_of_functions_given_up),
        GEAR(the_time_out_of_a_function_given_up_continues),
        GEAR(a_repeated_can_do_gives_nothing_back),
        UNCHECKED(many_functions_are_given_up_in_slices),
        UNCHECKED(a_worker_may_disconnect_while_it_gives_functions_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
