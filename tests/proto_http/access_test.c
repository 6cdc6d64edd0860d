/* SPDX-License-Identifier: MIT */

// Where there are rules: each request is answered by the rights of its own caller, not of an
// earlier caller on the same connection.

#include "tests/proto_http/wire_rules.h"

#include <stdio.h>
#include <string.h>

#define BACKGROUND "X-Gearman-Background: 1\r\n"
#define STREAM "Accept: text/event-stream\r\n"
#define PAGE "/-/jobs/" GEAR_PREFIX

//
// Who
//

static void without_rules_a_token_means_nothing(void **state)
{
    struct web *t = *state;

    asks(t->a, POST("/f", BACKGROUND BEARER("x"), ""), 200);
    asks(t->a, POST("/f", BACKGROUND BEARER("x") BEARER("y"), ""), 200);
    asks(t->a, http_get(PAGE "1", BEARER("")), 200);
    asks(t->a, http_bare("DELETE", PAGE "1", "Authorization: Basic x\r\n"), 204);
    asks(t->a, http_get("/f", BEARER("x") "Origin: http://x\r\n"), 403);
    assert_int_equal(rig_callers(t->rig)->wrong, 0);
}

static void who_has_shown_nothing_is_asked_for_a_token(void **state)
{
    struct web *t = *state;

    stays(t->a, asks(t->a, http_get("/f", ""), 401));
    is_challenged(asks(t->a, http_get("/f", ""), 401));
    is_challenged(asks(t->a, http_get("/", ""), 401));
    is_challenged(asks(t->a, http_get(PAGE "1", ""), 401));
    is_challenged(asks(t->a, http_bare("DELETE", PAGE "1", ""), 401));
    is_challenged(asks(t->a, http_bare("DELETE", "/f", ""), 401));
    is_challenged(asks(t->a, http_get("/f", "Authorization: Basic YTpi\r\n"), 401));
    assert_int_equal(http_jobs(t), 0);
}

static void who_is_somebody_is_forbidden_what_no_rule_allows(void **state)
{
    struct web *t = *state;

    rig_callers(t->rig)->identified = true;
    stays(t->a, asks(t->a, http_get("/f", ""), 403));
    is_forbidden(asks(t->a, http_get("/f", ""), 403));
    is_forbidden(asks(t->a, http_get(PAGE "1", ""), 404));
    is_forbidden(asks(t->a, POST("/g", BACKGROUND ALPHA, ""), 403));
    is_forbidden(asks(t->a, POST("/ff", BACKGROUND ALPHA, ""), 403));
    is_forbidden(asks(t->a, POST("/f", BACKGROUND EYE, ""), 403));
    assert_int_equal(http_jobs(t), 0);
}

static void what_rules_grant_to_an_address_needs_no_token(void **state)
{
    struct web *t = *state;

    anybody_may(t, MAY_SUBMIT, "public.*");
    asks(t->a, POST("/public.x", BACKGROUND, ""), 200);
    asks(t->a, POST("/public.x", BACKGROUND "Authorization: Basic x\r\n", ""), 200);
    is_challenged(asks(t->a, POST("/f", BACKGROUND, ""), 401));
    asks(t->a, http_get("/", ""), 404);
    assert_int_equal(http_jobs(t), 2);
}

static void a_token_counts_instead_of_the_address(void **state)
{
    struct web *t = *state;

    anybody_may(t, MAY_EVERYTHING, "*");
    asks(t->a, POST("/g", BACKGROUND, ""), 200);
    is_forbidden(asks(t->a, POST("/g", BACKGROUND ALPHA, ""), 403));
    asks(t->a, POST("/f", BACKGROUND ALPHA, ""), 200);
    asks(t->a, POST("/g", BACKGROUND, ""), 200);
    assert_int_equal(http_jobs(t), 3);
}

static void an_unknown_token_is_refused_whatever_the_address_may(void **state)
{
    struct web *t = *state;
    const struct http_answer *answer;

    anybody_may(t, MAY_EVERYTHING, "*");
    rig_callers(t->rig)->identified = true;
    answer = asks(t->a, POST("/f", BACKGROUND BEARER("beta"), ""), 401);
    field_is(answer, "WWW-Authenticate", CHALLENGE ", error=\"invalid_token\"");
    asks(t->b, http_get("/", BEARER("beta")), 401);
    asks(t->b, http_get(PAGE "1", BEARER("beta")), 401);
    asks(t->b, http_get("/f", BEARER("")), 401);
    assert_int_equal(http_jobs(t), 0);
    assert_int_equal(rig_callers(t->rig)->wrong, 3);
}

static void clients_are_refused_where_the_caller_cannot_be_found(void **state)
{
    struct web *t = *state;

    anybody_may(t, MAY_EVERYTHING, "*");
    rig_callers(t->rig)->no_memory = true;
    asks(t->a, http_get("/f", ""), 503);
    asks(t->a, POST("/f", BACKGROUND ALPHA, ""), 401);
    assert_int_equal(http_jobs(t), 0);
}

//
// Tokens that are nearly good
//

static void only_the_whole_token_is_one(void **state)
{
    static const char *const bad[] = {"alph",   "alphaa",    "Alpha",      "alpha x",
                                      "alpha,", "\"alpha\"", "alpha\t\tx", "alpha, Bearer x",
                                      "alpha=", "%61lpha",   "x alpha"};
    struct web *t = *state;
    char headers[100];

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        (void)snprintf(headers, sizeof headers, BEARER("%s"), bad[i]);
        asks(t->a, http_get("/f", headers), 401);
    }
    assert_int_equal(rig_callers(t->rig)->wrong, sizeof bad / sizeof *bad);
    assert_int_equal(http_jobs(t), 0);
}

static void blanks_and_the_case_of_the_scheme_do_not_matter(void **state)
{
    static const char *const good[] = {
        "Authorization: bearer alpha\r\n", "AUTHORIZATION:BEARER alpha\r\n",
        "Authorization: Bearer alpha   \r\n", "Authorization: \t Bearer alpha \t\r\n",
        "Authorization: Bearer    alpha\r\n"};
    struct web *t = *state;
    char headers[100];

    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        (void)snprintf(headers, sizeof headers, BACKGROUND "%s", good[i]);
        asks(t->a, POST("/f", headers, ""), 200);
    }
}

static void what_is_no_bearer_token_shows_nothing(void **state)
{
    static const char *const none[] = {"Authorization: alpha\r\n",
                                       "Authorization: Beareralpha\r\n",
                                       "Authorization: Bearer\r\n",
                                       "Authorization: Bearer  \r\n",
                                       "Authorization:\r\n",
                                       "Authorization: Bearer:alpha\r\n",
                                       "X-Authorization: Bearer alpha\r\n",
                                       "Proxy-Authorization: Bearer alpha\r\n"};
    struct web *t = *state;

    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        is_challenged(asks(t->a, http_get("/f", none[i]), 401));
    }
    assert_int_equal(rig_callers(t->rig)->wrong, 0);
}

static void a_request_with_two_tokens_is_refused(void **state)
{
    struct web *t = *state;

    asks(t->a, POST("/f", BACKGROUND ALPHA ALPHA, ""), 400);
    asks(t->b, POST("/f", BACKGROUND BEARER("x") ALPHA, ""), 400);
    asks(t->b, POST("/f", BACKGROUND ALPHA "authorization: Basic x\r\n", ""), 400);
    assert_int_equal(http_jobs(t), 0);
}

static void a_very_long_token_is_unknown(void **state)
{
    static char headers[9000];
    struct web *t = *state;

    (void)snprintf(headers, sizeof headers, BEARER("%s"), gear_run('t', 8192));
    asks(t->a, http_get("/f", headers), 401);
    asks(t->a, POST("/f", BACKGROUND ALPHA, ""), 200);
}

static void after_too_many_wrong_tokens_only_wrong_ones_are_slowed(void **state)
{
    struct web *t = *state;
    struct wire_callers *callers = rig_callers(t->rig);
    struct peer *slowed = peer_new(t->rig);
    struct http_answer answer;
    struct slice heard;

    anybody_may(t, MAY_SUBMIT, "p");
    callers->wrong_max = 2;
    callers->again_at = SECONDS(1000) + SECONDS(7);
    asks(t->a, http_get("/f", BEARER("b")), 401);
    asks(t->a, http_get("/f", BEARER("c")), 401);
    peer_send(slowed, http_get("/f", BEARER("d")));
    rig_run(t->rig);
    assert_int_equal(peer_hear(slowed).len, 0);
    for (int i = 0; i < 20; i++) {
        asks(t->b, POST("/f", BACKGROUND ALPHA, ""), 200);
    }
    asks(t->a, POST("/p", BACKGROUND, ""), 200);
    assert_int_equal(callers->wrong, 2);
    rig_advance(t->rig, SECONDS(7));
    heard = peer_hear(slowed);
    assert_true(http_take(&heard, false, &answer));
    assert_int_equal(answer.status, 429);
    field_is(&answer, "Retry-After", "1");
    field_is(&answer, "WWW-Authenticate", NULL);
    assert_true(peer_closed(slowed));
    assert_int_equal(http_jobs(t), 21);
}

//
// One connection, several callers
//

static void each_request_has_the_rights_of_its_own_token(void **state)
{
    struct web *t = *state;

    asks(t->a, POST("/g", BACKGROUND OMEGA, ""), 200);
    asks(t->a, POST("/g", BACKGROUND ALPHA, ""), 403);
    asks(t->b, POST("/g", BACKGROUND OMEGA, ""), 200);
    asks(t->b, http_get("/g", ""), 401);
    asks(t->b, http_get(PAGE "1", ""), 401);
    asks(t->b, http_get(PAGE "1", OMEGA), 200);
    asks(t->b, http_get("/g", BEARER("beta")), 401);
    asks(t->b, http_get("/g", ""), 401);
    asks(t->b, http_bare("DELETE", PAGE "1", EYE), 403);
    asks(t->b, http_bare("DELETE", PAGE "1", OMEGA), 204);
    assert_int_equal(http_jobs(t), 1);
}

static void a_pipelined_request_has_the_rights_of_its_own_token(void **state)
{
    struct web *t = *state;
    struct http_answer answer;
    struct slice heard;

    heard = peer_ask(t->a, MANY(POST("/g", BACKGROUND OMEGA, "x"), http_get("/g?y", ""),
                                http_get(PAGE "1", EYE), http_get("/g?z", ALPHA),
                                http_get("/f?z", BACKGROUND ALPHA)));
    assert_true(http_take(&heard, false, &answer));
    assert_int_equal(answer.status, 200);
    assert_true(http_take(&heard, false, &answer));
    assert_int_equal(answer.status, 401);
    assert_true(http_take(&heard, false, &answer));
    assert_int_equal(answer.status, 200);
    assert_true(http_take(&heard, false, &answer));
    assert_int_equal(answer.status, 403);
    assert_true(http_take(&heard, false, &answer));
    assert_int_equal(answer.status, 200);
    assert_int_equal(http_jobs(t), 2);
}

static void what_follows_a_request_that_waits_has_not_its_rights(void **state)
{
    struct web *t = *state;
    struct http_answer answer;
    struct slice heard;

    waits(t->a, MANY(POST("/f", OMEGA, "x"), http_bare("DELETE", PAGE "2", ALPHA)));
    asks(t->b, POST("/g", BACKGROUND OMEGA, ""), 200);
    http_completes(t->w, "x", "r");
    heard = peer_hear(t->a);
    assert_true(http_take(&heard, false, &answer));
    assert_int_equal(answer.status, 200);
    assert_true(http_take(&heard, false, &answer));
    assert_int_equal(answer.status, 404);
    assert_int_equal(http_jobs(t), 1);
}

//
// The rules change
//

static void a_request_that_waits_is_told_of_its_job_whatever_it_may_now(void **state)
{
    struct web *t = *state;

    waits(t->a, POST("/f", ALPHA, "x"));
    anybody_may(t, 0, "");
    http_completes(t->w, "x", "r");
    body_is(answered(t->a, 200), "r");
    asks(t->a, http_get("/f", ""), 401);
    waits(t->a, http_get("/f?y", ALPHA));
}

static void a_stream_goes_on_whatever_its_caller_may_now(void **state)
{
    struct web *t = *state;
    struct slice heard = peer_ask(t->a, POST("/f", STREAM ALPHA, "x"));
    struct http_answer answer;

    assert_true(http_take(&heard, false, &answer));
    assert_int_equal(answer.status, 200);
    anybody_may(t, 0, "");
    http_completes(t->w, "x", "r");
    heard = peer_hear(t->a);
    assert_non_null(strstr(heard.ptr, "event: complete"));
    asks(t->a, http_get("/f", ""), 401);
}

static void a_body_that_comes_while_rules_change_is_judged_by_the_new_ones(void **state)
{
    struct web *t = *state;
    struct slice said = POST("/f", BACKGROUND ALPHA, "0123456789");

    waits(t->a, slice_of(said.ptr, said.len - 1));
    anybody_may(t, 0, "");
    asks(t->a, SLICE("9"), 403);
    assert_int_equal(http_jobs(t), 0);
    anybody_may(t, MAY_SUBMIT, "*");
    said = POST("/f", BACKGROUND, "0123456789");
    waits(t->b, slice_of(said.ptr, said.len - 1));
    anybody_may(t, 0, "");
    is_challenged(asks(t->b, SLICE("9"), 401));
    assert_int_equal(http_jobs(t), 0);
}

static void a_connection_forgets_its_grants_where_there_are_no_rules_any_more(void **state)
{
    struct web *t = *state;

    asks(t->a, http_get("/g", ALPHA), 403);
    assert_false(peer_grant(t->a, NULL));
    asks(t->a, http_get("/g", ALPHA BACKGROUND), 200);
    assert_int_equal(http_jobs(t), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        HTTP(without_rules_a_token_means_nothing),
        RULES(who_has_shown_nothing_is_asked_for_a_token),
        RULES(who_is_somebody_is_forbidden_what_no_rule_allows),
        RULES(what_rules_grant_to_an_address_needs_no_token),
        RULES(a_token_counts_instead_of_the_address),
        RULES(an_unknown_token_is_refused_whatever_the_address_may),
        RULES(clients_are_refused_where_the_caller_cannot_be_found),
        RULES(only_the_whole_token_is_one),
        RULES(blanks_and_the_case_of_the_scheme_do_not_matter),
        RULES(what_is_no_bearer_token_shows_nothing),
        RULES(a_request_with_two_tokens_is_refused),
        RULES(a_very_long_token_is_unknown),
        RULES(after_too_many_wrong_tokens_only_wrong_ones_are_slowed),
        RULES(each_request_has_the_rights_of_its_own_token),
        RULES(a_pipelined_request_has_the_rights_of_its_own_token),
        RULES(what_follows_a_request_that_waits_has_not_its_rights),
        RULES(a_request_that_waits_is_told_of_its_job_whatever_it_may_now),
        RULES(a_stream_goes_on_whatever_its_caller_may_now),
        RULES(a_body_that_comes_while_rules_change_is_judged_by_the_new_ones),
        RULES(a_connection_forgets_its_grants_where_there_are_no_rules_any_more),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
