/* SPDX-License-Identifier: MIT */

// Functions given up while jobs are held under them: these go back, few at once or many in slices.

#include "tests/proto_gearman/wire_gear.h"

#define MANY_JOBS 3000

static void submit(struct peer *client, const char *function, const char *body)
{
    gear_submits(client, REQ(SUBMIT_JOB, function, "", body));
}

static void a_job_held_under_a_function_given_up_goes_back(void **state)
{
    struct gear *t = *state;

    submit(t->a, "f", "1");
    submit(t->a, "f", "2");
    gear_says(t->b, REQ(CAN_DO, "f"), NOTHING);
    gear_grabs(t->b, "f", "1");
    gear_says(t->b, REQ(CANT_DO, "f"), NOTHING);
    jobs_are(t, "f", JOB_READY, 2);
    assert_int_equal(gear_job(t, 1).attempts, 1);
    gear_says(t->b, REQ(WORK_COMPLETE, H(1), "late"),
              RES(ERROR, "JOB_NOT_FOUND", "Job given in work result not found"));
    gear_hears(t->a, NOTHING);
    gear_says(t->c, REQ(CAN_DO, "f"), NOTHING);
    gear_grabs(t->c, "f", "2");
    gear_grabs(t->c, "f", "1");
}

static void jobs_of_other_functions_stay(void **state)
{
    struct gear *t = *state;

    submit(t->a, "f", "x");
    submit(t->a, "g", "x");
    gear_says(t->b, MANY(REQ(CAN_DO, "f"), REQ(CAN_DO, "g")), NOTHING);
    gear_grabs(t->b, "g", "x");
    gear_grabs(t->b, "f", "x");
    gear_says(t->b, REQ(CANT_DO, "f"), NOTHING);
    jobs_are(t, "f", JOB_READY, 1);
    gear_says(t->b, REQ(WORK_COMPLETE, H(2), "done"), NOTHING);
    gear_hears(t->a, RES(WORK_COMPLETE, H(2), "done"));
}

static void take_jobs(struct gear *t, const char *function, int count)
{
    gear_says(t->b, REQ(CAN_DO, function), NOTHING);
    for (int i = 0; i < count; i++) {
        submit(t->a, function, "x");
        gear_grabs(t->b, function, "x");
    }
}

// The slices of the first must leave nothing behind that the next would begin at.
static void a_second_function_given_up_gives_all_its_jobs_back_too(void **state)
{
    struct gear *t = *state;

    take_jobs(t, "a", 200);
    take_jobs(t, "b", 100);
    gear_says(t->b, REQ(CANT_DO, "a"), NOTHING);
    take_jobs(t, "c", 200);
    gear_says(t->b, REQ(CANT_DO, "b"), NOTHING);
    jobs_are(t, "a", JOB_READY, 200);
    jobs_are(t, "b", JOB_READY, 100);
    jobs_are(t, "c", JOB_RESERVED, 200);
}

static void a_reset_gives_everything_back(void **state)
{
    struct gear *t = *state;

    submit(t->a, "f", "x");
    submit(t->a, "g", "x");
    gear_says(t->b, MANY(REQ(CAN_DO, "f"), REQ(CAN_DO_TIMEOUT, "g", "1000")), NOTHING);
    gear_grabs(t->b, "g", "x");
    gear_grabs(t->b, "f", "x");
    gear_says(t->b, REQ(RESET_ABILITIES), NOTHING);
    jobs_are(t, "f", JOB_READY, 1);
    jobs_are(t, "g", JOB_READY, 1);
    assert_int_equal(gear_job(t, 2).attempts, 1);
}

static void giving_back_the_last_attempt_fails_the_job(void **state)
{
    struct gear *t = *state;

    t->settings.job_retries = 1;
    submit(t->a, "f", "x");
    gear_says(t->b, REQ(CAN_DO, "f"), NOTHING);
    gear_grabs(t->b, "f", "x");
    gear_says(t->b, REQ(CANT_DO, "f"), NOTHING);
    gear_hears(t->a, RES(WORK_FAIL, H(1)));
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

// The worker holds very many jobs of both functions.
static void hold_many(struct gear *t)
{
    gear_says(t->b, MANY(REQ(CAN_DO, "f"), REQ(CAN_DO, "g")), NOTHING);
    for (int i = 0; i < MANY_JOBS; i++) {
        peer_ask(t->a, MANY(REQ(SUBMIT_JOB, "f", "", "x"), REQ(SUBMIT_JOB, "g", "", "x")));
        peer_ask(t->b, MANY(REQ(GRAB_JOB), REQ(GRAB_JOB)));
    }
    jobs_are(t, "f", JOB_RESERVED, MANY_JOBS);
    jobs_are(t, "g", JOB_RESERVED, MANY_JOBS);
}

static int unchecked(void **state)
{
    return gear_setup_with(state, (struct rig_options){.unchecked = true}, GEAR_DEFAULTS);
}

static void very_many_jobs_go_back_before_what_follows(void **state)
{
    struct gear *t = *state;

    hold_many(t);
    gear_says(t->b, MANY(REQ(CANT_DO, "f"), REQ(GRAB_JOB), REQ(ECHO_REQ, "x")),
              MANY(RES(NO_JOB), RES(ECHO_RES, "x")));
    jobs_are(t, "f", JOB_READY, MANY_JOBS);
    jobs_are(t, "g", JOB_RESERVED, MANY_JOBS);
    gear_says(t->b, MANY(REQ(RESET_ABILITIES), REQ(CAN_DO, "g"), REQ(GRAB_JOB)),
              RES(JOB_ASSIGN, H(2), "g", "x"));
    jobs_are(t, "g", JOB_READY, MANY_JOBS - 1);
}

static void others_are_served_between_the_slices(void **state)
{
    struct gear *t = *state;

    hold_many(t);
    peer_send(t->b, REQ(CANT_DO, "f"));
    rig_feed(t->rig);
    assert_in_range(gear_jobs(t, "f", JOB_READY), 1, BROKER_SLICE);
    peer_send(t->c, REQ(ECHO_REQ, "x"));
    rig_feed(t->rig);
    gear_hears(t->c, RES(ECHO_RES, "x"));
    assert_in_range(gear_jobs(t, "f", JOB_READY), 2, 2 * BROKER_SLICE);
    rig_run(t->rig);
    jobs_are(t, "f", JOB_READY, MANY_JOBS);
}

static void a_reset_is_made_in_slices_too(void **state)
{
    struct gear *t = *state;

    hold_many(t);
    peer_send(t->b, REQ(RESET_ABILITIES));
    rig_feed(t->rig);
    assert_in_range(gear_jobs(t, "f", JOB_READY) + gear_jobs(t, "g", JOB_READY), 1,
                    2 * BROKER_SLICE);
    rig_run(t->rig);
    jobs_are(t, "f", JOB_READY, MANY_JOBS);
    jobs_are(t, "g", JOB_READY, MANY_JOBS);
}

static void very_many_functions_are_given_up_in_slices(void **state)
{
    struct gear *t = *state;

    for (uint64_t i = 1; i <= MANY_JOBS; i++) {
        gear_says(t->b, REQ(CAN_DO, gear_handle(i)), NOTHING);
    }
    peer_send(t->b, MANY(REQ(RESET_ABILITIES), REQ(ECHO_REQ, "done")));
    rig_feed(t->rig);
    gear_hears(t->b, NOTHING);
    rig_run(t->rig);
    gear_hears(t->b, RES(ECHO_RES, "done"));
    submit(t->a, gear_handle(7), "x");
    gear_says(t->b, REQ(GRAB_JOB), RES(NO_JOB));
}

static void a_worker_may_leave_in_the_middle(void **state)
{
    struct gear *t = *state;
    struct broker *broker = rig_broker(t->rig);
    struct queue_info info;

    hold_many(t);
    peer_send(t->b, REQ(CANT_DO, "f"));
    rig_feed(t->rig);
    peer_free(t->b);
    jobs_are(t, "f", JOB_READY, MANY_JOBS);
    jobs_are(t, "g", JOB_READY, MANY_JOBS);
    assert_int_equal(gear_job(t, 1).attempts, 1);
    assert_int_equal(gear_job(t, 2).attempts, 1);
    broker_queue_info(broker, broker_queue_find(broker, SLICE("f")), &info);
    assert_int_equal(info.holders, 0);
    assert_int_equal(info.subscriptions, 0);
    gear_says(t->c, MANY(REQ(CAN_DO, "f"), REQ(GRAB_JOB)), RES(JOB_ASSIGN, H(1), "f", "x"));
}

#define UNCHECKED(test) cmocka_unit_test_setup_teardown(test, unchecked, gear_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        GEAR(a_job_held_under_a_function_given_up_goes_back),
        GEAR(jobs_of_other_functions_stay),
        GEAR(a_second_function_given_up_gives_all_its_jobs_back_too),
        GEAR(a_reset_gives_everything_back),
        GEAR(giving_back_the_last_attempt_fails_the_job),
        GEAR(a_repeated_can_do_gives_nothing_back),
        UNCHECKED(very_many_jobs_go_back_before_what_follows),
        UNCHECKED(others_are_served_between_the_slices),
        UNCHECKED(a_reset_is_made_in_slices_too),
        UNCHECKED(very_many_functions_are_given_up_in_slices),
        UNCHECKED(a_worker_may_leave_in_the_middle),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
