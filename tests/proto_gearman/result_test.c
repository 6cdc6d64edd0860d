/* SPDX-License-Identifier: MIT */

// The reports of workers, and the clients that receive them.

#include "tests/proto_gearman/wire_gear.h"

#include <string.h>

#define NO_SUCH_DATA RES(ERROR, "JOB_NOT_FOUND", "Job does not exist on server")
#define NO_SUCH_RESULT RES(ERROR, "JOB_NOT_FOUND", "Job given in work result not found")
#define NO_SUCH_EXCEPTION                                                                          \
    RES(ERROR, "JOB_NOT_FOUND", "An exception was received for a job that does not exist")

// A client submits job 1, and a worker takes it.
static void begin(struct peer *client, struct peer *worker)
{
    assert_int_equal(gear_submits(client, REQ(SUBMIT_JOB, "f", "", "x")), 1);
    gear_says(worker, REQ(CAN_DO, "f"), NOTHING);
    gear_grabs(worker, "f", "x");
}

static void a_result_ends_the_job(void **state)
{
    struct gear *t = *state;

    begin(t->a, t->b);
    gear_says(t->b, REQ(WORK_COMPLETE, H(1), "result"), NOTHING);
    gear_hears(t->a, RES(WORK_COMPLETE, H(1), "result"));
    job_is_gone(t, 1);
    gear_says(t->b, REQ(WORK_COMPLETE, H(1), "again"), NO_SUCH_RESULT);
    gear_hears(t->a, NOTHING);
}

static void a_result_may_be_empty_or_hold_any_byte(void **state)
{
    struct gear *t = *state;
    struct slice binary = SLICE(GEAR_PREFIX "2\0a\0b\0\xff");

    begin(t->a, t->b);
    gear_says(t->b, REQ(WORK_COMPLETE, H(1), ""), NOTHING);
    gear_hears(t->a, RES(WORK_COMPLETE, H(1), ""));
    gear_submits(t->a, REQ(SUBMIT_JOB, "f", "", "x"));
    gear_grabs(t->b, "f", "x");
    gear_says(t->b, gear_raw("REQ", 13, (uint32_t)binary.len, binary), NOTHING);
    gear_hears(t->a, gear_raw("RES", 13, (uint32_t)binary.len, binary));
}

static void a_failure_ends_the_job(void **state)
{
    struct gear *t = *state;

    begin(t->a, t->b);
    gear_says(t->b, REQ(WORK_FAIL, H(1)), NOTHING);
    gear_hears(t->a, RES(WORK_FAIL, H(1)));
    job_is_gone(t, 1);
    gear_says(t->b, REQ(WORK_FAIL, H(1)), NO_SUCH_RESULT);
}

static void parts_and_warnings_are_passed_on(void **state)
{
    struct gear *t = *state;
    struct slice binary = SLICE(GEAR_PREFIX "1\0a\0b");

    begin(t->a, t->b);
    gear_says(t->b, REQ(WORK_DATA, H(1), "part"), NOTHING);
    gear_hears(t->a, RES(WORK_DATA, H(1), "part"));
    gear_says(t->b, REQ(WORK_WARNING, H(1), "careful"), NOTHING);
    gear_hears(t->a, RES(WORK_WARNING, H(1), "careful"));
    gear_says(t->b,
              MANY(REQ(WORK_DATA, H(1), ""), gear_raw("REQ", 28, (uint32_t)binary.len, binary)),
              NOTHING);
    gear_hears(t->a,
               MANY(RES(WORK_DATA, H(1), ""), gear_raw("RES", 28, (uint32_t)binary.len, binary)));
    assert_int_equal(gear_job(t, 1).state, JOB_RESERVED);
}

static void parts_of_any_size_are_passed_on(void **state)
{
    static const size_t sizes[] = {1, 1000, 1023, 1024, 1025, 3990, 4000, 4001, 16384, 100000};
    struct gear *t = *state;

    begin(t->a, t->b);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const char *part = gear_run('p', sizes[i]);

        gear_says(t->b, REQ(WORK_DATA, H(1), part), NOTHING);
        gear_hears(t->a, RES(WORK_DATA, H(1), part));
    }
}

static void a_status_is_passed_on_as_it_was_sent(void **state)
{
    static const char *const numbers[][2] = {
        {"1", "2"}, {"007", "100%"}, {"", ""}, {"-1", "x"}, {"99999999999999999999999", "1.5"}};
    struct gear *t = *state;

    begin(t->a, t->b);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        gear_says(t->b, REQ(WORK_STATUS, H(1), numbers[i][0], numbers[i][1]), NOTHING);
        gear_hears(t->a, RES(WORK_STATUS, H(1), numbers[i][0], numbers[i][1]));
    }
}

static void reports_keep_their_order(void **state)
{
    struct gear *t = *state;

    begin(t->a, t->b);
    gear_says(t->b,
              MANY(REQ(WORK_DATA, H(1), "1"), REQ(WORK_STATUS, H(1), "1", "3"),
                   REQ(WORK_WARNING, H(1), "2"), REQ(WORK_DATA, H(1), "3"),
                   REQ(WORK_STATUS, H(1), "3", "3"), REQ(WORK_COMPLETE, H(1), "4")),
              NOTHING);
    gear_hears(t->a, MANY(RES(WORK_DATA, H(1), "1"), RES(WORK_STATUS, H(1), "1", "3"),
                          RES(WORK_WARNING, H(1), "2"), RES(WORK_DATA, H(1), "3"),
                          RES(WORK_STATUS, H(1), "3", "3"), RES(WORK_COMPLETE, H(1), "4")));
}

static void reports_of_a_background_job_go_to_no_client(void **state)
{
    struct gear *t = *state;

    gear_submits(t->a, REQ(SUBMIT_JOB_BG, "f", "", "x"));
    gear_says(t->b, REQ(CAN_DO, "f"), NOTHING);
    gear_grabs(t->b, "f", "x");
    gear_says(t->b,
              MANY(REQ(WORK_DATA, H(1), "1"), REQ(WORK_STATUS, H(1), "1", "3"),
                   REQ(WORK_WARNING, H(1), "2"), REQ(WORK_COMPLETE, H(1), "3")),
              NOTHING);
    gear_hears(t->a, NOTHING);
    job_is_gone(t, 1);
}

static void a_report_about_an_unknown_job_is_refused(void **state)
{
    struct gear *t = *state;

    gear_says(t->a, REQ(WORK_DATA, H(1), "x"), NO_SUCH_DATA);
    gear_says(t->a, REQ(WORK_WARNING, H(1), "x"), NO_SUCH_DATA);
    gear_says(t->a, REQ(WORK_STATUS, H(1), "1", "2"), NO_SUCH_RESULT);
    gear_says(t->a, REQ(WORK_COMPLETE, H(1), "x"), NO_SUCH_RESULT);
    gear_says(t->a, REQ(WORK_FAIL, H(1)), NO_SUCH_RESULT);
    gear_says(t->a, REQ(WORK_FAIL), NO_SUCH_RESULT);
    gear_says(t->a, REQ(WORK_EXCEPTION, H(1), "x"), NO_SUCH_EXCEPTION);
}

static void only_the_worker_that_holds_a_job_reports_about_it(void **state)
{
    struct gear *t = *state;

    begin(t->a, t->b);
    gear_says(t->c, REQ(WORK_DATA, H(1), "x"), NO_SUCH_DATA);
    gear_says(t->c, REQ(WORK_WARNING, H(1), "x"), NO_SUCH_DATA);
    gear_says(t->c, REQ(WORK_STATUS, H(1), "1", "2"), NO_SUCH_RESULT);
    gear_says(t->c, REQ(WORK_COMPLETE, H(1), "x"), NO_SUCH_RESULT);
    gear_says(t->c, REQ(WORK_FAIL, H(1)), NO_SUCH_RESULT);
    gear_says(t->c, REQ(WORK_EXCEPTION, H(1), "x"), NO_SUCH_EXCEPTION);
    gear_says(t->a, REQ(WORK_COMPLETE, H(1), "x"), NO_SUCH_RESULT);
    assert_int_equal(gear_job(t, 1).state, JOB_RESERVED);
}

static void a_job_that_no_worker_holds_cannot_be_completed(void **state)
{
    struct gear *t = *state;

    gear_submits(t->a, REQ(SUBMIT_JOB, "f", "", "x"));
    gear_says(t->b, REQ(CAN_DO, "f"), NOTHING);
    gear_says(t->b, REQ(WORK_COMPLETE, H(1), "x"), NO_SUCH_RESULT);
    gear_says(t->b, REQ(WORK_FAIL, H(1)), NO_SUCH_RESULT);
    jobs_are(t, "f", JOB_READY, 1);
}

//
// Exceptions
//

static void an_exception_is_a_failure_to_clients_that_did_not_ask(void **state)
{
    struct gear *t = *state;

    begin(t->a, t->b);
    gear_says(t->b, REQ(WORK_EXCEPTION, H(1), "bang"), NOTHING);
    gear_hears(t->a, RES(WORK_FAIL, H(1)));
    job_is_gone(t, 1);
}

static void an_exception_is_sent_to_clients_that_asked(void **state)
{
    struct gear *t = *state;

    gear_says(t->a, REQ(OPTION_REQ, "exceptions"), RES(OPTION_RES, "exceptions"));
    gear_submits(t->a, REQ(SUBMIT_JOB, "f", "u", "x"));
    gear_submits(t->c, REQ(SUBMIT_JOB, "f", "u", "x"));
    gear_says(t->b, REQ(CAN_DO, "f"), NOTHING);
    gear_grabs(t->b, "f", "x");
    gear_says(t->b, REQ(WORK_EXCEPTION, H(1), "bang"), NOTHING);
    gear_hears(t->a, RES(WORK_EXCEPTION, H(1), "bang"));
    gear_hears(t->c, RES(WORK_FAIL, H(1)));
}

static void an_exception_may_be_sent_to_all_clients(void **state)
{
    struct gear *t = *state;

    t->settings.exceptions = true;
    begin(t->a, t->b);
    gear_says(t->b, REQ(WORK_EXCEPTION, H(1), ""), NOTHING);
    gear_hears(t->a, RES(WORK_EXCEPTION, H(1), ""));
}

static void a_failure_after_an_exception_is_ignored(void **state)
{
    struct gear *t = *state;

    begin(t->a, t->b);
    gear_says(t->b, MANY(REQ(WORK_EXCEPTION, H(1), "bang"), REQ(WORK_FAIL, H(1))), NOTHING);
    gear_hears(t->a, RES(WORK_FAIL, H(1)));
    gear_says(t->b, REQ(WORK_FAIL, H(1)), NO_SUCH_RESULT);
}

static void an_exception_excuses_no_other_report(void **state)
{
    struct gear *t = *state;

    begin(t->a, t->b);
    gear_says(t->b, REQ(WORK_EXCEPTION, H(1), "bang"), NOTHING);
    gear_hears(t->a, RES(WORK_FAIL, H(1)));
    gear_says(t->c, REQ(WORK_FAIL, H(1)), NO_SUCH_RESULT);
    gear_says(t->b, REQ(WORK_FAIL, H(2)), NO_SUCH_RESULT);
    gear_says(t->b, REQ(WORK_COMPLETE, H(1), "x"), NO_SUCH_RESULT);
    gear_says(t->b, REQ(WORK_EXCEPTION, H(1), "x"), NO_SUCH_EXCEPTION);
    gear_says(t->b, REQ(WORK_FAIL, H(1)), NOTHING);
}

static void a_failure_of_the_next_job_is_not_taken_for_that_of_the_exception(void **state)
{
    struct gear *t = *state;

    begin(t->a, t->b);
    gear_says(t->b, REQ(WORK_EXCEPTION, H(1), "bang"), NOTHING);
    gear_hears(t->a, RES(WORK_FAIL, H(1)));
    gear_submits(t->a, REQ(SUBMIT_JOB, "f", "", "y"));
    gear_grabs(t->b, "f", "y");
    gear_says(t->b, REQ(WORK_FAIL, H(2)), NOTHING);
    gear_hears(t->a, RES(WORK_FAIL, H(2)));
}

//
// Jobs that an operator takes away
//

static void act(struct gear *t, enum act_kind kind, uint64_t id)
{
    const struct job_act act = {.kind = kind};

    assert_int_equal(broker_act(rig_broker(t->rig), NULL, id, &act), STATUS_OK);
    rig_run(t->rig);
}

static void reports_about_a_job_that_was_taken_away_are_ignored(void **state)
{
    static const enum act_kind kinds[] = {ACT_DELETE, ACT_BURY, ACT_RELEASE};
    const struct slice last[] = {REQ(WORK_COMPLETE, H(1), "x"), REQ(WORK_FAIL, H(2)),
                                 REQ(WORK_EXCEPTION, H(3), "x")};
    struct gear *t = *state;

    gear_says(t->b, REQ(CAN_DO, "f"), NOTHING);
    for (uint64_t id = 1; id <= 3; id++) {
        gear_submits(t->a, REQ(SUBMIT_JOB_BG, "f", "", "x"));
        gear_grabs(t->b, "f", "x");
        act(t, kinds[id - 1], id);
        gear_says(
            t->b,
            MANY(REQ(WORK_STATUS, gear_handle(id), "1", "2"), REQ(WORK_DATA, gear_handle(id), "x"),
                 REQ(WORK_WARNING, gear_handle(id), "x"), last[id - 1], REQ(ECHO_REQ, "alive")),
            RES(ECHO_RES, "alive"));
        gear_says(t->b, REQ(WORK_COMPLETE, gear_handle(id), "again"), NO_SUCH_RESULT);
        gear_says(t->c, REQ(WORK_COMPLETE, gear_handle(id), "x"), NO_SUCH_RESULT);
    }
    jobs_are(t, "f", JOB_READY, 1);
    jobs_are(t, "f", JOB_BURIED, 1);
}

static void a_job_that_was_taken_away_may_be_taken_and_done_again(void **state)
{
    struct gear *t = *state;

    begin(t->a, t->b);
    act(t, ACT_RELEASE, 1);
    gear_grabs(t->b, "f", "x");
    gear_says(t->b, REQ(WORK_COMPLETE, H(1), "done"), NOTHING);
    gear_hears(t->a, RES(WORK_COMPLETE, H(1), "done"));
}

static void the_last_of_many_jobs_that_were_taken_away_are_remembered(void **state)
{
    enum { JOBS = 1500, REMEMBERED = 1024 };
    struct gear *t = *state;

    gear_says(t->b, REQ(CAN_DO, "f"), NOTHING);
    for (uint64_t id = 1; id <= JOBS; id++) {
        peer_ask(t->a, REQ(SUBMIT_JOB_BG, "f", "", "x"));
        peer_ask(t->b, REQ(GRAB_JOB));
        act(t, ACT_DELETE, id);
    }
    gear_says(t->b, REQ(WORK_COMPLETE, H(1), "x"), NO_SUCH_RESULT);
    for (uint64_t id = JOBS - REMEMBERED + 1; id <= JOBS; id++) {
        gear_says(t->b, REQ(WORK_COMPLETE, gear_handle(id), "x"), NOTHING);
    }
    gear_says(t->b, REQ(WORK_COMPLETE, H(1500), "x"), NO_SUCH_RESULT);
}

static void a_report_about_a_job_that_timed_out_is_refused(void **state)
{
    struct gear *t = *state;

    gear_submits(t->a, REQ(SUBMIT_JOB, "f", "", "x"));
    gear_says(t->b, REQ(CAN_DO_TIMEOUT, "f", "1000"), NOTHING);
    gear_grabs(t->b, "f", "x");
    rig_advance(t->rig, SECONDS(2));
    rig_run(t->rig);
    gear_says(t->b, REQ(WORK_COMPLETE, H(1), "late"), NO_SUCH_RESULT);
}

static void the_reply_to_a_submission_comes_before_reports(void **state)
{
    struct gear *t = *state;

    gear_says(t->a, REQ(CAN_DO, "f"), NOTHING);
    peer_send(t->a, MANY(REQ(SUBMIT_JOB, "f", "", "x"), REQ(GRAB_JOB), REQ(WORK_DATA, H(1), "d"),
                         REQ(ECHO_REQ, "e"), REQ(WORK_COMPLETE, H(1), "r")));
    rig_run(t->rig);
    gear_hears(t->a,
               MANY(RES(JOB_CREATED, H(1)), RES(JOB_ASSIGN, H(1), "f", "x"), RES(ECHO_RES, "e"),
                    RES(WORK_DATA, H(1), "d"), RES(WORK_COMPLETE, H(1), "r")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        GEAR(a_result_ends_the_job),
        GEAR(a_result_may_be_empty_or_hold_any_byte),
        GEAR(a_failure_ends_the_job),
        GEAR(parts_and_warnings_are_passed_on),
        GEAR(parts_of_any_size_are_passed_on),
        GEAR(a_status_is_passed_on_as_it_was_sent),
        GEAR(reports_keep_their_order),
        GEAR(reports_of_a_background_job_go_to_no_client),
        GEAR(a_report_about_an_unknown_job_is_refused),
        GEAR(only_the_worker_that_holds_a_job_reports_about_it),
        GEAR(a_job_that_no_worker_holds_cannot_be_completed),
        GEAR(an_exception_is_a_failure_to_clients_that_did_not_ask),
        GEAR(an_exception_is_sent_to_clients_that_asked),
        GEAR(an_exception_may_be_sent_to_all_clients),
        GEAR(a_failure_after_an_exception_is_ignored),
        GEAR(an_exception_excuses_no_other_report),
        GEAR(a_failure_of_the_next_job_is_not_taken_for_that_of_the_exception),
        GEAR(reports_about_a_job_that_was_taken_away_are_ignored),
        GEAR(a_job_that_was_taken_away_may_be_taken_and_done_again),
        GEAR(the_last_of_many_jobs_that_were_taken_away_are_remembered),
        GEAR(a_report_about_a_job_that_timed_out_is_refused),
        GEAR(the_reply_to_a_submission_comes_before_reports),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
