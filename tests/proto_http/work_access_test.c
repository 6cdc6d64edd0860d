/* SPDX-License-Identifier: MIT */

// Who may work over HTTP: the rules, and web pages.

#include "tests/proto_http/wire_rules.h"
#include "tests/proto_http/wire_work.h"

#include <stdio.h>

#define HAND BEARER("hand")

static int setup(void **state)
{
    int result = rules_setup(state);
    struct web *t = *state;

    token_may(t, "hand", MAY_WORK, "f*");
    asks(t->b, POST("/f", BACKGROUND OMEGA, "x"), 200);
    return result;
}

#define WORKERS(test) cmocka_unit_test_setup_teardown(test, setup, http_teardown)

static void only_those_may_ask_for_work_whom_a_rule_lets(void **state)
{
    struct web *t = *state;

    is_challenged(asks(t->a, ASK("/-/work?queue=f"), 401));
    is_forbidden(asks(t->a, work_post("/-/work?queue=f", ALPHA), 403));
    is_forbidden(asks(t->a, work_post("/-/work?queue=f", EYE), 403));
    asks(t->a, work_post("/-/work?queue=f", BEARER("nobody")), 401);
    is_forbidden(asks(t->a, work_post("/-/work?queue=g", HAND), 403));
    is_forbidden(asks(t->a, work_post("/-/work?queue=f&queue=g", HAND), 403));
    assert_int_equal(http_job(t, 1).state, JOB_READY);
    asks(t->a, work_post("/-/work?queue=f&queue=f2", HAND), 200);
}

static void whoever_shows_none_may_work_where_that_is_granted(void **state)
{
    struct web *t = *state;

    anybody_may(t, MAY_WORK, "f");
    asks(t->a, ASK("/-/work?queue=f"), 200);
    asks(t->a, ASK("/-/work?queue=g"), 401);
}

static void the_token_of_a_lease_is_the_right_to_finish_it(void **state)
{
    struct web *t = *state;
    const char *token = work_token(asks(t->a, work_post("/-/work?queue=f", HAND), 200));

    tells(t->b, token, "touch", "", 204);
    asks(t->b, work_word(token, "touch", BEARER("nobody"), ""), 204);
    asks(t->b, work_word(token, "touch", ALPHA, ""), 204);
    tells(t->b, token, "complete", "done", 204);
    tells(t->b, token, "touch", "", 410);
}

static void work_that_was_accepted_goes_on_when_the_right_is_taken_away(void **state)
{
    struct web *t = *state;
    const char *token;

    anybody_may(t, MAY_WORK, "f");
    token = work_token(asks(t->a, ASK("/-/work?queue=f"), 200));
    anybody_may(t, 0, "");
    tells(t->a, token, "touch", "", 204);
    tells(t->a, token, "complete", "", 204);
    asks(t->a, ASK("/-/work?queue=f"), 401);
}

static void a_request_that_waits_ends_with_the_right_to_its_queue(void **state)
{
    struct web *t = *state;
    const struct grant grant = {.rights = MAY_WORK, .queues = SLICE("other")};
    struct grants *grants = grants_new(&grant, 1);

    anybody_may(t, MAY_WORK, "g");
    waits(t->a, ASK("/-/work?queue=g&wait=30"));
    assert_non_null(grants);
    assert_true(peer_grant(t->a, grants));
    grants_unref(grants);
    asks(t->b, POST("/g", BACKGROUND OMEGA, "x"), 200);
    assert_int_equal(http_job(t, 2).state, JOB_READY);
}

static void a_request_that_waits_does_not_mind_rules_that_leave_it_its_queue(void **state)
{
    struct web *t = *state;

    anybody_may(t, MAY_WORK, "g");
    waits(t->a, ASK("/-/work?queue=g&wait=30"));
    anybody_may(t, MAY_WORK, "g*");
    asks(t->b, POST("/g", BACKGROUND OMEGA, "x"), 200);
    answered(t->a, 200);
}

static void what_is_not_offered_gives_no_work(void **state)
{
    static char offered[] = "f";
    struct web *t = *state;

    t->settings.functions = offered;
    asks(t->b, work_post("/-/work?queue=g", OMEGA), 403);
    asks(t->b, work_post("/-/work?queue=f", OMEGA), 200);
}

//
// Web pages
//

static char origins[] = "http://app.example";

static void no_page_of_another_site_works_or_finishes(void **state)
{
    static const char *const pages[] = {
        "Origin: http://evil.example\r\n",
        "Origin: null\r\n",
        "Sec-Fetch-Site: cross-site\r\n",
        "Referer: http://evil.example/\r\n",
    };
    struct web *t = *state;
    const char *token;

    t->settings.cors_origins = origins;
    asks(t->b, POST("/f", BACKGROUND, "x"), 200);
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
        asks(t->a, work_post("/-/work?queue=f", pages[i]), 403);
    }
    asks(t->a, SLICE("POST /-/work?queue=f HTTP/1.1\r\nHost: evil.example\r\n\r\n"), 403);
    assert_int_equal(http_job(t, 1).state, JOB_READY);
    token = gets(t->a, "/-/work?queue=f", "x");
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
        asks(t->a, work_word(token, "complete", pages[i], ""), 403);
    }
    assert_int_equal(http_job(t, 1).state, JOB_RESERVED);
}

static void a_page_of_a_named_origin_works_and_finishes(void **state)
{
    const char *page = "Origin: http://app.example\r\n";
    struct web *t = *state;
    const struct http_answer *answer;

    t->settings.cors_origins = origins;
    asks(t->b, POST("/f", BACKGROUND, "x"), 200);
    answer = asks(t->a, work_post("/-/work?queue=f", page), 200);
    field_is(answer, "Access-Control-Allow-Origin", "http://app.example");
    field_is(answer, "Access-Control-Expose-Headers",
             "X-Gearman-Job-Handle, X-Gearman-Command, X-Gearman-Unique, X-Tandem-Queue, "
             "X-Tandem-Attempt, X-Tandem-Deadline, X-Tandem-Lease");
    asks(t->a, work_word(work_token(answer), "complete", page, ""), 204);
    assert_int_equal(http_jobs(t), 0);
}

static void whoever_knows_a_lease_may_call_the_server_by_any_name(void **state)
{
    struct web *t = *state;
    char said[200];
    int len;

    asks(t->b, POST("/f", BACKGROUND, "x"), 200);
    len = snprintf(said, sizeof said,
                   "POST /-/leases/%s/complete HTTP/1.1\r\nHost: tandem.example\r\n\r\n",
                   gets(t->a, "/-/work?queue=f", "x"));
    asks(t->a, slice_of(said, (size_t)len), 204);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WORKERS(only_those_may_ask_for_work_whom_a_rule_lets),
        WORKERS(whoever_shows_none_may_work_where_that_is_granted),
        WORKERS(the_token_of_a_lease_is_the_right_to_finish_it),
        WORKERS(work_that_was_accepted_goes_on_when_the_right_is_taken_away),
        WORKERS(a_request_that_waits_ends_with_the_right_to_its_queue),
        WORKERS(a_request_that_waits_does_not_mind_rules_that_leave_it_its_queue),
        WORKERS(what_is_not_offered_gives_no_work),
        HTTP(no_page_of_another_site_works_or_finishes),
        HTTP(a_page_of_a_named_origin_works_and_finishes),
        HTTP(whoever_knows_a_lease_may_call_the_server_by_any_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
