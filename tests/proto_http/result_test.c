/* SPDX-License-Identifier: MIT */

// The results of jobs: /-/jobs/{handle}, with ?wait=, and /-/jobs/{handle}/result.

#include "tests/proto_http/wire_http.h"
#include "tests/support/policies.h"

#include <string.h>

#define BACKGROUND "X-Gearman-Background: 1\r\n"
#define PAGE "/-/jobs/" GEAR_PREFIX

// Results of all queues are kept for a minute.
static void keep(struct web *t)
{
    const struct policy_rule rule = {.glob = SLICE("*"),
                                     .spec = {.keep_result_for = SECONDS(60), .max_attempts = 1}};

    assert_int_equal(set_policies(rig_broker(t->rig), &rule, 1), STATUS_OK);
    http_can_do(t->w, "f");
    asks(t->a, POST("/f", BACKGROUND, "x"), 200);
}

static void has(const struct http_answer *answer, const char *text)
{
    char body[1024];

    assert_true(answer->body.len < sizeof body);
    memcpy(body, answer->body.ptr, answer->body.len);
    body[answer->body.len] = 0;
    if (!strstr(body, text)) {
        fail_msg("%s is not in %s", text, body);
    }
}

static void done(struct web *t)
{
    gear_says(t->w, REQ(WORK_COMPLETE, grabs(t->w, "f", "x"), "the result"), NOTHING);
}

static void a_result_is_there_when_the_job_has_gone(void **state)
{
    struct web *t = *state;
    const struct http_answer *answer;

    keep(t);
    done(t);
    answer = asks(t->a, http_get(PAGE "1", ""), 200);
    body_is(answer, "{\"handle\": \"" GEAR_PREFIX "1\", \"state\": \"complete\", "
                    "\"function\": \"f\", \"result\": {\"end\": \"complete\", "
                    "\"ended\": 1700000000, \"until\": 1700000060, \"kept\": \"whole\", "
                    "\"bytes\": 10, \"data\": \"the result\"}}");
    answer = asks(t->a, http_get(PAGE "1/result", ""), 200);
    body_is(answer, "the result");
    field_is(answer, "X-Gearman-Command", "WORK_COMPLETE");
    field_is(answer, "X-Gearman-Job-Handle", GEAR_PREFIX "1");
    rig_advance(t->rig, SECONDS(60));
    asks(t->a, http_get(PAGE "1", ""), 404);
    asks(t->a, http_get(PAGE "1/result", ""), 404);
}

static void an_exception_is_a_result(void **state)
{
    struct web *t = *state;
    const struct http_answer *answer;

    keep(t);
    gear_says(t->w, REQ(WORK_EXCEPTION, grabs(t->w, "f", "x"), "\xff!"), NOTHING);
    answer = asks(t->a, http_get(PAGE "1", ""), 200);
    has(answer, "\"end\": \"exception\"");
    has(answer, "\"data\": \"/yE=\", \"encoding\": \"base64\"");
    answer = asks(t->a, http_get(PAGE "1/result", ""), 200);
    field_is(answer, "X-Gearman-Command", "WORK_EXCEPTION");
    body_is(answer, "\xff!");
}

static void a_request_may_wait_for_the_end(void **state)
{
    struct web *t = *state;

    keep(t);
    waits(t->a, http_get(PAGE "1?wait=30", ""));
    waits(t->b, http_get(PAGE "1/result?wait=30", ""));
    done(t);
    has(answered(t->a, 200), "\"data\": \"the result\"");
    body_is(answered(t->b, 200), "the result");
}

static void waiting_ends_with_the_state_of_the_job(void **state)
{
    struct web *t = *state;

    keep(t);
    waits(t->a, http_get(PAGE "1?wait=30", ""));
    rig_advance(t->rig, SECONDS(29));
    silent(t->a);
    rig_advance(t->rig, SECONDS(1));
    has(answered(t->a, 200), "\"state\": \"ready\"");
    // The job has lost nothing by that.
    done(t);
    has(asks(t->a, http_get(PAGE "1?wait=30", ""), 200), "the result");
}

static void whoever_waits_for_a_job_that_is_taken_back_is_told_so(void **state)
{
    struct web *t = *state;

    keep(t);
    waits(t->a, http_get(PAGE "1?wait=30", ""));
    asks(t->b, http_bare("DELETE", PAGE "1", ""), 204);
    body_is(answered(t->a, 200), "{\"handle\": \"" GEAR_PREFIX "1\", \"state\": \"cancelled\"}");
}

static void whoever_waits_does_not_keep_a_job(void **state)
{
    struct web *t = *state;

    keep(t);
    waits(t->a, POST("/g", "", "y"));
    waits(t->b, http_get(PAGE "2?wait=30", ""));
    peer_free(t->a);
    t->a = peer_new(t->rig);
    has(answered(t->b, 200), "cancelled");
}

static void a_long_result_is_told_by_its_length_alone(void **state)
{
    static char bytes[70001];
    struct web *t = *state;
    const struct http_answer *answer;
    struct slice result = slice_of(bytes, sizeof bytes - 1);

    memset(bytes, 'r', sizeof bytes - 1);
    keep(t);
    gear_says(t->w, REQ(WORK_COMPLETE, grabs(t->w, "f", "x"), bytes), NOTHING);
    answer = asks(t->a, http_get(PAGE "1", ""), 200);
    has(answer, "\"bytes\": 70000}");
    answer = asks(t->a, http_get(PAGE "1/result", ""), 200);
    http_body_is(answer, result, __FILE__, __LINE__);
}

static void other_queries_are_refused(void **state)
{
    struct web *t = *state;

    keep(t);
    asks(t->a, http_get(PAGE "1?wait=", ""), 400);
    asks(t->a, http_get(PAGE "1?wait=4294967296", ""), 400);
    asks(t->a, http_get(PAGE "1?for=1", ""), 400);
    asks(t->a, http_get(PAGE "1/result", ""), 404);
    asks(t->a, http_get(PAGE "9?wait=1", ""), 404);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        HTTP(a_result_is_there_when_the_job_has_gone),
        HTTP(an_exception_is_a_result),
        HTTP(a_request_may_wait_for_the_end),
        HTTP(waiting_ends_with_the_state_of_the_job),
        HTTP(whoever_waits_for_a_job_that_is_taken_back_is_told_so),
        HTTP(whoever_waits_does_not_keep_a_job),
        HTTP(a_long_result_is_told_by_its_length_alone),
        HTTP(other_queries_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
