/* SPDX-License-Identifier: MIT */

// Jobs that a beanstalk client puts and Gearman workers do.

#include "tests/proto_beanstalk/wire_bean.h"
#include "tests/proto_gearman/wire_gear.h"

#define NO_SUCH_RESULT RES(ERROR, "JOB_NOT_FOUND", "Job given in work result not found")

// `m` puts job 1 with a time to run of 10 seconds, and the worker `a` takes it.
static void begin(struct gear *t)
{
    says(t->m, "use f\r\nput 100 0 10 1\r\nx\r\n", "USING f\r\nINSERTED 1\r\n");
    gear_says(t->a, REQ(CAN_DO, "f"), NOTHING);
    assert_int_equal(gear_grabs(t->a, "f", "x"), 1);
}

static void a_worker_gets_the_body(void **state)
{
    struct gear *t = *state;

    gear_says(t->a, MANY(REQ(CAN_DO, "f"), REQ(PRE_SLEEP)), NOTHING);
    says(t->m, "use f\r\nput 0 0 10 7\r\na\0b\r\nc!\r\nput 0 0 1 0\r\n\r\n",
         "USING f\r\nINSERTED 1\r\nINSERTED 2\r\n");
    gear_hears(t->a, RES(NOOP));
    gear_says(t->a, REQ(GRAB_JOB_UNIQ),
              gear_raw("RES", 31, 24, SLICE("H:test.host:1\0f\0\0a\0b\r\nc!")));
    gear_says(t->a, REQ(GRAB_JOB_ALL), RES(JOB_ASSIGN_UNIQ, H(2), "f", "", ""));
}

static void a_result_deletes_the_job(void **state)
{
    struct gear *t = *state;

    begin(t);
    gear_says(t->a, REQ(WORK_COMPLETE, H(1), "nobody reads this"), NOTHING);
    says(t->m, "stats-job 1\r\n", "NOT_FOUND\r\n");
    stat_is(t->m, "stats-tube f\r\n", "current-jobs-reserved", 0);
}

static void a_failure_buries_the_job(void **state)
{
    struct gear *t = *state;

    begin(t);
    gear_says(t->a, REQ(WORK_FAIL, H(1)), NOTHING);
    says(t->m, "peek-buried\r\n", "FOUND 1 1\r\nx\r\n");
    stat_is(t->m, "stats-job 1\r\n", "pri", 100);
    stat_is(t->m, "stats-job 1\r\n", "buries", 1);
    gear_says(t->a, REQ(GRAB_JOB), RES(NO_JOB));
    gear_says(t->a, REQ(PRE_SLEEP), NOTHING);
    says(t->m, "kick 1\r\n", "KICKED 1\r\n");
    gear_hears(t->a, RES(NOOP));
    gear_grabs(t->a, "f", "x");
}

static void an_exception_buries_the_job(void **state)
{
    struct gear *t = *state;

    begin(t);
    gear_says(t->a, REQ(WORK_EXCEPTION, H(1), "bang"), NOTHING);
    says(t->m, "peek-buried\r\n", "FOUND 1 1\r\nx\r\n");
    // Its failure has been reported already.
    gear_says(t->a, REQ(WORK_FAIL, H(1)), NOTHING);
}

static void its_time_to_run_ends_the_lease(void **state)
{
    struct gear *t = *state;

    begin(t);
    stat_is(t->m, "stats-job 1\r\n", "time-left", 10);
    rig_advance(t->rig, SECONDS(10) - 1);
    jobs_are(t, "f", JOB_RESERVED, 1);
    rig_advance(t->rig, 1);
    jobs_are(t, "f", JOB_READY, 1);
    stat_is(t->m, "stats-job 1\r\n", "timeouts", 1);
    gear_hears(t->a, NOTHING);
}

static void every_report_renews_the_lease(void **state)
{
    struct gear *t = *state;
    const struct slice reports[] = {
        REQ(WORK_STATUS, H(1), "1", "2"),
        REQ(WORK_DATA, H(1), "d"),
        REQ(WORK_WARNING, H(1), "w"),
    };

    begin(t);
    for (size_t i = 0; i < 9; i++) {
        rig_advance(t->rig, SECONDS(9));
        gear_says(t->a, reports[i % 3], NOTHING);
        stat_is(t->m, "stats-job 1\r\n", "time-left", 10);
    }
    rig_advance(t->rig, SECONDS(10));
    jobs_are(t, "f", JOB_READY, 1);
}

static void the_last_holder_may_finish_late(void **state)
{
    struct gear *t = *state;

    begin(t);
    rig_advance(t->rig, SECONDS(10));
    gear_says(t->b, REQ(WORK_COMPLETE, H(1), "from a stranger"), NO_SUCH_RESULT);
    gear_says(t->b, REQ(WORK_STATUS, H(1), "1", "2"), NO_SUCH_RESULT);
    gear_says(t->a, MANY(REQ(WORK_STATUS, H(1), "1", "2"), REQ(WORK_DATA, H(1), "part")), NOTHING);
    jobs_are(t, "f", JOB_READY, 1);
    gear_says(t->a, REQ(WORK_FAIL, H(1)), NO_SUCH_RESULT);
    gear_says(t->a, REQ(WORK_COMPLETE, H(1), "late"), NOTHING);
    job_is_gone(t, 1);
}

static void the_last_holder_may_not_finish_after_another_took_the_job(void **state)
{
    struct gear *t = *state;

    begin(t);
    rig_advance(t->rig, SECONDS(10));
    says(t->n, "watch f\r\nreserve\r\n", "WATCHING 2\r\nRESERVED 1 1\r\nx\r\n");
    gear_says(t->a, REQ(WORK_COMPLETE, H(1), "late"), NO_SUCH_RESULT);
    says(t->n, "delete 1\r\n", "DELETED\r\n");
}

static void a_time_out_of_the_worker_ends_the_lease_if_it_is_earlier(void **state)
{
    struct gear *t = *state;

    says(t->m, "use f\r\nput 0 0 10 1\r\nx\r\nput 1 0 2 1\r\ny\r\n",
         "USING f\r\nINSERTED 1\r\nINSERTED 2\r\n");
    gear_says(t->a, REQ(CAN_DO_TIMEOUT, "f", "5000"), NOTHING);
    gear_grabs(t->a, "f", "x");
    gear_grabs(t->a, "f", "y");
    rig_advance(t->rig, SECONDS(2));
    jobs_are(t, "f", JOB_READY, 1);
    rig_advance(t->rig, SECONDS(3));
    jobs_are(t, "f", JOB_READY, 2);
    stat_is(t->m, "stats-job 1\r\n", "timeouts", 1);
    gear_says(t->a, REQ(WORK_COMPLETE, H(1), "after its limit"), NO_SUCH_RESULT);
    gear_says(t->a, REQ(WORK_COMPLETE, H(2), "after its time to run"), NOTHING);
}

static void a_job_that_fails_by_time_out_is_buried(void **state)
{
    struct gear *t = *state;

    t->settings.on_timeout = GEAR_TIMEOUT_FAILS;
    says(t->m, "use f\r\nput 0 0 10 1\r\nx\r\n", "USING f\r\nINSERTED 1\r\n");
    gear_says(t->a, REQ(CAN_DO_TIMEOUT, "f", "5000"), NOTHING);
    gear_grabs(t->a, "f", "x");
    rig_advance(t->rig, SECONDS(5));
    says(t->m, "peek-buried\r\n", "FOUND 1 1\r\nx\r\n");
}

static void a_job_of_a_lost_worker_keeps_its_place(void **state)
{
    struct gear *t = *state;

    t->settings.job_retries = 1;
    begin(t);
    says(t->m, "put 100 0 10 1\r\ny\r\n", "INSERTED 2\r\n");
    peer_free(t->a);
    gear_says(t->b, REQ(CAN_DO, "f"), NOTHING);
    gear_grabs(t->b, "f", "x");
    gear_grabs(t->b, "f", "y");
}

static void a_worker_that_gives_the_function_up_keeps_the_job(void **state)
{
    struct gear *t = *state;

    begin(t);
    gear_says(t->a, REQ(CANT_DO, "f"), NOTHING);
    jobs_are(t, "f", JOB_RESERVED, 1);
    gear_says(t->a, REQ(WORK_COMPLETE, H(1), "done"), NOTHING);
    job_is_gone(t, 1);
}

static void a_delayed_job_wakes_workers_when_it_is_ready(void **state)
{
    struct gear *t = *state;

    gear_says(t->a, MANY(REQ(CAN_DO, "f"), REQ(PRE_SLEEP)), NOTHING);
    says(t->m, "use f\r\nput 0 5 10 1\r\nx\r\n", "USING f\r\nINSERTED 1\r\n");
    gear_says(t->b, REQ(GET_STATUS, H(1)), RES(STATUS_RES, H(1), "1", "0", "0", "0"));
    rig_advance(t->rig, SECONDS(5) - 1);
    gear_hears(t->a, NOTHING);
    rig_advance(t->rig, 1);
    gear_hears(t->a, RES(NOOP));
    gear_grabs(t->a, "f", "x");
    gear_says(t->b, REQ(GET_STATUS, H(1)), RES(STATUS_RES, H(1), "1", "1", "0", "0"));
}

static void a_paused_tube_gives_workers_no_jobs(void **state)
{
    struct gear *t = *state;

    says(t->m, "use f\r\nput 0 0 10 1\r\nx\r\npause-tube f 5\r\n",
         "USING f\r\nINSERTED 1\r\nPAUSED\r\n");
    gear_says(t->a, MANY(REQ(CAN_DO, "f"), REQ(GRAB_JOB), REQ(PRE_SLEEP)), RES(NO_JOB));
    gear_submits(t->b, REQ(SUBMIT_JOB_HIGH, "f", "", "y"));
    gear_hears(t->a, NOTHING);
    rig_advance(t->rig, SECONDS(5));
    gear_hears(t->a, RES(NOOP));
    gear_grabs(t->a, "f", "x");
}

static void a_waiting_reserve_comes_before_sleeping_workers(void **state)
{
    struct gear *t = *state;

    gear_says(t->a, MANY(REQ(CAN_DO, "f"), REQ(PRE_SLEEP)), NOTHING);
    says(t->n, "watch f\r\nreserve\r\n", "WATCHING 2\r\n");
    says(t->m, "use f\r\nput 0 0 10 1\r\nx\r\n", "USING f\r\nINSERTED 1\r\n");
    hears(t->n, "RESERVED 1 1\r\nx\r\n");
    gear_hears(t->a, NOTHING);
    says(t->m, "put 0 0 10 1\r\ny\r\n", "INSERTED 2\r\n");
    gear_hears(t->a, RES(NOOP));
}

static void a_job_that_a_worker_holds_is_reserved_in_beanstalk(void **state)
{
    struct gear *t = *state;

    begin(t);
    says(t->m,
         "delete 1\r\nrelease 1 0 0\r\nbury 1 0\r\ntouch 1\r\nreserve-job 1\r\nkick-job 1\r\n",
         "NOT_FOUND\r\nNOT_FOUND\r\nNOT_FOUND\r\nNOT_FOUND\r\nNOT_FOUND\r\nNOT_FOUND\r\n");
    says(t->m, "peek 1\r\n", "FOUND 1 1\r\nx\r\n");
    says_yaml(t->m, "stats-job 1\r\n",
              "---\nid: 1\ntube: \"f\"\nstate: reserved\npri: 100\nage: 0\ndelay: 0\nttr: 10\n"
              "time-left: 10\nfile: 0\nreserves: 1\ntimeouts: 0\nreleases: 0\nburies: 0\n"
              "kicks: 0\n");
}

static void priorities_are_numbers_to_a_worker(void **state)
{
    struct gear *t = *state;

    gear_submits(t->b, REQ(SUBMIT_JOB_LOW, "f", "", "low"));
    gear_submits(t->b, REQ(SUBMIT_JOB, "f", "", "normal"));
    gear_submits(t->b, REQ(SUBMIT_JOB_HIGH, "f", "", "high"));
    says(t->m,
         "use f\r\nput 511 0 9 1\r\n1\r\nput 1024 0 9 1\r\n2\r\nput 2147483648 0 9 1\r\n3\r\n"
         "put 4294967295 0 9 1\r\n4\r\n",
         "USING f\r\nINSERTED 4\r\nINSERTED 5\r\nINSERTED 6\r\nINSERTED 7\r\n");
    gear_says(t->b, SLICE("prioritystatus\n"), SLICE("default\t0\t0\t0\t2\nf\t2\t2\t3\t0\n.\n"));
    gear_says(t->a, REQ(CAN_DO, "f"), NOTHING);
    gear_grabs(t->a, "f", "1");
    gear_grabs(t->a, "f", "high");
    gear_grabs(t->a, "f", "2");
    gear_grabs(t->a, "f", "normal");
    gear_grabs(t->a, "f", "3");
    gear_grabs(t->a, "f", "low");
    gear_grabs(t->a, "f", "4");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MEETING(a_worker_gets_the_body),
        MEETING(a_result_deletes_the_job),
        MEETING(a_failure_buries_the_job),
        MEETING(an_exception_buries_the_job),
        MEETING(its_time_to_run_ends_the_lease),
        MEETING(every_report_renews_the_lease),
        MEETING(the_last_holder_may_finish_late),
        MEETING(the_last_holder_may_not_finish_after_another_took_the_job),
        MEETING(a_time_out_of_the_worker_ends_the_lease_if_it_is_earlier),
        MEETING(a_job_that_fails_by_time_out_is_buried),
        MEETING(a_job_of_a_lost_worker_keeps_its_place),
        MEETING(a_worker_that_gives_the_function_up_keeps_the_job),
        MEETING(a_delayed_job_wakes_workers_when_it_is_ready),
        MEETING(a_paused_tube_gives_workers_no_jobs),
        MEETING(a_waiting_reserve_comes_before_sleeping_workers),
        MEETING(a_job_that_a_worker_holds_is_reserved_in_beanstalk),
        MEETING(priorities_are_numbers_to_a_worker),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
