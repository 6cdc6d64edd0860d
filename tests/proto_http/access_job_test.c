/* SPDX-License-Identifier: MIT */

// Access rules for the pages of jobs, for calls from web pages, and for bodies.

#include "tests/proto_http/wire_rules.h"

#include <string.h>

#define BACKGROUND "X-Gearman-Background: 1\r\n"
#define PAGE "/-/jobs/" GEAR_PREFIX

//
// Jobs
//

// The answer to that token must be the same as for a handle of no job.
static void is_not_there(struct web *t, const char *method, const char *target, const char *token)
{
    const struct http_answer *none = asks(t->b, http_bare(method, PAGE "999", token), 404);
    const struct http_answer *answer = asks(t->b, http_bare(method, target, token), 404);

    assert_int_equal(answer->len, none->len);
    assert_memory_equal(answer->body.ptr, none->body.ptr, none->body.len);
}

static int setup_jobs(void **state)
{
    int result = rules_setup(state);
    struct web *t = *state;

    token_may(t, "away", MAY_CANCEL, "f");
    token_may(t, "ops", MAY_OPERATE, "f");
    token_may(t, "hand", MAY_WORK, "*");
    asks(t->a, POST("/f", BACKGROUND OMEGA, "x"), 200);
    asks(t->a, POST("/g", BACKGROUND OMEGA, "y"), 200);
    return result;
}

#define JOBS(test) cmocka_unit_test_setup_teardown(test, setup_jobs, http_teardown)

static void who_submits_or_observes_sees_a_job(void **state)
{
    struct web *t = *state;

    asks(t->b, http_get(PAGE "1", ALPHA), 200);
    asks(t->b, http_get(PAGE "1", EYE), 200);
    asks(t->b, http_get(PAGE "2", EYE), 200);
    asks(t->b, http_get(PAGE "2", OMEGA), 200);
    anybody_may(t, MAY_OBSERVE, "g");
    asks(t->b, http_get(PAGE "2", ""), 200);
    is_not_there(t, "GET", PAGE "1", "");
}

static void a_job_of_another_queue_is_not_there(void **state)
{
    struct web *t = *state;

    is_not_there(t, "GET", PAGE "2", ALPHA);
    is_not_there(t, "DELETE", PAGE "2", ALPHA);
    is_not_there(t, "GET", PAGE "1", BEARER("away"));
    is_not_there(t, "GET", PAGE "1", BEARER("hand"));
    is_not_there(t, "DELETE", PAGE "1", BEARER("hand"));
    is_not_there(t, "DELETE", PAGE "2", BEARER("ops"));
    assert_int_equal(http_jobs(t), 2);
}

static void whoever_sees_a_job_is_told_that_it_may_not_take_it_back(void **state)
{
    struct web *t = *state;

    is_forbidden(asks(t->b, http_bare("DELETE", PAGE "1", ALPHA), 403));
    is_forbidden(asks(t->b, http_bare("DELETE", PAGE "2", EYE), 403));
    anybody_may(t, MAY_OBSERVE, "*");
    is_challenged(asks(t->b, http_bare("DELETE", PAGE "1", ""), 401));
    rig_callers(t->rig)->identified = true;
    is_forbidden(asks(t->b, http_bare("DELETE", PAGE "1", ""), 403));
    assert_int_equal(http_jobs(t), 2);
}

static void whoever_may_take_a_job_back_does(void **state)
{
    struct web *t = *state;

    asks(t->b, http_bare("DELETE", PAGE "1", BEARER("away")), 204);
    asks(t->b, http_bare("DELETE", PAGE "1", BEARER("away")), 404);
    asks(t->b, http_bare("DELETE", PAGE "2", OMEGA), 204);
    asks(t->a, POST("/f", BACKGROUND OMEGA, "z"), 200);
    asks(t->b, http_bare("DELETE", PAGE "3", BEARER("ops")), 204);
    assert_int_equal(http_jobs(t), 0);
}

static void a_job_that_a_worker_has_is_not_taken_back(void **state)
{
    struct web *t = *state;

    http_can_do(t->w, "f");
    (void)grabs(t->w, "f", "x");
    asks(t->b, http_bare("DELETE", PAGE "1", OMEGA), 409);
    asks(t->b, http_bare("DELETE", PAGE "1", ALPHA), 403);
    assert_int_equal(http_jobs(t), 2);
}

static void what_is_not_offered_is_not_there_whatever_the_rules_allow(void **state)
{
    static char offered[] = "f";
    struct web *t = *state;

    t->settings.functions = offered;
    is_forbidden(asks(t->b, POST("/g", BACKGROUND OMEGA, ""), 403));
    is_not_there(t, "GET", PAGE "2", OMEGA);
    is_not_there(t, "DELETE", PAGE "2", OMEGA);
    is_not_there(t, "GET", PAGE "2", EYE);
    asks(t->b, http_get(PAGE "1", EYE), 200);
    assert_int_equal(http_jobs(t), 2);
}

//
// Web pages
//

#define FOREIGN "Host: evil.example\r\n"

static void a_page_may_not_use_what_rules_grant_to_a_browser(void **state)
{
    struct web *t = *state;

    anybody_may(t, MAY_EVERYTHING, "*");
    rig_callers(t->rig)->identified = true;
    asks(t->a, POST("/f", BACKGROUND "Origin: http://x\r\n", ""), 403);
    asks(t->a, POST("/f", BACKGROUND "Sec-Fetch-Site: cross-site\r\n", ""), 403);
    asks(t->b, POST("/f", BACKGROUND "Referer: http://x/\r\n", ""), 403);
    asks(t->b, SLICE("GET /f HTTP/1.1\r\n" FOREIGN BACKGROUND "\r\n"), 403);
    asks(t->b, http_get("/f", "Authorization: Basic x\r\nOrigin: http://x\r\n"), 403);
    asks(t->b, http_get("/f", BEARER("beta") "Origin: http://x\r\n"), 401);
    assert_int_equal(http_jobs(t), 0);
}

static void a_token_proves_more_than_a_host_or_a_page(void **state)
{
    struct web *t = *state;

    asks(t->a, POST("/f", BACKGROUND ALPHA "Origin: http://x\r\n", ""), 200);
    asks(t->a, POST("/f", BACKGROUND ALPHA "Sec-Fetch-Site: cross-site\r\n", ""), 200);
    asks(t->a, SLICE("GET /f HTTP/1.1\r\n" FOREIGN ALPHA BACKGROUND "\r\n"), 200);
    assert_int_equal(http_jobs(t), 3);
}

static void options_and_a_head_of_the_root_need_no_right(void **state)
{
    struct web *t = *state;
    struct http_answer answer;
    struct slice heard;

    asks(t->a, http_bare("OPTIONS", "/f", ""), 204);
    asks(t->a, SLICE("OPTIONS /f HTTP/1.1\r\n" FOREIGN "\r\n"), 204);
    heard = peer_ask(t->a, http_bare("HEAD", "/", ""));
    assert_true(http_take(&heard, true, &answer));
    assert_int_equal(answer.status, 200);
    heard = peer_ask(t->a, http_bare("HEAD", "/f", ""));
    assert_true(http_take(&heard, true, &answer));
    assert_int_equal(answer.status, 401);
    heard = peer_ask(t->a, http_bare("HEAD", "/f", EYE));
    assert_true(http_take(&heard, true, &answer));
    assert_int_equal(answer.status, 405);
}

//
// Bodies
//

#define ENDLESS "Content-Length: 1000000\r\nExpect: 100-continue\r\n\r\n"

// The body that follows is neither asked for, nor waited for, nor kept.
static void is_refused_at_once(struct web *t, struct slice head, unsigned status)
{
    struct peer *peer = peer_new(t->rig);

    ends(peer, asks(peer, head, status));
    waits(peer, slice_of(gear_run('b', 5000), 5000));
    assert_int_equal(peer_kept(peer), 0);
    peer_free(peer);
}

static void the_body_of_what_is_forbidden_is_not_waited_for(void **state)
{
    struct web *t = *state;

    is_refused_at_once(t, SLICE("POST /f HTTP/1.1\r\nHost: localhost\r\n" ENDLESS), 401);
    is_refused_at_once(t, SLICE("POST /f HTTP/1.1\r\nHost: x\r\n" BEARER("b") ENDLESS), 401);
    is_refused_at_once(t, SLICE("POST /g HTTP/1.1\r\nHost: x\r\n" ALPHA ENDLESS), 403);
    is_refused_at_once(t,
                       SLICE("POST /g HTTP/1.1\r\nHost: x\r\n" ALPHA
                             "Transfer-Encoding: chunked\r\n\r\nFFFFF\r\n"),
                       403);
    assert_int_equal(http_jobs(t), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        JOBS(who_submits_or_observes_sees_a_job),
        JOBS(a_job_of_another_queue_is_not_there),
        JOBS(whoever_sees_a_job_is_told_that_it_may_not_take_it_back),
        JOBS(whoever_may_take_a_job_back_does),
        JOBS(a_job_that_a_worker_has_is_not_taken_back),
        JOBS(what_is_not_offered_is_not_there_whatever_the_rules_allow),
        RULES(a_page_may_not_use_what_rules_grant_to_a_browser),
        RULES(a_token_proves_more_than_a_host_or_a_page),
        RULES(options_and_a_head_of_the_root_need_no_right),
        RULES(the_body_of_what_is_forbidden_is_not_waited_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
