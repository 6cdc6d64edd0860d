/* SPDX-License-Identifier: MIT */

// One job: /-/jobs/{handle}.

#include "tests/proto_http/wire_http.h"

#include <stdio.h>
#include <string.h>

#define BACKGROUND "X-Gearman-Background: 1\r\n"
#define PAGE "/-/jobs/" GEAR_PREFIX

// The job's page must say exactly this.
static void shows(struct web *t, const char *target, const char *json)
{
    const struct http_answer *answer = asks(t->a, http_get(target, ""), 200);

    field_is(answer, "Content-Type", "application/json");
    field_is(answer, "Cache-Control", "no-store");
    http_body_is(answer, slice_str(json), __FILE__, __LINE__);
    stays(t->a, answer);
}

static void a_job_is_shown_as_it_stands(void **state)
{
    struct web *t = *state;

    asks(t->a, POST("/f", BACKGROUND, "x"), 200);
    shows(t, PAGE "1",
          "{\"handle\": \"" GEAR_PREFIX "1\", \"function\": \"f\", \"state\": \"ready\", "
          "\"priority\": 65536, \"progress\": {\"numerator\": 0, \"denominator\": 0}, "
          "\"created\": 1700000000, \"waiting\": 0, \"attempts\": 0}");
    rig_advance(t->rig, SECONDS(10));
    waits(t->b, POST("/f", "", "y"));
    http_can_do(t->w, "f");
    grabs(t->w, "f", "x");
    gear_says(t->w, REQ(WORK_STATUS, grabs(t->w, "f", "y"), "3", "4"), NOTHING);
    shows(t, PAGE "2",
          "{\"handle\": \"" GEAR_PREFIX "2\", \"function\": \"f\", \"state\": \"running\", "
          "\"priority\": 65536, \"progress\": {\"numerator\": 3, \"denominator\": 4}, "
          "\"created\": 1700000010, \"waiting\": 1, \"attempts\": 0}");
}

// The word for its state in a job's page.
static void state_is(struct web *t, const char *target, const char *state)
{
    const struct http_answer *answer = asks(t->a, http_get(target, ""), 200);
    char word[100];

    (void)snprintf(word, sizeof word, "\"state\": \"%s\"", state);
    assert_non_null(strstr(answer->body.ptr, word));
}

static void each_state_has_its_word(void **state)
{
    struct web *t = *state;

    t->settings.on_fail = CONTRACT_FAIL_BURIES;
    asks(t->a, POST("/f", BACKGROUND "X-Gearman-Delay: 5\r\n", "x"), 200);
    state_is(t, PAGE "1", "delayed");
    rig_advance(t->rig, SECONDS(5));
    state_is(t, PAGE "1", "ready");
    http_can_do(t->w, "f");
    (void)grabs(t->w, "f", "x");
    state_is(t, PAGE "1", "running");
    gear_says(t->w, REQ(WORK_FAIL, H(1)), NOTHING);
    state_is(t, PAGE "1", "buried");
}

static void a_function_of_any_bytes_can_be_shown(void **state)
{
    static const char *const names[][2] = {{"/%22%5c", "\\\"\\\\"},
                                           {"/%c3%a9", "\xc3\xa9"},
                                           {"/a%ff%20%25", "a%FF%20%25"},
                                           {"/%ff%7fb", "%FF%7Fb"}};
    struct web *t = *state;
    char target[100], word[100];

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        asks(t->a, POST(names[i][0], BACKGROUND, ""), 200);
        (void)snprintf(target, sizeof target, PAGE "%zu", i + 1);
        (void)snprintf(word, sizeof word, "\"function\": \"%s\"", names[i][1]);
        if (!strstr(asks(t->a, http_get(target, ""), 200)->body.ptr, word)) {
            fail_msg("%s is not shown as %s", names[i][0], names[i][1]);
        }
    }
}

static void the_longest_name_of_any_bytes_can_be_shown(void **state)
{
    struct web *t = *state;
    char target[2000] = "/";

    for (size_t i = 0; i < QUEUE_NAME_MAX; i++) {
        memcpy(target + 1 + 3 * i, "%ff", 4);
    }
    asks(t->a, POST(target, BACKGROUND, ""), 200);
    assert_true(asks(t->a, http_get(PAGE "1", ""), 200)->body.len > 3 * QUEUE_NAME_MAX);
}

static void jobs_of_all_clients_are_shown(void **state)
{
    struct web *t = *state;

    gear_says(t->v, REQ(SUBMIT_JOB_LOW, "g", "", "x"), RES(JOB_CREATED, H(1)));
    shows(t, PAGE "1",
          "{\"handle\": \"" GEAR_PREFIX "1\", \"function\": \"g\", \"state\": \"ready\", "
          "\"priority\": 2147549184, \"progress\": {\"numerator\": 0, \"denominator\": 0}, "
          "\"created\": 1700000000, \"waiting\": 1, \"attempts\": 0}");
}

static void a_handle_may_be_spelt_with_escapes(void **state)
{
    struct web *t = *state;

    asks(t->a, POST("/f", BACKGROUND, ""), 200);
    asks(t->a, http_get("/-/jobs/%48%3Atest.host:%31", ""), 200);
    asks(t->a, http_get("http://localhost/-/jobs/H:test.host:1", ""), 200);
}

static void what_is_no_handle_of_a_job_is_404(void **state)
{
    static const char *const targets[] = {PAGE "2",
                                          PAGE "0",
                                          PAGE,
                                          PAGE "1x",
                                          PAGE "-1",
                                          PAGE "1/",
                                          PAGE "01x",
                                          "/-/jobs/1",
                                          "/-/jobs/H:x:1",
                                          "/-/jobs/x",
                                          PAGE "1%00",
                                          PAGE "1%0a",
                                          PAGE "+1",
                                          PAGE "18446744073709551617",
                                          "/-/jobs/%ff%ff",
                                          "/-/jobs//x"};
    struct web *t = *state;

    asks(t->a, POST("/f", BACKGROUND, ""), 200);
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        stays(t->a, asks(t->a, http_get(targets[i], ""), 404));
        stays(t->a, asks(t->a, http_bare("DELETE", targets[i], ""), 404));
    }
    assert_int_equal(http_jobs(t), 1);
}

static void a_job_that_is_done_is_404(void **state)
{
    struct web *t = *state;

    asks(t->a, POST("/f", BACKGROUND, "x"), 200);
    http_completes(t->w, "x", "");
    asks(t->a, http_get(PAGE "1", ""), 404);
}

static void a_delete_takes_back_a_job_that_no_worker_has(void **state)
{
    struct web *t = *state;
    const struct http_answer *answer;

    asks(t->a, POST("/f", BACKGROUND, "x"), 200);
    asks(t->a, POST("/f", BACKGROUND "X-Gearman-Delay: 9\r\n", "x"), 200);
    answer = asks(t->a, http_bare("DELETE", PAGE "1", ""), 204);
    field_is(answer, "Content-Length", NULL);
    stays(t->a, answer);
    asks(t->a, http_bare("DELETE", PAGE "2", ""), 204);
    asks(t->a, http_bare("DELETE", PAGE "1", ""), 404);
    assert_int_equal(http_jobs(t), 0);
}

static void a_delete_is_told_to_who_waits(void **state)
{
    struct web *t = *state;

    waits(t->b, POST("/f", "X-Gearman-Unique: u\r\n", "x"));
    gear_says(t->v, REQ(SUBMIT_JOB, "f", "u", "x"), RES(JOB_CREATED, H(1)));
    asks(t->a, http_bare("DELETE", PAGE "1", ""), 204);
    field_is(answered(t->b, 410), "X-Gearman-Command", "WORK_FAIL");
    gear_hears(t->v, RES(WORK_FAIL, H(1)));
}

static void a_job_that_a_worker_holds_is_not_taken_back(void **state)
{
    struct web *t = *state;

    asks(t->a, POST("/f", BACKGROUND, "x"), 200);
    http_can_do(t->w, "f");
    grabs(t->w, "f", "x");
    stays(t->a, asks(t->a, http_bare("DELETE", PAGE "1", ""), 409));
    gear_says(t->w, REQ(WORK_COMPLETE, H(1), ""), NOTHING);
    asks(t->a, http_bare("DELETE", PAGE "1", ""), 404);
}

static void a_buried_job_can_be_taken_back(void **state)
{
    struct web *t = *state;

    t->settings.on_fail = CONTRACT_FAIL_BURIES;
    asks(t->a, POST("/f", BACKGROUND, "x"), 200);
    http_can_do(t->w, "f");
    gear_says(t->w, REQ(WORK_FAIL, grabs(t->w, "f", "x")), NOTHING);
    asks(t->a, http_bare("DELETE", PAGE "1", ""), 204);
    assert_int_equal(http_jobs(t), 0);
}

static void nothing_else_can_be_done_to_a_job(void **state)
{
    struct web *t = *state;

    asks(t->a, POST("/f", BACKGROUND, "x"), 200);
    field_is(asks(t->a, POST(PAGE "1", "", ""), 405), "Allow", "GET, DELETE, OPTIONS");
    field_is(asks(t->a, http_bare("PUT", PAGE "1", ""), 405), "Allow", "GET, DELETE, OPTIONS");
    field_is(asks(t->a, http_bare("PATCH", PAGE "1", ""), 405), "Allow", "GET, DELETE, OPTIONS");
    assert_int_equal(http_jobs(t), 1);
}

static void a_job_s_page_needs_neither_room_nor_a_broker_that_takes_more(void **state)
{
    struct web *t = *state;

    asks(t->a, POST("/f", BACKGROUND, "x"), 200);
    t->store_room = 0;
    broker_drain(rig_broker(t->rig));
    asks(t->a, http_get(PAGE "1", ""), 200);
    asks(t->a, http_bare("DELETE", PAGE "1", ""), 204);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        HTTP(a_job_is_shown_as_it_stands),
        HTTP(each_state_has_its_word),
        HTTP(a_function_of_any_bytes_can_be_shown),
        HTTP(the_longest_name_of_any_bytes_can_be_shown),
        HTTP(jobs_of_all_clients_are_shown),
        HTTP(a_handle_may_be_spelt_with_escapes),
        HTTP(what_is_no_handle_of_a_job_is_404),
        HTTP(a_job_that_is_done_is_404),
        HTTP(a_delete_takes_back_a_job_that_no_worker_has),
        HTTP(a_delete_is_told_to_who_waits),
        HTTP(a_job_that_a_worker_holds_is_not_taken_back),
        HTTP(a_buried_job_can_be_taken_back),
        HTTP(nothing_else_can_be_done_to_a_job),
        HTTP(a_job_s_page_needs_neither_room_nor_a_broker_that_takes_more),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
