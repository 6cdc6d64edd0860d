/* SPDX-License-Identifier: MIT */

// Beanstalk clients and HTTP callers over one broker.

#include "tests/proto_beanstalk/wire_bean.h"
#include "tests/proto_http/wire_http.h"

#include <string.h>

#define BACKGROUND "X-Gearman-Background: 1\r\n"
#define PAGE "/-/jobs/" GEAR_PREFIX

// `a` submits job 1, and the worker `w` reserves it.
static void begin(struct web *t, const char *headers)
{
    peer_send(t->a, POST("/f", headers, "x"));
    rig_run(t->rig);
    says(t->w, "watch f\r\nreserve\r\n", "WATCHING 2\r\nRESERVED 1 1\r\nx\r\n");
}

static void a_worker_that_waits_gets_the_job(void **state)
{
    struct web *t = *state;

    says(t->w, "watch f\r\nreserve\r\n", "WATCHING 2\r\n");
    waits(t->a, POST("/f", "", "x"));
    hears(t->w, "RESERVED 1 1\r\nx\r\n");
}

static void a_delete_by_its_worker_answers_with_an_empty_result(void **state)
{
    struct web *t = *state;
    const struct http_answer *answer;

    begin(t, "");
    says(t->w, "delete 1\r\n", "DELETED\r\n");
    answer = answered(t->a, 200);
    body_is(answer, "");
    field_is(answer, "X-Gearman-Command", "WORK_COMPLETE");
}

static void a_bury_fails_a_foreground_job(void **state)
{
    struct web *t = *state;

    begin(t, "");
    says(t->w, "bury 1 0\r\n", "BURIED\r\n");
    field_is(answered(t->a, 500), "X-Gearman-Command", "WORK_FAIL");
    assert_int_equal(http_jobs(t), 0);
}

static void a_bury_keeps_a_background_job(void **state)
{
    struct web *t = *state;

    begin(t, BACKGROUND);
    (void)answered(t->a, 200);
    says(t->w, "bury 1 77\r\n", "BURIED\r\n");
    assert_non_null(strstr(asks(t->a, http_get(PAGE "1", ""), 200)->body.ptr, "\"buried\""));
    says(t->v, "kick-job 1\r\n", "KICKED\r\n");
    assert_int_equal(http_job(t, 1).state, JOB_READY);
}

static void a_delete_by_another_takes_the_job_back(void **state)
{
    struct web *t = *state;

    waits(t->a, POST("/f", "", "x"));
    says(t->v, "delete 1\r\n", "DELETED\r\n");
    field_is(answered(t->a, 410), "X-Gearman-Command", "WORK_FAIL");
}

static void a_released_job_is_done_by_the_next(void **state)
{
    struct web *t = *state;

    begin(t, "");
    says(t->w, "release 1 0 0\r\n", "RELEASED\r\n");
    silent(t->a);
    says(t->v, "watch f\r\nreserve\r\ndelete 1\r\n",
         "WATCHING 2\r\nRESERVED 1 1\r\nx\r\nDELETED\r\n");
    body_is(answered(t->a, 200), "");
}

static void a_touch_renews_the_ttr_of_a_request(void **state)
{
    struct web *t = *state;

    begin(t, "X-Gearman-Ttr: 10\r\n");
    rig_advance(t->rig, SECONDS(9));
    says(t->w, "touch 1\r\n", "TOUCHED\r\n");
    rig_advance(t->rig, SECONDS(9));
    assert_int_equal(http_job(t, 1).state, JOB_RESERVED);
    rig_advance(t->rig, SECONDS(2));
    assert_int_equal(http_job(t, 1).state, JOB_READY);
}

static void a_request_that_goes_away_leaves_its_worker_to_finish(void **state)
{
    struct web *t = *state;

    begin(t, "");
    peer_free(t->a);
    says(t->w, "delete 1\r\n", "DELETED\r\n");
    assert_int_equal(http_jobs(t), 0);
}

static void a_put_is_a_job_that_can_be_looked_at_and_taken_back(void **state)
{
    struct web *t = *state;
    const struct http_answer *answer;

    says(t->v, "use f\r\nput 7 0 60 3\r\nabc\r\n", "USING f\r\nINSERTED 1\r\n");
    answer = asks(t->a, http_get(PAGE "1", ""), 200);
    assert_non_null(strstr(answer->body.ptr, "\"priority\": 7,"));
    asks(t->a, http_bare("DELETE", PAGE "1", ""), 204);
    says(t->v, "peek 1\r\n", "NOT_FOUND\r\n");
}

static void priorities_and_delays_are_the_same_to_both(void **state)
{
    struct web *t = *state;

    asks(t->a, POST("/f", BACKGROUND "X-Gearman-Priority: 7\r\n", "http"), 200);
    says(t->v, "use f\r\nput 6 0 60 4\r\nbean\r\n", "USING f\r\nINSERTED 2\r\n");
    asks(t->a, POST("/f", BACKGROUND "X-Gearman-Delay: 9\r\nX-Gearman-Ttr: 5\r\n", "late"), 200);
    stat_is(t->v, "stats-job 3\r\n", "delay", 9);
    stat_is(t->v, "stats-job 3\r\n", "ttr", 5);
    says(t->w, "watch f\r\nreserve\r\nreserve\r\n",
         "WATCHING 2\r\nRESERVED 2 4\r\nbean\r\nRESERVED 1 4\r\nhttp\r\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        HTTP_BEAN(a_worker_that_waits_gets_the_job),
        HTTP_BEAN(a_delete_by_its_worker_answers_with_an_empty_result),
        HTTP_BEAN(a_bury_fails_a_foreground_job),
        HTTP_BEAN(a_bury_keeps_a_background_job),
        HTTP_BEAN(a_delete_by_another_takes_the_job_back),
        HTTP_BEAN(a_released_job_is_done_by_the_next),
        HTTP_BEAN(a_touch_renews_the_ttr_of_a_request),
        HTTP_BEAN(a_request_that_goes_away_leaves_its_worker_to_finish),
        HTTP_BEAN(a_put_is_a_job_that_can_be_looked_at_and_taken_back),
        HTTP_BEAN(priorities_and_delays_are_the_same_to_both),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
