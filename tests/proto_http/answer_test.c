/* SPDX-License-Identifier: MIT */

// How a request is answered, whatever becomes of its job.

#include "tests/proto_http/wire_http.h"
#include "tests/support/policies.h"

#include "core/policy.h"

#include <stdio.h>
#include <string.h>

#define UNIQUE "X-Gearman-Unique: u\r\n"
#define BACKGROUND "X-Gearman-Background: 1\r\n"

// `a` submits, and `w` has the job: its handle.
static const char *begin(struct web *t)
{
    waits(t->a, POST("/f", UNIQUE, "x"));
    http_can_do(t->w, "f");
    return grabs(t->w, "f", "x");
}

// An answer about job 1.
static const struct http_answer *about_job(struct peer *peer, unsigned status, const char *command)
{
    const struct http_answer *answer = answered(peer, status);

    field_is(answer, "X-Gearman-Job-Handle", H(1));
    field_is(answer, "X-Gearman-Command", command);
    return answer;
}

static void a_result_is_all_data_in_order_and_then_the_last(void **state)
{
    struct web *t = *state;
    const char *job = begin(t);
    const struct http_answer *answer;

    gear_says(t->w,
              MANY(REQ(WORK_DATA, job, "one "), REQ(WORK_STATUS, job, "1", "2"),
                   REQ(WORK_WARNING, job, "hot"), REQ(WORK_DATA, job, "two "),
                   REQ(WORK_DATA, job, "")),
              NOTHING);
    silent(t->a);
    gear_says(t->w, REQ(WORK_COMPLETE, job, "three"), NOTHING);
    answer = about_job(t->a, 200, "WORK_COMPLETE");
    body_is(answer, "one two three");
    field_is(answer, "Content-Type", "application/octet-stream");
    field_is(answer, "Server", "Tandem/0.1.0");
    stays(t->a, answer);
}

static void many_small_parts_are_put_together(void **state)
{
    struct web *t = *state;
    const char *job = begin(t);
    char part[16], whole[1000];
    size_t len = 0;

    for (int i = 0; i < 100; i++) {
        (void)snprintf(part, sizeof part, "%d;", i);
        len += (size_t)snprintf(whole + len, sizeof whole - len, "%s", part);
        gear_says(t->w, REQ(WORK_DATA, job, part), NOTHING);
    }
    gear_says(t->w, REQ(WORK_COMPLETE, job, ""), NOTHING);
    assert_true(slice_equal(answered(t->a, 200)->body, slice_of(whole, len)));
}

static void an_empty_result_is_an_empty_answer(void **state)
{
    struct web *t = *state;

    gear_says(t->w, REQ(WORK_COMPLETE, begin(t), ""), NOTHING);
    body_is(about_job(t->a, 200, "WORK_COMPLETE"), "");
}

static void a_result_may_have_any_byte(void **state)
{
    struct web *t = *state;

    (void)begin(t);
    gear_says(t->w, gear_raw("REQ", 13, 17, slice_of("H:test.host:1\0\0\xff\n", 17)), NOTHING);
    assert_true(slice_equal(answered(t->a, 200)->body, slice_of("\0\xff\n", 3)));
}

static void a_job_that_fails_is_500(void **state)
{
    struct web *t = *state;
    const char *job = begin(t);

    gear_says(t->w, MANY(REQ(WORK_DATA, job, "part"), REQ(WORK_FAIL, job)), NOTHING);
    stays(t->a, about_job(t->a, 500, "WORK_FAIL"));
}

static void an_exception_is_500_with_its_data(void **state)
{
    struct web *t = *state;
    const char *job = begin(t);

    gear_says(t->w, MANY(REQ(WORK_DATA, job, "part"), REQ(WORK_EXCEPTION, job, "bang")), NOTHING);
    body_is(about_job(t->a, 500, "WORK_EXCEPTION"), "bang");
    waits(t->a, POST("/f", "", "y"));
    gear_says(t->w, REQ(WORK_EXCEPTION, grabs(t->w, "f", "y"), ""), NOTHING);
    body_is(answered(t->a, 500), "");
}

static void a_job_taken_back_is_410(void **state)
{
    struct web *t = *state;

    waits(t->a, POST("/f", "", "x"));
    gear_says(t->v, SLICE("cancel job " GEAR_PREFIX "1\n"), SLICE("OK\r\n"));
    stays(t->a, about_job(t->a, 410, "WORK_FAIL"));
}

static void gearmand_s_codes_are_200_for_what_jobs_do(void **state)
{
    struct web *t = *state;

    t->settings.status_codes = WEB_CODES_GEARMAND;
    gear_says(t->w, REQ(WORK_FAIL, begin(t)), NOTHING);
    body_is(about_job(t->a, 200, "WORK_FAIL"), "");
    waits(t->a, POST("/f", "", "y"));
    gear_says(t->w, REQ(WORK_EXCEPTION, grabs(t->w, "f", "y"), "bang"), NOTHING);
    body_is(answered(t->a, 200), "bang");
    waits(t->a, POST("/f", "", "z"));
    gear_says(t->v, SLICE("cancel job " GEAR_PREFIX "3\n"), SLICE("OK\r\n"));
    field_is(answered(t->a, 200), "X-Gearman-Command", "WORK_FAIL");
}

static void gearmand_s_codes_are_200_for_what_is_refused(void **state)
{
    struct web *t = *state;

    t->settings.status_codes = WEB_CODES_GEARMAND;
    field_is(asks(t->a, POST("/f", "X-Gearman-Ttr: x\r\n", ""), 200), "X-Gearman-Command", "ERROR");
    broker_drain(rig_broker(t->rig));
    field_is(asks(t->a, POST("/f", "", ""), 200), "X-Gearman-Command", "ERROR");
}

static void gearmand_s_codes_are_for_nothing_else(void **state)
{
    struct web *t = *state;

    t->settings.status_codes = WEB_CODES_GEARMAND;
    asks(t->a, http_get("/", ""), 404);
    asks(t->a, http_bare("DELETE", "/f", ""), 405);
    asks(t->a, http_get("/f", "Origin: http://x\r\n"), 403);
    waits(t->a, POST("/f", "X-Gearman-Timeout: 3\r\n", "x"));
    rig_advance(t->rig, SECONDS(3));
    about_job(t->a, 504, NULL);
    asks(t->a, SLICE("GET /f HTTP/1.1\r\n\r\n"), 400);
}

static void a_full_queue_is_429(void **state)
{
    struct web *t = *state;
    const struct http_answer *answer;

    gear_says(t->v, SLICE("create function f\nmaxqueue f 1\n"), SLICE("OK\r\nOK\r\n"));
    waits(t->a, POST("/f", "", "x"));
    answer = asks(t->b, POST("/f", "", "y"), 429);
    field_is(answer, "Retry-After", "1");
    field_is(answer, "X-Gearman-Command", "ERROR");
    stays(t->b, answer);
    asks(t->b, POST("/g", BACKGROUND, "y"), 200);
    http_completes(t->w, "x", "r");
    answered(t->a, 200);
}

static void a_queue_that_its_policy_says_is_full_is_429_and_a_large_job_413(void **state)
{
    const struct policy_rule rule = {.glob = SLICE("f"),
                                     .spec = {.max_jobs = 1, .max_job_size = 2}};
    struct web *t = *state;
    const struct http_answer *answer;

    assert_int_equal(STATUS_OK, set_policies(rig_broker(t->rig), &rule, 1));
    rig_run(t->rig);
    answer = asks(t->a, POST("/f", BACKGROUND, "abc"), 413);
    field_is(answer, "X-Gearman-Command", "ERROR");
    stays(t->a, answer);
    asks(t->a, POST("/f", BACKGROUND, "ab"), 200);
    answer = asks(t->a, POST("/f", BACKGROUND, "ab"), 429);
    field_is(answer, "Retry-After", "1");
    asks(t->a, POST("/g", BACKGROUND, "abc"), 200);
}

static void a_broker_that_drains_is_503(void **state)
{
    struct web *t = *state;
    const struct http_answer *answer;

    waits(t->a, POST("/f", "", "x"));
    broker_drain(rig_broker(t->rig));
    answer = asks(t->b, POST("/f", BACKGROUND, "y"), 503);
    field_is(answer, "Retry-After", "1");
    field_is(answer, "X-Gearman-Command", "ERROR");
    asks(t->b, http_get("/f?y", ""), 503);
    asks(t->b, http_get("/-/jobs/" GEAR_PREFIX "1", ""), 200);
    http_completes(t->w, "x", "r");
    answered(t->a, 200);
}

static void a_store_that_refuses_is_503_for_background_jobs(void **state)
{
    struct web *t = *state;
    const struct http_answer *answer;

    t->store_room = 0;
    answer = asks(t->a, POST("/f", BACKGROUND, "y"), 503);
    field_is(answer, "Retry-After", "1");
    field_is(answer, "X-Gearman-Command", "ERROR");
    waits(t->b, POST("/f", UNIQUE, "x"));
    asks(t->a, POST("/f", UNIQUE BACKGROUND, "x"), 503);
    t->store_room = 1;
    asks(t->a, POST("/f", UNIQUE BACKGROUND, "x"), 200);
    assert_true(http_job(t, 1).durable);
    http_completes(t->w, "x", "r");
    answered(t->b, 200);
}

static void waiting_too_long_is_504(void **state)
{
    struct web *t = *state;

    waits(t->a, POST("/f", "X-Gearman-Timeout: 30\r\n", "x"));
    rig_advance(t->rig, SECONDS(30) - 1);
    silent(t->a);
    rig_advance(t->rig, 1);
    stays(t->a, about_job(t->a, 504, NULL));
    assert_int_equal(http_jobs(t), 0);
}

static void who_waits_too_long_leaves_a_durable_job(void **state)
{
    struct web *t = *state;

    asks(t->b, POST("/f", UNIQUE BACKGROUND, "x"), 200);
    waits(t->a, POST("/f", UNIQUE "X-Gearman-Timeout: 1\r\n", "x"));
    rig_advance(t->rig, SECONDS(1));
    about_job(t->a, 504, NULL);
    assert_int_equal(http_job(t, 1).watches, 0);
}

static void who_waits_too_long_leaves_the_job_to_others(void **state)
{
    struct web *t = *state;

    waits(t->a, POST("/f", UNIQUE "X-Gearman-Timeout: 1\r\n", "x"));
    waits(t->b, POST("/f", UNIQUE "X-Gearman-Timeout: 0\r\n", "x"));
    rig_advance(t->rig, SECONDS(1));
    about_job(t->a, 504, NULL);
    rig_advance(t->rig, SECONDS(100000));
    http_completes(t->w, "x", "r");
    body_is(about_job(t->b, 200, "WORK_COMPLETE"), "r");
    silent(t->a);
}

static void the_configuration_says_how_long_requests_wait(void **state)
{
    struct web *t = *state;

    t->settings.wait_timeout = 5;
    waits(t->a, POST("/f", "", "x"));
    waits(t->b, POST("/f", "X-Gearman-Timeout: 0\r\n", "x"));
    rig_advance(t->rig, SECONDS(5));
    about_job(t->a, 504, NULL);
    rig_advance(t->rig, SECONDS(5000));
    silent(t->b);
}

static void who_joins_after_the_data_has_begun_gets_an_error(void **state)
{
    struct web *t = *state;
    const char *job = begin(t);

    gear_says(t->w, REQ(WORK_DATA, job, "one "), NOTHING);
    waits(t->b, POST("/f", UNIQUE, "x"));
    gear_says(t->w, REQ(WORK_COMPLETE, job, "two"), NOTHING);
    body_is(about_job(t->a, 200, "WORK_COMPLETE"), "one two");
    assert_non_null(strstr(about_job(t->b, 500, NULL)->body.ptr, "\"incomplete\""));
}

static void who_joins_before_the_data_gets_all_of_it(void **state)
{
    struct web *t = *state;
    const char *job = begin(t);

    gear_says(t->w, REQ(WORK_STATUS, job, "1", "2"), NOTHING);
    waits(t->b, POST("/f", UNIQUE, "x"));
    gear_says(t->w, MANY(REQ(WORK_DATA, job, "one "), REQ(WORK_COMPLETE, job, "two")), NOTHING);
    body_is(about_job(t->a, 200, "WORK_COMPLETE"), "one two");
    body_is(about_job(t->b, 200, "WORK_COMPLETE"), "one two");
}

static void a_job_that_fails_is_told_to_who_joined_late(void **state)
{
    struct web *t = *state;
    const char *job = begin(t);

    gear_says(t->w, REQ(WORK_DATA, job, "one "), NOTHING);
    waits(t->b, POST("/f", UNIQUE, "x"));
    gear_says(t->w, REQ(WORK_FAIL, job), NOTHING);
    about_job(t->a, 500, "WORK_FAIL");
    about_job(t->b, 500, "WORK_FAIL");
}

static void a_retried_job_starts_its_data_anew(void **state)
{
    struct web *t = *state;
    const char *job = begin(t);

    gear_says(t->w, REQ(WORK_DATA, job, "lost "), NOTHING);
    waits(t->b, POST("/f", UNIQUE, "x"));
    peer_free(t->w);
    t->w = peer_new_other(t->rig);
    http_can_do(t->w, "f");
    job = grabs(t->w, "f", "x");
    gear_says(t->w, MANY(REQ(WORK_DATA, job, "good "), REQ(WORK_COMPLETE, job, "end")), NOTHING);
    body_is(about_job(t->a, 200, "WORK_COMPLETE"), "good end");
    body_is(about_job(t->b, 200, "WORK_COMPLETE"), "good end");
}

// A worker has the job of `a` and of the Gearman client `v`, said `one ` and let its time run out;
// `b` joins only then. The job's handle.
static const char *begin_late(struct web *t)
{
    const char *job;

    waits(t->a, POST("/f", UNIQUE "X-Gearman-Ttr: 5\r\n", "x"));
    gear_says(t->v, REQ(SUBMIT_JOB, "f", "u", "x"), RES(JOB_CREATED, H(1)));
    http_can_do(t->w, "f");
    job = grabs(t->w, "f", "x");
    gear_says(t->w, REQ(WORK_DATA, job, "one "), NOTHING);
    gear_hears(t->v, RES(WORK_DATA, H(1), "one "));
    rig_advance(t->rig, SECONDS(5));
    assert_int_equal(http_job(t, 1).state, JOB_READY);
    waits(t->b, POST("/f", UNIQUE, "x"));
    return job;
}

static void a_late_worker_completes_with_all_that_it_said(void **state)
{
    struct web *t = *state;
    const char *job = begin_late(t);

    gear_says(t->w, MANY(REQ(WORK_DATA, job, "two "), REQ(WORK_COMPLETE, job, "end")), NOTHING);
    body_is(about_job(t->a, 200, "WORK_COMPLETE"), "one two end");
    gear_hears(t->v, MANY(RES(WORK_DATA, H(1), "two "), RES(WORK_COMPLETE, H(1), "end")));
    about_job(t->b, 500, NULL);
}

static void another_takes_the_job_of_a_late_worker_and_says_it_all(void **state)
{
    struct web *t = *state;
    const char *job = begin_late(t);
    struct peer *other = peer_new_other(t->rig);

    http_can_do(other, "f");
    grabs(other, "f", "x");
    gear_fails(t->w, REQ(WORK_DATA, job, "two "), "JOB_NOT_FOUND");
    gear_says(other, MANY(REQ(WORK_DATA, job, "good "), REQ(WORK_COMPLETE, job, "end")), NOTHING);
    body_is(about_job(t->a, 200, "WORK_COMPLETE"), "good end");
    body_is(about_job(t->b, 200, "WORK_COMPLETE"), "good end");
}

static void a_result_of_which_a_part_was_too_large_is_500(void **state)
{
    struct web *t = *state;
    const char *job = begin(t);

    t->gear_settings.max_job_size = 100;
    gear_says(t->w, REQ(WORK_DATA, job, "one "), NOTHING);
    gear_says(t->w, REQ(WORK_DATA, job, gear_run('d', 101)), NOTHING);
    gear_says(t->w, REQ(WORK_COMPLETE, job, "end"), NOTHING);
    about_job(t->a, 500, "WORK_FAIL");
}

static void a_job_that_is_lost_too_often_fails(void **state)
{
    struct web *t = *state;

    t->settings.job_retries = 2;
    (void)begin(t);
    peer_free(t->w);
    silent(t->a);
    http_can_do(t->v, "f");
    grabs(t->v, "f", "x");
    peer_free(t->v);
    about_job(t->a, 500, "WORK_FAIL");
}

static void without_retries_the_first_loss_is_a_failure(void **state)
{
    struct web *t = *state;

    t->settings.job_retries = 0;
    (void)begin(t);
    peer_free(t->w);
    about_job(t->a, 500, "WORK_FAIL");
}

static void a_job_that_is_lost_stands_behind_the_others(void **state)
{
    struct web *t = *state;

    (void)begin(t);
    waits(t->b, POST("/f", "", "y"));
    peer_free(t->w);
    http_can_do(t->v, "f");
    grabs(t->v, "f", "y");
    grabs(t->v, "f", "x");
}

static void a_durable_job_that_fails_may_be_kept(void **state)
{
    struct web *t = *state;

    t->settings.on_fail = CONTRACT_FAIL_BURIES;
    asks(t->b, POST("/f", UNIQUE BACKGROUND, "x"), 200);
    gear_says(t->w, REQ(WORK_FAIL, begin(t)), NOTHING);
    about_job(t->a, 500, "WORK_FAIL");
    assert_int_equal(http_job(t, 1).state, JOB_BURIED);
}

static void requests_and_gearman_clients_share_a_job(void **state)
{
    struct web *t = *state;
    const char *job = begin(t);

    gear_says(t->v, REQ(SUBMIT_JOB, "f", "u", "y"), RES(JOB_CREATED, H(1)));
    waits(t->b, POST("/f", UNIQUE, "z"));
    assert_int_equal(http_job(t, 1).watches, 3);
    gear_says(t->w, MANY(REQ(WORK_DATA, job, "d"), REQ(WORK_COMPLETE, job, "r")), NOTHING);
    gear_hears(t->v, MANY(RES(WORK_DATA, H(1), "d"), RES(WORK_COMPLETE, H(1), "r")));
    body_is(about_job(t->a, 200, "WORK_COMPLETE"), "dr");
    body_is(about_job(t->b, 200, "WORK_COMPLETE"), "dr");
}

static void a_request_joins_the_job_of_a_gearman_client(void **state)
{
    struct web *t = *state;

    gear_says(t->v, REQ(SUBMIT_JOB_HIGH, "f", "u", "x"), RES(JOB_CREATED, H(1)));
    waits(t->a, POST("/f", UNIQUE, "y"));
    assert_int_equal(http_job(t, 1).pri, PRI_HIGH);
    peer_free(t->v);
    assert_int_equal(http_job(t, 1).watches, 1);
    http_completes(t->w, "x", "r");
    body_is(about_job(t->a, 200, "WORK_COMPLETE"), "r");
}

static void a_client_that_goes_away_takes_its_job_with_it(void **state)
{
    struct web *t = *state;

    waits(t->a, POST("/f", "", "x"));
    peer_free(t->a);
    assert_int_equal(http_jobs(t), 0);
    waits(t->b, POST("/f", "", "x"));
    peer_half_close(t->b);
    assert_int_equal(http_jobs(t), 0);
    assert_true(peer_closed(t->b));
}

static void a_job_goes_with_the_last_that_wait_for_it(void **state)
{
    struct web *t = *state;

    waits(t->a, POST("/f", UNIQUE, "x"));
    waits(t->b, POST("/f", UNIQUE, "x"));
    peer_free(t->a);
    assert_int_equal(http_job(t, 1).watches, 1);
    peer_free(t->b);
    assert_int_equal(http_jobs(t), 0);
}

static void a_running_job_outlives_its_client(void **state)
{
    struct web *t = *state;
    const char *job = begin(t);

    peer_free(t->a);
    assert_int_equal(http_job(t, 1).state, JOB_RESERVED);
    gear_says(t->w, MANY(REQ(WORK_DATA, job, "d"), REQ(WORK_COMPLETE, job, "r")), NOTHING);
    assert_int_equal(http_jobs(t), 0);
}

static void a_background_job_outlives_its_client(void **state)
{
    struct web *t = *state;

    asks(t->a, POST("/f", BACKGROUND, "x"), 200);
    peer_free(t->a);
    http_completes(t->w, "x", "r");
    assert_int_equal(http_jobs(t), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        HTTP(a_result_is_all_data_in_order_and_then_the_last),
        HTTP(many_small_parts_are_put_together),
        HTTP(an_empty_result_is_an_empty_answer),
        HTTP(a_result_may_have_any_byte),
        HTTP(a_job_that_fails_is_500),
        HTTP(an_exception_is_500_with_its_data),
        HTTP(a_job_taken_back_is_410),
        HTTP(gearmand_s_codes_are_200_for_what_jobs_do),
        HTTP(gearmand_s_codes_are_200_for_what_is_refused),
        HTTP(gearmand_s_codes_are_for_nothing_else),
        HTTP(a_full_queue_is_429),
        HTTP(a_queue_that_its_policy_says_is_full_is_429_and_a_large_job_413),
        HTTP(a_broker_that_drains_is_503),
        HTTP(a_store_that_refuses_is_503_for_background_jobs),
        HTTP(waiting_too_long_is_504),
        HTTP(who_waits_too_long_leaves_a_durable_job),
        HTTP(who_waits_too_long_leaves_the_job_to_others),
        HTTP(the_configuration_says_how_long_requests_wait),
        HTTP(who_joins_after_the_data_has_begun_gets_an_error),
        HTTP(who_joins_before_the_data_gets_all_of_it),
        HTTP(a_job_that_fails_is_told_to_who_joined_late),
        HTTP(a_retried_job_starts_its_data_anew),
        HTTP(a_late_worker_completes_with_all_that_it_said),
        HTTP(another_takes_the_job_of_a_late_worker_and_says_it_all),
        HTTP(a_result_of_which_a_part_was_too_large_is_500),
        HTTP(a_job_that_is_lost_too_often_fails),
        HTTP(without_retries_the_first_loss_is_a_failure),
        HTTP(a_job_that_is_lost_stands_behind_the_others),
        HTTP(a_durable_job_that_fails_may_be_kept),
        HTTP(requests_and_gearman_clients_share_a_job),
        HTTP(a_request_joins_the_job_of_a_gearman_client),
        HTTP(a_client_that_goes_away_takes_its_job_with_it),
        HTTP(a_job_goes_with_the_last_that_wait_for_it),
        HTTP(a_running_job_outlives_its_client),
        HTTP(a_background_job_outlives_its_client),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
