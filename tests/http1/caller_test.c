/* SPDX-License-Identifier: MIT */

// The callers that are allowed: hosts, pages, tokens and rights, for any user of http1.

#include "tests/http1/echo.h"

#include <stdio.h>
#include <string.h>

#define NONE(rest) "HTTP/1.1 304 Not Modified\r\n" ECHO_COMMON "ETag: \"1\"\r\n" rest "\r\n"
#define ASK(headers) ECHO_ASK("GET /none", headers "\r\n")
#define CHALLENGE "WWW-Authenticate: Bearer realm=\"tandem\"\r\n"

static char hosts[] = "broker.example";
static char origins[] = "http://app.example";

static int setup_lists(void **state)
{
    struct echo_options settings = ECHO_DEFAULTS;

    settings.http1.hosts = hosts;
    settings.http1.cors_origins = origins;
    return echo_setup_with(state, settings, 0);
}

static int setup_pages(void **state)
{
    struct echo_options settings = ECHO_DEFAULTS;

    settings.has_pages = true;
    settings.http1.hosts = hosts;
    return echo_setup_with(state, settings, 0);
}

static void a_host_is_an_address_or_one_of_the_list(void **state)
{
    struct echo *t = *state;

    hears(t->peer, "GET /none HTTP/1.1\r\nHost: broker.example:80\r\n\r\n",
          NONE("Vary: Origin\r\n"));
    refuses(t->peer, "GET /none HTTP/1.1\r\nHost: evil.example\r\n\r\n", "403 Forbidden", "",
            "Vary: Origin\r\n", "Host is not an IP address, localhost or in echo.hosts");
    refuses(t->peer, "OPTIONS /none HTTP/1.1\r\nHost: evil.example\r\n\r\n", "403 Forbidden", "",
            "Vary: Origin\r\n", "Host is not an IP address, localhost or in echo.hosts");
}

static void a_page_of_a_named_origin_may_call_and_see(void **state)
{
    struct echo *t = *state;

    hears(t->peer, ASK("Origin: http://app.example\r\n"),
          NONE("Access-Control-Allow-Origin: http://app.example\r\n"
               "Access-Control-Expose-Headers: X-Echo\r\nVary: Origin\r\n"));
    refuses(t->peer, ASK("Origin: http://evil.example\r\n"), "403 Forbidden", "",
            "Vary: Origin\r\n", "Origin is not in echo.cors_origins");
}

static void a_page_of_another_site_may_not_call(void **state)
{
    struct echo *t = *state;

    refuses(t->peer, ASK("Sec-Fetch-Site: cross-site\r\n"), "403 Forbidden", "", "",
            "a page of another site sent this request without an Origin in echo.cors_origins");
    refuses(t->peer, ASK("Referer: http://evil.example/\r\n"), "403 Forbidden", "", "",
            "Referer is a page of another site that is not in echo.cors_origins");
    hears(t->peer, ASK("Sec-Fetch-Site: same-origin\r\n"), NONE(""));
    hears(t->peer, ASK("Referer: http://localhost/\r\n"), NONE(""));
}

static void our_own_page_may_change_things(void **state)
{
    struct echo *t = *state;

    hears(t->peer, ASK("Origin: http://localhost\r\n"), NONE(""));
    // TLS may end in front of us.
    hears(t->peer, ASK("Origin: https://LocalHost\r\n"), NONE(""));
    hears(t->peer, ASK("Origin: http://localhost\r\nSec-Fetch-Site: same-origin\r\n"), NONE(""));
    hears(t->peer,
          "GET /none HTTP/1.1\r\nHost: broker.example:8080\r\n"
          "Origin: http://broker.example:8080\r\n\r\n",
          NONE(""));
}

static void a_page_that_is_nearly_ours_may_not(void **state)
{
    static const char *const origin[] = {
        "http://localhost:1",
        "http://localhost\r\nSec-Fetch-Site: same-site",
        "http://localhost\r\nSec-Fetch-Site: cross-site",
        "http://localhost/",
        "http://localhost.evil.example",
        "localhost",
        "file://localhost",
        "http://",
        "null",
        "",
    };
    struct echo *t = *state;

    for (size_t i = 0; i < sizeof origin / sizeof *origin; i++) {
        char said[200];
        int len =
            snprintf(said, sizeof said, ECHO_ASK("GET /none", "Origin: %s\r\n\r\n"), origin[i]);

        peer_send(t->peer, slice_of(said, (size_t)len));
        refuses(t->peer, "", "403 Forbidden", "", "", "Origin is not in echo.cors_origins");
    }
}

// Somebody else's name for this machine makes no page ours.
static void our_own_page_has_one_of_our_hosts(void **state)
{
    struct echo *t = *state;

    refuses(t->peer,
            "GET /none HTTP/1.1\r\nHost: evil.example\r\nOrigin: http://evil.example\r\n\r\n",
            "403 Forbidden", "", "", "Host is not an IP address, localhost or in echo.hosts");
}

static void pages_are_none_of_ours_where_none_are_served(void **state)
{
    struct echo *t = *state;

    refuses(t->peer, ASK("Origin: http://localhost\r\n"), "403 Forbidden", "", "",
            "Origin is not in echo.cors_origins");
}

static void anybody_may(struct echo *t, struct grants *grants)
{
    struct wire_callers *callers = rig_callers(t->rig);

    grants_unref(callers->default_grants);
    callers->default_grants = grants;
    assert_false(peer_grant(t->peer, grants));
}

static void a_token_says_who_calls(void **state)
{
    struct echo *t = *state;

    anybody_may(t, grants_new(NULL, 0));
    knows_token(t->rig, "alpha", {MAY_OBSERVE, "*"});
    refuses(t->peer, ASK(""), "401 Unauthorized", CHALLENGE, "", "a token is required");
    refuses(t->peer, ASK("Authorization: Bearer beta\r\n"), "401 Unauthorized",
            "WWW-Authenticate: Bearer realm=\"tandem\", error=\"invalid_token\"\r\n", "",
            "a bad token");
    hears(t->peer, ASK("Authorization: bearer alpha\r\nOrigin: http://evil.example\r\n"), NONE(""));
    refuses(t->peer, ECHO_ASK("GET /forbidden", "Authorization: Bearer alpha\r\n\r\n"),
            "403 Forbidden", "", "", "not for you");
    refuses(t->peer, ASK("Authorization: Bearer\r\n"), "401 Unauthorized", CHALLENGE, "",
            "Authorization does not contain a Bearer token");
    refuses(t->peer, ASK("Authorization: Bearer alpha\r\nAuthorization: Bearer alpha\r\n"),
            "400 Bad Request", "", "", "Authorization is given more than once");
}

// The rights that matter are the user's to name.
static void a_caller_without_any_right_here_is_refused_at_once(void **state)
{
    struct echo *t = *state;

    anybody_may(t, GRANTS({MAY_SUBMIT | MAY_WORK, "*"}));
    refuses(t->peer, ASK(""), "401 Unauthorized", CHALLENGE, "", "a token is required");
    anybody_may(t, GRANTS({MAY_OBSERVE, "one"}));
    hears(t->peer, ASK(""), NONE(""));
    refuses(t->peer, ECHO_ASK("GET /forbidden", "\r\n"), "401 Unauthorized", CHALLENGE, "",
            "a token is required");
}

// The next wrong token has to wait for seven seconds.
static struct echo *spend_patience(struct echo *t)
{
    struct wire_callers *callers = rig_callers(t->rig);

    anybody_may(t, grants_new(NULL, 0));
    knows_token(t->rig, "alpha", {MAY_OBSERVE, "*"});
    callers->wrong_max = 1;
    callers->again_at = SECONDS(1000) + SECONDS(7);
    begins(t->peer, ASK("Authorization: Bearer x\r\n"), "HTTP/1.1 401 ");
    return t;
}

static void a_wrong_token_waits_where_too_many_were_wrong(void **state)
{
    struct echo *t = spend_patience(*state);

    hears(t->peer, ASK("Authorization: Bearer x\r\n") ASK("Authorization: Bearer alpha\r\n"), "");
    rig_advance(t->rig, SECONDS(6));
    hears(t->peer, "", "");
    rig_advance(t->rig, SECONDS(1));
    begins(t->peer, "", "HTTP/1.1 429 ");
    assert_true(peer_closed(t->peer));
}

// Its owner cannot know who else has the address.
static void a_right_token_does_not_wait_where_too_many_were_wrong(void **state)
{
    struct echo *t = spend_patience(*state);

    for (int i = 0; i < 20; i++) {
        hears(t->peer, ASK("Authorization: Bearer alpha\r\n"), NONE(""));
    }
}

static void a_client_may_leave_while_its_wrong_token_waits(void **state)
{
    struct echo *t = spend_patience(*state);

    hears(t->peer, ASK("Authorization: Bearer x\r\n"), "");
    peer_half_close(t->peer);
    assert_true(peer_closed(t->peer));
    rig_advance(t->rig, SECONDS(20));
}

static void a_wrong_token_that_waits_is_answered_when_the_process_stops(void **state)
{
    struct echo *t = spend_patience(*state);

    hears(t->peer, ASK("Authorization: Bearer x\r\n"), "");
    rig_stop(t->rig);
    refuses(t->peer, "", "503 Service Unavailable", "Retry-After: 1\r\n", ECHO_CLOSES,
            "the broker is stopping");
}

static void a_caller_that_cannot_be_found_out_is_told_to_come_again(void **state)
{
    struct echo *t = *state;

    anybody_may(t, grants_new(NULL, 0));
    rig_callers(t->rig)->no_memory = true;
    refuses(t->peer, ASK(""), "503 Service Unavailable", "", "", "no room at all");
}

#define WITH(setup, test) cmocka_unit_test_setup_teardown(test, setup, echo_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH(setup_lists, a_host_is_an_address_or_one_of_the_list),
        WITH(setup_lists, a_page_of_a_named_origin_may_call_and_see),
        ECHO(a_page_of_another_site_may_not_call),
        WITH(setup_pages, our_own_page_may_change_things),
        WITH(setup_pages, a_page_that_is_nearly_ours_may_not),
        WITH(setup_pages, our_own_page_has_one_of_our_hosts),
        ECHO(pages_are_none_of_ours_where_none_are_served),
        ECHO(a_token_says_who_calls),
        ECHO(a_caller_without_any_right_here_is_refused_at_once),
        ECHO(a_wrong_token_waits_where_too_many_were_wrong),
        ECHO(a_right_token_does_not_wait_where_too_many_were_wrong),
        ECHO(a_client_may_leave_while_its_wrong_token_waits),
        ECHO(a_wrong_token_that_waits_is_answered_when_the_process_stops),
        ECHO(a_caller_that_cannot_be_found_out_is_told_to_come_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
