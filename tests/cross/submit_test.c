/* SPDX-License-Identifier: MIT */

// Jobs that a Gearman client submits and beanstalk workers do.

#include "tests/proto_beanstalk/wire_bean.h"
#include "tests/proto_gearman/wire_gear.h"

// `a` submits job 1 in the foreground, or `b` in the background, and the worker `m` reserves it.
static void begin(struct gear *t, bool background)
{
    if (background) {
        gear_submits(t->b, REQ(SUBMIT_JOB_BG, "f", "u", "x"));
    } else {
        gear_submits(t->a, REQ(SUBMIT_JOB, "f", "u", "x"));
    }
    says(t->m, "watch f\r\nreserve\r\n", "WATCHING 2\r\nRESERVED 1 1\r\nx\r\n");
}

static void a_worker_that_waits_gets_the_job(void **state)
{
    struct gear *t = *state;

    says(t->m, "watch f\r\nreserve\r\n", "WATCHING 2\r\n");
    gear_submits(t->a, REQ(SUBMIT_JOB, "f", "", "x"));
    hears(t->m, "RESERVED 1 1\r\nx\r\n");
    gear_says(t->a, REQ(GET_STATUS, H(1)), RES(STATUS_RES, H(1), "1", "1", "0", "0"));
}

static void a_delete_completes_the_job_with_an_empty_result(void **state)
{
    struct gear *t = *state;

    begin(t, false);
    gear_submits(t->b, REQ(SUBMIT_JOB, "f", "u", "x"));
    says(t->m, "delete 1\r\n", "DELETED\r\n");
    gear_hears(t->a, RES(WORK_COMPLETE, H(1), ""));
    gear_hears(t->b, RES(WORK_COMPLETE, H(1), ""));
    job_is_gone(t, 1);
}

static void a_delete_of_a_durable_job_waits_for_its_record(void **state)
{
    struct gear *t = *state;

    begin(t, true);
    gear_submits(t->a, REQ(SUBMIT_JOB, "f", "u", "x"));
    rig_hold_store(t->rig);
    says(t->m, "delete 1\r\n", "");
    gear_hears(t->a, NOTHING);
    rig_reach(t->rig);
    hears(t->m, "DELETED\r\n");
    gear_hears(t->a, RES(WORK_COMPLETE, H(1), ""));
}

static void a_foreground_job_is_deleted_at_once(void **state)
{
    struct gear *t = *state;

    begin(t, false);
    rig_hold_store(t->rig);
    says(t->n, "put 0 0 9 0\r\n\r\n", "");
    says(t->m, "delete 1\r\n", "DELETED\r\n");
    gear_hears(t->a, RES(WORK_COMPLETE, H(1), ""));
}

static void a_delete_ends_a_background_job(void **state)
{
    struct gear *t = *state;

    begin(t, true);
    says(t->m, "delete 1\r\n", "DELETED\r\n");
    job_is_gone(t, 1);
    gear_hears(t->b, NOTHING);
    assert_int_equal(gear_submits(t->b, REQ(SUBMIT_JOB_BG, "f", "u", "x")), 2);
}

static void a_bury_fails_a_foreground_job(void **state)
{
    struct gear *t = *state;

    begin(t, false);
    says(t->m, "bury 1 0\r\n", "BURIED\r\n");
    gear_hears(t->a, RES(WORK_FAIL, H(1)));
    job_is_gone(t, 1);
}

static void a_bury_keeps_a_background_job_and_gives_up_its_unique(void **state)
{
    struct gear *t = *state;

    begin(t, true);
    gear_submits(t->a, REQ(SUBMIT_JOB, "f", "u", "x"));
    says(t->m, "bury 1 77\r\n", "BURIED\r\n");
    gear_hears(t->a, RES(WORK_FAIL, H(1)));
    stat_is(t->m, "stats-job 1\r\n", "pri", 77);
    jobs_are(t, "f", JOB_BURIED, 1);
    assert_int_equal(gear_submits(t->a, REQ(SUBMIT_JOB, "f", "u", "y")), 2);
    says(t->m, "kick-job 1\r\n", "KICKED\r\n");
    assert_int_equal(gear_submits(t->a, REQ(SUBMIT_JOB, "f", "u", "z")), 2);
}

static void a_kick_takes_the_unique_back_if_it_is_free(void **state)
{
    struct gear *t = *state;

    begin(t, true);
    says(t->m, "bury 1 0\r\n", "BURIED\r\n");
    says(t->m, "kick-job 1\r\n", "KICKED\r\n");
    assert_int_equal(gear_submits(t->a, REQ(SUBMIT_JOB, "f", "u", "y")), 1);
    gear_says(t->b, REQ(CAN_DO, "f"), NOTHING);
    gear_says(t->b, REQ(GRAB_JOB_UNIQ), RES(JOB_ASSIGN_UNIQ, H(1), "f", "u", "x"));
    gear_says(t->b, REQ(WORK_COMPLETE, H(1), "r"), NOTHING);
    gear_hears(t->a, RES(WORK_COMPLETE, H(1), "r"));
}

static void a_reserve_by_id_takes_the_unique_back_too(void **state)
{
    struct gear *t = *state;

    begin(t, true);
    says(t->m, "bury 1 0\r\nreserve-job 1\r\n", "BURIED\r\nRESERVED 1 1\r\nx\r\n");
    assert_int_equal(gear_submits(t->a, REQ(SUBMIT_JOB, "f", "u", "y")), 1);
    says(t->m, "delete 1\r\n", "DELETED\r\n");
    gear_hears(t->a, RES(WORK_COMPLETE, H(1), ""));
}

static void a_release_may_delay_a_foreground_job(void **state)
{
    struct gear *t = *state;

    begin(t, false);
    says(t->m, "release 1 300 5\r\n", "RELEASED\r\n");
    gear_hears(t->a, NOTHING);
    jobs_are(t, "f", JOB_DELAYED, 1);
    stat_is(t->m, "stats-job 1\r\n", "pri", 300);
    assert_int_equal(gear_job(t, 1).attempts, 0);
    gear_says(t->b, MANY(REQ(CAN_DO, "f"), REQ(PRE_SLEEP)), NOTHING);
    rig_advance(t->rig, SECONDS(5));
    gear_hears(t->b, RES(NOOP));
    gear_says(t->c, SLICE("prioritystatus\n"), SLICE("default\t0\t0\t0\t2\nf\t1\t0\t0\t2\n.\n"));
    gear_grabs(t->b, "f", "x");
    gear_says(t->b, REQ(WORK_COMPLETE, H(1), "r"), NOTHING);
    gear_hears(t->a, RES(WORK_COMPLETE, H(1), "r"));
}

static void a_released_job_ends_with_its_last_client(void **state)
{
    struct gear *t = *state;

    begin(t, false);
    says(t->m, "release 1 0 5\r\n", "RELEASED\r\n");
    peer_free(t->a);
    job_is_gone(t, 1);
}

static void a_release_ends_a_job_without_clients(void **state)
{
    struct gear *t = *state;

    begin(t, false);
    peer_free(t->a);
    says(t->m, "release 1 0 0\r\n", "RELEASED\r\n");
    job_is_gone(t, 1);
}

static void a_released_job_keeps_its_place(void **state)
{
    struct gear *t = *state;

    begin(t, false);
    gear_submits(t->a, REQ(SUBMIT_JOB, "f", "", "y"));
    says(t->m, "release 1 65536 0\r\nreserve\r\n", "RELEASED\r\nRESERVED 1 1\r\nx\r\n");
}

static void a_job_of_a_lost_worker_goes_to_the_back(void **state)
{
    struct gear *t = *state;

    begin(t, false);
    gear_submits(t->a, REQ(SUBMIT_JOB, "f", "", "y"));
    peer_free(t->m);
    assert_int_equal(gear_job(t, 1).attempts, 1);
    says(t->n, "watch f\r\nreserve\r\nreserve\r\n",
         "WATCHING 2\r\nRESERVED 2 1\r\ny\r\nRESERVED 1 1\r\nx\r\n");
}

static void lost_beanstalk_workers_are_attempts(void **state)
{
    struct gear *t = *state;

    t->settings.job_retries = 1;
    begin(t, false);
    peer_free(t->m);
    gear_hears(t->a, RES(WORK_FAIL, H(1)));
    job_is_gone(t, 1);
}

static void a_kick_restarts_the_attempts(void **state)
{
    struct gear *t = *state;

    t->settings.job_retries = 2;
    t->settings.on_fail = CONTRACT_FAIL_BURIES;
    begin(t, true);
    peer_free(t->m);
    assert_int_equal(gear_job(t, 1).attempts, 1);
    says(t->n, "watch f\r\nreserve\r\n", "WATCHING 2\r\nRESERVED 1 1\r\nx\r\n");
    peer_free(t->n);
    jobs_are(t, "f", JOB_BURIED, 1);
    t->m = peer_new_other(t->rig);
    says(t->m, "kick-job 1\r\n", "KICKED\r\n");
    assert_int_equal(gear_job(t, 1).attempts, 0);
    gear_says(t->a, REQ(CAN_DO, "f"), NOTHING);
    gear_grabs(t->a, "f", "x");
    peer_free(t->a);
    jobs_are(t, "f", JOB_READY, 1);
}

static void a_job_without_a_time_to_run_shows_none(void **state)
{
    struct gear *t = *state;

    begin(t, false);
    rig_advance(t->rig, SECONDS(3));
    says_yaml(t->n, "stats-job 1\r\n",
              "---\nid: 1\ntube: \"f\"\nstate: reserved\npri: 65536\nage: 3\ndelay: 0\nttr: 0\n"
              "time-left: 0\nfile: 0\nreserves: 1\ntimeouts: 0\nreleases: 0\nburies: 0\n"
              "kicks: 0\n");
    says(t->m, "touch 1\r\n", "TOUCHED\r\n");
    says(t->m, "reserve-with-timeout 100000\r\n", "");
    rig_advance(t->rig, SECONDS(99999));
    hears(t->m, "");
    rig_advance(t->rig, SECONDS(1));
    hears(t->m, "TIMED_OUT\r\n");
    jobs_are(t, "f", JOB_RESERVED, 1);
}

static void a_delete_by_another_takes_the_job_back(void **state)
{
    struct gear *t = *state;

    gear_submits(t->a, REQ(SUBMIT_JOB, "f", "u", "x"));
    gear_submits(t->a, REQ(SUBMIT_JOB, "f", "u", "x"));
    says(t->m, "delete 1\r\n", "DELETED\r\n");
    gear_hears(t->a, MANY(RES(WORK_FAIL, H(1)), RES(WORK_FAIL, H(1))));
    job_is_gone(t, 1);
}

static void a_job_that_another_holds_is_not_deleted(void **state)
{
    struct gear *t = *state;

    begin(t, false);
    says(t->n, "delete 1\r\n", "NOT_FOUND\r\n");
    gear_says(t->b, REQ(WORK_COMPLETE, H(1), "r"),
              RES(ERROR, "JOB_NOT_FOUND", "Job given in work result not found"));
    gear_hears(t->a, NOTHING);
}

static void jobs_may_be_reserved_by_their_number_in_the_handle(void **state)
{
    struct gear *t = *state;

    gear_submits(t->a, REQ(SUBMIT_JOB, "f", "", "x"));
    gear_submits(t->a, REQ(SUBMIT_JOB_EPOCH, "g", "", "1800000000", "y"));
    says(t->m, "reserve-job 2\r\nreserve-job 1\r\nreserve-job 1\r\n",
         "RESERVED 2 1\r\ny\r\nRESERVED 1 1\r\nx\r\nNOT_FOUND\r\n");
    says(t->m, "delete 1\r\ndelete 2\r\n", "DELETED\r\nDELETED\r\n");
    gear_hears(t->a, RES(WORK_COMPLETE, H(1), ""));
}

static void a_job_with_a_moment_is_delayed_in_beanstalk(void **state)
{
    struct gear *t = *state;

    gear_submits(t->a, REQ(SUBMIT_JOB_EPOCH, "f", "", "1700000060", "x"));
    says(t->m, "use f\r\npeek-delayed\r\n", "USING f\r\nFOUND 1 1\r\nx\r\n");
    stat_is(t->m, "stats-job 1\r\n", "time-left", 60);
    stat_is(t->m, "stats-tube f\r\n", "current-jobs-delayed", 1);
    says(t->m, "watch f\r\nkick 1\r\nreserve\r\n",
         "WATCHING 2\r\nKICKED 1\r\nRESERVED 1 1\r\nx\r\n");
}

static void the_three_priorities_are_numbers_in_beanstalk(void **state)
{
    struct gear *t = *state;

    gear_submits(t->a, REQ(SUBMIT_JOB_LOW, "f", "", "low"));
    gear_submits(t->a, REQ(SUBMIT_JOB, "f", "", "normal"));
    gear_submits(t->a, REQ(SUBMIT_JOB_HIGH, "f", "", "high"));
    stat_is(t->m, "stats-job 1\r\n", "pri", 2147549184);
    stat_is(t->m, "stats-job 2\r\n", "pri", 65536);
    stat_is(t->m, "stats-job 3\r\n", "pri", 512);
    stat_is(t->m, "stats-tube f\r\n", "current-jobs-urgent", 1);
    says(t->m, "use f\r\nput 512 0 9 1\r\nx\r\nput 511 0 9 1\r\ny\r\nwatch f\r\n",
         "USING f\r\nINSERTED 4\r\nINSERTED 5\r\nWATCHING 2\r\n");
    says(t->m, "reserve\r\nreserve\r\nreserve\r\nreserve\r\nreserve\r\n",
         "RESERVED 5 1\r\ny\r\nRESERVED 3 4\r\nhigh\r\nRESERVED 4 1\r\nx\r\n"
         "RESERVED 2 6\r\nnormal\r\nRESERVED 1 3\r\nlow\r\n");
}

static void the_oldest_job_of_all_tubes_comes_first_in_beanstalk(void **state)
{
    struct gear *t = *state;

    gear_submits(t->a, REQ(SUBMIT_JOB, "f", "", "1"));
    gear_submits(t->a, REQ(SUBMIT_JOB, "f", "", "2"));
    gear_submits(t->a, REQ(SUBMIT_JOB, "g", "", "3"));
    says(t->m, "watch g\r\nwatch f\r\nreserve\r\nreserve\r\nreserve\r\n",
         "WATCHING 2\r\nWATCHING 3\r\nRESERVED 1 1\r\n1\r\nRESERVED 2 1\r\n2\r\n"
         "RESERVED 3 1\r\n3\r\n");
}

static void a_worker_loses_a_cancelled_job(void **state)
{
    struct gear *t = *state;

    begin(t, false);
    gear_says(t->b, SLICE("cancel job " GEAR_PREFIX "1\n"), SLICE("OK\r\n"));
    gear_hears(t->a, RES(WORK_FAIL, H(1)));
    says(t->m, "delete 1\r\n", "NOT_FOUND\r\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MEETING(a_worker_that_waits_gets_the_job),
        MEETING(a_delete_completes_the_job_with_an_empty_result),
        MEETING(a_delete_of_a_durable_job_waits_for_its_record),
        MEETING(a_foreground_job_is_deleted_at_once),
        MEETING(a_delete_ends_a_background_job),
        MEETING(a_bury_fails_a_foreground_job),
        MEETING(a_bury_keeps_a_background_job_and_gives_up_its_unique),
        MEETING(a_kick_takes_the_unique_back_if_it_is_free),
        MEETING(a_reserve_by_id_takes_the_unique_back_too),
        MEETING(a_release_may_delay_a_foreground_job),
        MEETING(a_released_job_ends_with_its_last_client),
        MEETING(a_release_ends_a_job_without_clients),
        MEETING(a_released_job_keeps_its_place),
        MEETING(a_job_of_a_lost_worker_goes_to_the_back),
        MEETING(lost_beanstalk_workers_are_attempts),
        MEETING(a_kick_restarts_the_attempts),
        MEETING(a_job_without_a_time_to_run_shows_none),
        MEETING(a_delete_by_another_takes_the_job_back),
        MEETING(a_job_that_another_holds_is_not_deleted),
        MEETING(jobs_may_be_reserved_by_their_number_in_the_handle),
        MEETING(a_job_with_a_moment_is_delayed_in_beanstalk),
        MEETING(the_three_priorities_are_numbers_in_beanstalk),
        MEETING(the_oldest_job_of_all_tubes_comes_first_in_beanstalk),
        MEETING(a_worker_loses_a_cancelled_job),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
