/* SPDX-License-Identifier: MIT */

// Jobs whose workers disconnect or fail, and the number of their attempts.

#include "tests/proto_gearman/wire_gear.h"

// A worker connects, takes the job, and disconnects.
static void lose_at(struct gear *t, const char *body, const char *file, int line)
{
    struct peer *worker = peer_new(t->rig);

    gear_says_at(worker, REQ(CAN_DO, "f"), NOTHING, file, line);
    gear_grabs_at(worker, "f", body, file, line);
    peer_free(worker);
}

#define lose(t, body) lose_at((t), (body), __FILE__, __LINE__)

static void take(struct peer *worker, const char *body)
{
    gear_says(worker, REQ(CAN_DO, "f"), NOTHING);
    gear_grabs(worker, "f", body);
}

static void the_job_of_a_lost_worker_goes_to_the_back(void **state)
{
    struct gear *t = *state;

    gear_submits(t->a, REQ(SUBMIT_JOB, "f", "", "1"));
    gear_submits(t->a, REQ(SUBMIT_JOB, "f", "", "2"));
    gear_submits(t->a, REQ(SUBMIT_JOB_LOW, "f", "", "low"));
    lose(t, "1");
    assert_int_equal(gear_job(t, 1).attempts, 1);
    take(t->b, "2");
    gear_grabs(t->b, "f", "1");
    gear_grabs(t->b, "f", "low");
    gear_hears(t->a, NOTHING);
}

static void all_jobs_of_a_lost_worker_come_back_in_their_order(void **state)
{
    struct gear *t = *state;

    gear_submits(t->a, REQ(SUBMIT_JOB, "f", "", "1"));
    gear_submits(t->a, REQ(SUBMIT_JOB_HIGH, "f", "", "2"));
    gear_submits(t->a, REQ(SUBMIT_JOB, "f", "", "3"));
    gear_submits(t->a, REQ(SUBMIT_JOB, "f", "", "4"));
    take(t->b, "2");
    gear_grabs(t->b, "f", "1");
    gear_grabs(t->b, "f", "3");
    peer_free(t->b);
    jobs_are(t, "f", JOB_READY, 4);
    take(t->c, "2");
    gear_grabs(t->c, "f", "4");
    gear_grabs(t->c, "f", "1");
    gear_grabs(t->c, "f", "3");
    gear_says(t->c, REQ(WORK_COMPLETE, H(1), "done"), NOTHING);
    gear_hears(t->a, RES(WORK_COMPLETE, H(1), "done"));
}

static void a_half_closed_worker_is_lost(void **state)
{
    struct gear *t = *state;

    gear_submits(t->a, REQ(SUBMIT_JOB, "f", "", "x"));
    take(t->b, "x");
    peer_half_close(t->b);
    assert_true(peer_closed(t->b));
    take(t->c, "x");
}

static void without_a_limit_a_job_has_any_number_of_attempts(void **state)
{
    struct gear *t = *state;

    gear_submits(t->a, REQ(SUBMIT_JOB, "f", "", "x"));
    for (int i = 0; i < 2000; i++) {
        lose(t, "x");
    }
    gear_hears(t->a, NOTHING);
    jobs_are(t, "f", JOB_READY, 1);
}

// With this value of job_retries, a foreground and a background job have `attempts` attempts.
static void is_begun(struct gear *t, int64_t retries, int times)
{
    const char *handle;

    t->settings.job_retries = retries;
    handle = gear_handle(gear_submits(t->a, REQ(SUBMIT_JOB, "f", "", "x")));
    for (int i = 0; i < times; i++) {
        gear_hears(t->a, NOTHING);
        lose(t, "x");
    }
    gear_hears(t->a, RES(WORK_FAIL, handle));
    jobs_are(t, "f", JOB_READY, 0);
    gear_submits(t->a, REQ(SUBMIT_JOB_BG, "f", "", "x"));
    for (int i = 0; i < times; i++) {
        lose(t, "x");
    }
    jobs_are(t, "f", JOB_READY, 0);
    gear_hears(t->a, NOTHING);
}

static void job_retries_are_the_number_of_attempts(void **state)
{
    struct gear *t = *state;

    is_begun(t, 0, 1);
    is_begun(t, 1, 1);
    is_begun(t, 2, 2);
    is_begun(t, 3, 3);
    is_begun(t, 1000, 1000);
}

static void the_limit_at_submission_counts(void **state)
{
    struct gear *t = *state;

    t->settings.job_retries = 2;
    gear_submits(t->a, REQ(SUBMIT_JOB, "f", "", "x"));
    t->settings.job_retries = 1;
    lose(t, "x");
    gear_hears(t->a, NOTHING);
    lose(t, "x");
    gear_hears(t->a, RES(WORK_FAIL, H(1)));
}

static void a_job_out_of_attempts_gives_up_its_unique(void **state)
{
    struct gear *t = *state;

    t->settings.job_retries = 1;
    gear_submits(t->a, REQ(SUBMIT_JOB_BG, "f", "u", "x"));
    lose(t, "x");
    assert_int_equal(gear_submits(t->a, REQ(SUBMIT_JOB_BG, "f", "u", "x")), 2);
}

static void a_failure_is_never_retried(void **state)
{
    struct gear *t = *state;

    t->settings.job_retries = 3;
    gear_submits(t->a, REQ(SUBMIT_JOB_BG, "f", "", "x"));
    gear_submits(t->a, REQ(SUBMIT_JOB_BG, "f", "", "x"));
    take(t->b, "x");
    gear_grabs(t->b, "f", "x");
    gear_says(t->b, MANY(REQ(WORK_FAIL, H(1)), REQ(WORK_EXCEPTION, H(2), "bang"), REQ(GRAB_JOB)),
              RES(NO_JOB));
    jobs_are(t, "f", JOB_BURIED, 0);
}

//
// on_fail = bury
//

static void failed_background_jobs_may_be_buried(void **state)
{
    struct gear *t = *state;

    t->settings.on_fail = CONTRACT_FAIL_BURIES;
    gear_submits(t->a, REQ(SUBMIT_JOB_BG, "f", "", "x"));
    gear_submits(t->a, REQ(SUBMIT_JOB_BG, "f", "", "x"));
    take(t->b, "x");
    gear_grabs(t->b, "f", "x");
    gear_says(t->b, MANY(REQ(WORK_FAIL, H(1)), REQ(WORK_EXCEPTION, H(2), "bang")), NOTHING);
    jobs_are(t, "f", JOB_BURIED, 2);
    gear_says(t->b, REQ(GRAB_JOB), RES(NO_JOB));
}

static void a_background_job_out_of_attempts_may_be_buried(void **state)
{
    struct gear *t = *state;

    t->settings.on_fail = CONTRACT_FAIL_BURIES;
    t->settings.job_retries = 2;
    gear_submits(t->a, REQ(SUBMIT_JOB_BG, "f", "", "x"));
    lose(t, "x");
    jobs_are(t, "f", JOB_READY, 1);
    lose(t, "x");
    jobs_are(t, "f", JOB_BURIED, 1);
}

static void failed_foreground_jobs_are_not_buried(void **state)
{
    struct gear *t = *state;

    t->settings.on_fail = CONTRACT_FAIL_BURIES;
    gear_submits(t->a, REQ(SUBMIT_JOB, "f", "", "x"));
    take(t->b, "x");
    gear_says(t->b, REQ(WORK_FAIL, H(1)), NOTHING);
    gear_hears(t->a, RES(WORK_FAIL, H(1)));
    jobs_are(t, "f", JOB_BURIED, 0);
}

static void a_client_that_joined_a_buried_job_gets_its_failure(void **state)
{
    struct gear *t = *state;

    t->settings.on_fail = CONTRACT_FAIL_BURIES;
    gear_says(t->a, REQ(OPTION_REQ, "exceptions"), RES(OPTION_RES, "exceptions"));
    gear_submits(t->b, REQ(SUBMIT_JOB_BG, "f", "u", "x"));
    gear_submits(t->a, REQ(SUBMIT_JOB, "f", "u", "x"));
    gear_submits(t->b, REQ(SUBMIT_JOB, "f", "u", "x"));
    take(t->c, "x");
    gear_says(t->c, REQ(WORK_EXCEPTION, H(1), "bang"), NOTHING);
    gear_hears(t->a, RES(WORK_EXCEPTION, H(1), "bang"));
    gear_hears(t->b, RES(WORK_FAIL, H(1)));
    jobs_are(t, "f", JOB_BURIED, 1);
    assert_int_equal(gear_job(t, 1).watches, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        GEAR(the_job_of_a_lost_worker_goes_to_the_back),
        GEAR(all_jobs_of_a_lost_worker_come_back_in_their_order),
        GEAR(a_half_closed_worker_is_lost),
        GEAR(without_a_limit_a_job_has_any_number_of_attempts),
        GEAR(job_retries_are_the_number_of_attempts),
        GEAR(the_limit_at_submission_counts),
        GEAR(a_job_out_of_attempts_gives_up_its_unique),
        GEAR(a_failure_is_never_retried),
        GEAR(failed_background_jobs_may_be_buried),
        GEAR(a_background_job_out_of_attempts_may_be_buried),
        GEAR(failed_foreground_jobs_are_not_buried),
        GEAR(a_client_that_joined_a_buried_job_gets_its_failure),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
