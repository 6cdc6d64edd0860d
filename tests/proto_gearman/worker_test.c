/* SPDX-License-Identifier: MIT */

// Workers: the functions that they offer, how they take jobs, and their client ids.

#include "tests/proto_gearman/wire_gear.h"

static void submit(struct peer *client, const char *function)
{
    gear_submits(client, REQ(SUBMIT_JOB_BG, function, "", "x"));
}

static void a_worker_without_functions_gets_no_job(void **state)
{
    struct gear *t = *state;

    submit(t->a, "f");
    gear_says(t->b, REQ(GRAB_JOB), RES(NO_JOB));
    gear_says(t->b, REQ(GRAB_JOB_UNIQ), RES(NO_JOB));
    gear_says(t->b, REQ(GRAB_JOB_ALL), RES(NO_JOB));
}

static void a_worker_gets_jobs_of_its_functions_only(void **state)
{
    struct gear *t = *state;

    submit(t->a, "f");
    gear_says(t->b, MANY(REQ(CAN_DO, "g"), REQ(GRAB_JOB)), RES(NO_JOB));
    gear_says(t->b, MANY(REQ(CAN_DO, "F"), REQ(GRAB_JOB)), RES(NO_JOB));
    gear_says(t->b, MANY(REQ(CAN_DO, "f"), REQ(GRAB_JOB)), RES(JOB_ASSIGN, H(1), "f", "x"));
    gear_says(t->b, REQ(GRAB_JOB), RES(NO_JOB));
}

static void each_way_of_grabbing_has_its_own_reply(void **state)
{
    struct gear *t = *state;

    for (uint64_t id = 1; id <= 3; id++) {
        gear_says(t->a, REQ(SUBMIT_JOB_BG, "f", gear_handle(id), "x"),
                  RES(JOB_CREATED, gear_handle(id)));
    }
    gear_says(t->b, REQ(CAN_DO, "f"), NOTHING);
    gear_says(t->b, REQ(GRAB_JOB), RES(JOB_ASSIGN, H(1), "f", "x"));
    gear_says(t->b, REQ(GRAB_JOB_UNIQ), RES(JOB_ASSIGN_UNIQ, H(2), "f", H(2), "x"));
    gear_says(t->b, REQ(GRAB_JOB_ALL), RES(JOB_ASSIGN_UNIQ, H(3), "f", H(3), "x"));
}

static void a_job_without_a_unique_has_an_empty_one(void **state)
{
    struct gear *t = *state;

    submit(t->a, "f");
    gear_says(t->b, MANY(REQ(CAN_DO, "f"), REQ(GRAB_JOB_UNIQ)),
              RES(JOB_ASSIGN_UNIQ, H(1), "f", "", "x"));
}

static void a_worker_may_hold_several_jobs(void **state)
{
    struct gear *t = *state;

    for (uint64_t id = 1; id <= 3; id++) {
        gear_says(t->a, REQ(SUBMIT_JOB, "f", "", "x"), RES(JOB_CREATED, gear_handle(id)));
    }
    gear_says(t->b, MANY(REQ(CAN_DO, "f"), REQ(GRAB_JOB), REQ(GRAB_JOB), REQ(GRAB_JOB)),
              MANY(RES(JOB_ASSIGN, H(1), "f", "x"), RES(JOB_ASSIGN, H(2), "f", "x"),
                   RES(JOB_ASSIGN, H(3), "f", "x")));
    gear_says(t->b,
              MANY(REQ(WORK_COMPLETE, H(2), "2"), REQ(WORK_COMPLETE, H(3), "3"),
                   REQ(WORK_COMPLETE, H(1), "1")),
              NOTHING);
    gear_hears(t->a, MANY(RES(WORK_COMPLETE, H(2), "2"), RES(WORK_COMPLETE, H(3), "3"),
                          RES(WORK_COMPLETE, H(1), "1")));
}

static void a_function_that_is_given_up_yields_no_more_jobs(void **state)
{
    struct gear *t = *state;

    submit(t->a, "f");
    submit(t->a, "g");
    gear_says(t->b, MANY(REQ(CAN_DO, "f"), REQ(CAN_DO, "g"), REQ(CANT_DO, "f"), REQ(GRAB_JOB)),
              RES(JOB_ASSIGN, H(2), "g", "x"));
    gear_says(t->b, REQ(GRAB_JOB), RES(NO_JOB));
    gear_says(t->b, MANY(REQ(CANT_DO, "f"), REQ(CANT_DO, "unheard of"), REQ(CANT_DO, "")), NOTHING);
    gear_says(t->b, MANY(REQ(CAN_DO, "f"), REQ(GRAB_JOB)), RES(JOB_ASSIGN, H(1), "f", "x"));
}

static void a_reset_gives_up_every_function(void **state)
{
    struct gear *t = *state;

    submit(t->a, "f");
    submit(t->a, "g");
    gear_says(
        t->b,
        MANY(REQ(CAN_DO, "f"), REQ(CAN_DO_TIMEOUT, "g", "9"), REQ(RESET_ABILITIES), REQ(GRAB_JOB)),
        RES(NO_JOB));
    gear_says(t->b, MANY(REQ(RESET_ABILITIES), REQ(CAN_DO, "g"), REQ(GRAB_JOB)),
              RES(JOB_ASSIGN, H(2), "g", "x"));
}

static void a_repeated_can_do_replaces_the_first(void **state)
{
    struct gear *t = *state;
    struct queue_info info;

    gear_says(t->b, MANY(REQ(CAN_DO, "f"), REQ(CAN_DO, "f"), REQ(CAN_DO_TIMEOUT, "f", "9")),
              NOTHING);
    broker_queue_info(rig_broker(t->rig), broker_queue_find(rig_broker(t->rig), SLICE("f")), &info);
    assert_int_equal(info.subscriptions, 1);
    submit(t->a, "f");
    gear_says(t->b, MANY(REQ(CANT_DO, "f"), REQ(GRAB_JOB)), RES(NO_JOB));
}

static void all_yours_and_names_are_not_answered(void **state)
{
    struct gear *t = *state;

    gear_says(t->a, REQ(ALL_YOURS), NOTHING);
    gear_says(t->a, REQ(SET_CLIENT_ID, "me"), NOTHING);
    gear_says(t->a, REQ(SET_CLIENT_ID, "with spaces\nand more"), NOTHING);
    gear_says(t->a, REQ(SET_CLIENT_ID, ""), NOTHING);
    gear_says(t->a, REQ(SET_CLIENT_ID), NOTHING);
    gear_says(t->a, REQ(SET_CLIENT_ID, gear_run('n', 5000)), NOTHING);
    gear_says(t->a, REQ(ECHO_REQ, "still there"), RES(ECHO_RES, "still there"));
}

static void all_yours_offers_no_function(void **state)
{
    struct gear *t = *state;

    submit(t->a, "f");
    gear_says(t->b, MANY(REQ(ALL_YOURS), REQ(GRAB_JOB)), RES(NO_JOB));
}

static void the_option_exceptions_is_confirmed_as_it_was_sent(void **state)
{
    struct gear *t = *state;

    gear_says(t->a, REQ(OPTION_REQ, "exceptions"), RES(OPTION_RES, "exceptions"));
    gear_says(t->a, REQ(OPTION_REQ, "ExceptionS"), RES(OPTION_RES, "ExceptionS"));
}

static void any_other_option_is_unknown(void **state)
{
    static const char *const options[] = {"", "exception", "exceptions ", "exceptionss", "speed"};
    struct gear *t = *state;

    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        gear_says(t->a, REQ(OPTION_REQ, options[i]),
                  RES(ERROR, "UNKNOWN_OPTION", "Server does not recognize given option"));
    }
}

static void a_connection_may_be_client_and_worker_in_one(void **state)
{
    struct gear *t = *state;

    gear_says(t->a, REQ(SUBMIT_JOB, "f", "", "x"), RES(JOB_CREATED, H(1)));
    gear_says(t->a, MANY(REQ(CAN_DO, "f"), REQ(GRAB_JOB)), RES(JOB_ASSIGN, H(1), "f", "x"));
    gear_says(t->a, MANY(REQ(WORK_DATA, H(1), "d"), REQ(WORK_COMPLETE, H(1), "r")),
              MANY(RES(WORK_DATA, H(1), "d"), RES(WORK_COMPLETE, H(1), "r")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        GEAR(a_worker_without_functions_gets_no_job),
        GEAR(a_worker_gets_jobs_of_its_functions_only),
        GEAR(each_way_of_grabbing_has_its_own_reply),
        GEAR(a_job_without_a_unique_has_an_empty_one),
        GEAR(a_worker_may_hold_several_jobs),
        GEAR(a_function_that_is_given_up_yields_no_more_jobs),
        GEAR(a_reset_gives_up_every_function),
        GEAR(a_repeated_can_do_replaces_the_first),
        GEAR(all_yours_and_names_are_not_answered),
        GEAR(all_yours_offers_no_function),
        GEAR(the_option_exceptions_is_confirmed_as_it_was_sent),
        GEAR(any_other_option_is_unknown),
        GEAR(a_connection_may_be_client_and_worker_in_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
