/* SPDX-License-Identifier: MIT */

// The callers that are allowed without tokens: Host, web pages, and the functions that are offered.

#include "tests/proto_http/wire_http.h"

#include <stdio.h>
#include <string.h>

#define BACKGROUND "X-Gearman-Background: 1\r\n"
#define PAGE "/-/jobs/" GEAR_PREFIX

static char origins[] = "https://app.example, http://other.example:81";
static char everybody[] = "*";
static char hosts[] = "broker.example tandem,jobs.example";

//
// Host
//

// A request with that Host (and a token of HTTP/1.1) is answered so.
static void host_is(struct web *t, const char *host, unsigned status)
{
    struct peer *peer = peer_new(t->rig);
    char said[300];
    int len = snprintf(said, sizeof said, "GET / HTTP/1.1\r\nHost: %s\r\n\r\n", host);

    asks(peer, slice_of(said, (size_t)len), status);
    peer_free(peer);
}

static void a_host_is_an_address_or_localhost(void **state)
{
    static const char *const good[] = {"localhost",   "LocalHost:8080", "127.0.0.1",
                                       "10.1.2.3:80", "[::1]",          "[::1]:8080",
                                       "[fe80::1:2]", "localhost:0",    "0.0.0.0:65535"};
    struct web *t = *state;

    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        host_is(t, good[i], 404);
    }
}

static void a_load_balancer_may_ask_under_any_name_of_the_host(void **state)
{
    struct web *t = *state;

    asks(t->a, SLICE("HEAD / HTTP/1.1\r\nHost: tandem\r\n\r\n"), 200);
}

static void any_other_host_is_refused(void **state)
{
    static const char *const bad[] = {"evil.example",
                                      "localhost.evil.example",
                                      "localhostx",
                                      "127.0.0.1.evil.example",
                                      "127.1",
                                      "1",
                                      "::1",
                                      "[::1",
                                      "::1]",
                                      "[127.0.0.1]",
                                      "[]",
                                      "localhost:",
                                      "localhost:x",
                                      "localhost:65536",
                                      ":80",
                                      "localhost:80:80",
                                      "a b",
                                      "[::1]x",
                                      "[::1]x:80",
                                      "user@localhost",
                                      "",
                                      "localhost,x",
                                      "0x7f.0.0.1",
                                      "256.0.0.1",
                                      "broker.example",
                                      "0000000000000000000000000000000000000000127.0.0.1"};
    struct web *t = *state;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        host_is(t, bad[i], 403);
    }
}

static void more_hosts_may_be_configured(void **state)
{
    struct web *t = *state;

    t->settings.hosts = hosts;
    host_is(t, "broker.example", 404);
    host_is(t, "BROKER.example:8080", 404);
    host_is(t, "tandem", 404);
    host_is(t, "jobs.example", 404);
    host_is(t, "localhost", 404);
    host_is(t, "example", 403);
    host_is(t, "x.broker.example", 403);
    host_is(t, "broker.example,tandem", 403);
}

static void hosts_with_a_suffix_may_be_configured(void **state)
{
    static char suffixes[] = "*.jobs.example,*.Local";
    struct web *t = *state;

    t->settings.hosts = suffixes;
    host_is(t, "a.jobs.example", 404);
    host_is(t, "a.b.Jobs.example:8080", 404);
    host_is(t, "tandem.default.svc.cluster.local", 404);
    host_is(t, "jobs.example", 403);
    host_is(t, ".jobs.example", 403);
    host_is(t, "ajobs.example", 403);
    host_is(t, "a.jobs.example.evil.example", 403);
}

static void host_is_not_checked_if_all_are_allowed(void **state)
{
    static char all[] = "jobs.example *";
    struct web *t = *state;

    t->settings.hosts = all;
    host_is(t, "evil.example", 404);
    host_is(t, "jobs.example", 404);
    host_is(t, "localhost:65536", 404);
    asks(t->a, SLICE("GET / HTTP/1.0\r\n\r\n"), 404);
}

static void a_host_that_is_taken_off_the_list_is_refused(void **state)
{
    struct web *t = *state;
    char *before = t->settings.hosts;

    t->settings.hosts = hosts;
    host_is(t, "broker.example", 404);
    t->settings.hosts = before;
    host_is(t, "broker.example", 403);
}

static void a_wrong_host_is_refused_whatever_is_asked(void **state)
{
    struct web *t = *state;

    asks(t->a, SLICE("POST /f HTTP/1.1\r\nHost: evil.example\r\n" BACKGROUND "\r\n"), 403);
    asks(t->a, SLICE("OPTIONS /f HTTP/1.1\r\nHost: evil.example\r\n\r\n"), 403);
    asks(t->a, SLICE("GET /-/jobs/x HTTP/1.1\r\nHost: evil.example\r\n\r\n"), 403);
    stays(t->a, asks(t->a,
                     SLICE("GET /f HTTP/1.0\r\nConnection: keep-alive\r\n"
                           "Host: evil.example\r\n\r\n"),
                     403));
    asks(t->a, SLICE("POST /f HTTP/1.0\r\n" BACKGROUND "\r\n"), 200);
    assert_int_equal(http_jobs(t), 1);
}

//
// Pages of browsers
//

static void a_request_of_an_unknown_page_is_refused(void **state)
{
    struct web *t = *state;

    stays(t->a, asks(t->a, http_get("/f", "Origin: https://app.example\r\n"), 403));
    asks(t->a, http_get("/f", "Origin: null\r\n"), 403);
    asks(t->a, http_get("/f", "Origin: http://localhost:8080\r\n"), 403);
    asks(t->a, http_get("/f", "Origin:\r\n"), 403);
    t->settings.cors_origins = origins;
    asks(t->a, http_get("/f", "Origin: https://app.example.evil\r\n"), 403);
    asks(t->a, http_get("/f", "Origin: http://app.example\r\n"), 403);
    asks(t->a, http_get("/f", "Origin: https://app.example:443\r\n"), 403);
    asks(t->a, http_get("/f", "Origin: null\r\n"), 403);
    asks(t->a, http_get("/f", "Origin: *\r\n"), 403);
    asks(t->a, http_get("/f", "Origin: https://app.example, http://other.example:81\r\n"), 403);
    assert_int_equal(http_jobs(t), 0);
}

static void a_page_that_is_named_may_call_and_see_the_answer(void **state)
{
    struct web *t = *state;
    const struct http_answer *answer;

    t->settings.cors_origins = origins;
    answer = asks(t->a, POST("/f", BACKGROUND "Origin: https://app.example\r\n", ""), 200);
    field_is(answer, "Access-Control-Allow-Origin", "https://app.example");
    field_is(answer, "Access-Control-Expose-Headers",
             "X-Gearman-Job-Handle, X-Gearman-Command, X-Gearman-Unique, X-Tandem-Queue, "
             "X-Tandem-Attempt, X-Tandem-Deadline, X-Tandem-Lease");
    field_is(answer, "Vary", "Origin");
    answer = asks(t->a, http_get("/", "Origin: http://other.example:81\r\n"), 404);
    field_is(answer, "Access-Control-Allow-Origin", "http://other.example:81");
    waits(t->a, POST("/f", "Origin: https://app.example\r\nSec-Fetch-Site: cross-site\r\n", "x"));
    http_can_do(t->w, "f");
    grabs(t->w, "f", "");
    gear_says(t->w, REQ(WORK_COMPLETE, grabs(t->w, "f", "x"), "r"), NOTHING);
    field_is(answered(t->a, 200), "Access-Control-Allow-Origin", "https://app.example");
}

static void answers_vary_by_origin_where_origins_are_named(void **state)
{
    struct web *t = *state;
    const struct http_answer *answer = asks(t->a, http_get("/", ""), 404);

    field_is(answer, "Vary", NULL);
    t->settings.cors_origins = origins;
    answer = asks(t->a, http_get("/", ""), 404);
    field_is(answer, "Vary", "Origin");
    field_is(answer, "Access-Control-Allow-Origin", NULL);
}

static void an_asterisk_names_every_page(void **state)
{
    struct web *t = *state;

    t->settings.cors_origins = everybody;
    field_is(asks(t->a, http_get("/", "Origin: http://a.b\r\n"), 404),
             "Access-Control-Allow-Origin", "http://a.b");
    field_is(asks(t->a, http_get("/", "Origin: null\r\n"), 404), "Access-Control-Allow-Origin",
             "null");
}

static void an_origin_that_is_none_is_not_echoed(void **state)
{
    static const char *const bad[] = {"http://\xff", "a\tb", "http://a b"};
    struct web *t = *state;
    char headers[100];

    t->settings.cors_origins = everybody;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct slice heard;
        struct http_answer answer;

        (void)snprintf(headers, sizeof headers, "Origin: %s\r\n", bad[i]);
        heard = peer_ask(t->a, http_get("/", headers));
        assert_true(http_take(&heard, false, &answer));
        field_is(&answer, "Access-Control-Allow-Origin", NULL);
    }
}

static void a_preflight_is_answered_where_the_origin_is_named(void **state)
{
    struct web *t = *state;
    const struct http_answer *answer;

    t->settings.cors_origins = origins;
    answer = asks(t->a,
                  http_bare("OPTIONS", "/f",
                            "Origin: https://app.example\r\nAccess-Control-Request-Method: POST\r\n"
                            "Access-Control-Request-Headers: x-gearman-unique\r\n"),
                  204);
    field_is(answer, "Access-Control-Allow-Origin", "https://app.example");
    field_is(answer, "Access-Control-Allow-Methods", "GET, POST, PUT, DELETE");
    assert_non_null(
        strstr(http_field(answer, "Access-Control-Allow-Headers").ptr, "X-Gearman-Unique"));
    assert_non_null(http_field(answer, "Allow").ptr);
    answer = asks(t->a,
                  http_bare("OPTIONS", "/f",
                            "Origin: https://evil.example\r\n"
                            "Access-Control-Request-Method: POST\r\n"),
                  204);
    field_is(answer, "Access-Control-Allow-Origin", NULL);
    field_is(answer, "Access-Control-Allow-Methods", NULL);
}

static void without_an_origin_a_page_of_another_site_is_refused(void **state)
{
    struct web *t = *state;

    asks(t->a, http_get("/f", "Sec-Fetch-Site: cross-site\r\n"), 403);
    asks(t->a, http_get("/f", "Sec-Fetch-Site: same-site\r\n"), 403);
    asks(t->a, http_get("/f", "Sec-Fetch-Site: \r\n"), 403);
    asks(t->a, http_get("/f", "Sec-Fetch-Site: none, cross-site\r\n"), 403);
    t->settings.cors_origins = everybody;
    asks(t->a, http_get("/f", "Sec-Fetch-Site: cross-site\r\n"), 403);
    asks(t->a, POST("/f", BACKGROUND "Sec-Fetch-Site: same-origin\r\n", ""), 200);
    asks(t->a, POST("/f", BACKGROUND "Sec-Fetch-Site: None\r\n", ""), 200);
    assert_int_equal(http_jobs(t), 2);
}

static void a_page_of_another_site_is_known_by_its_address(void **state)
{
    static const char *const foreign[] = {"http://evil.example/",
                                          "https://evil.example",
                                          "http://localhost:8080/",
                                          "http://localhost.evil.example/x",
                                          "http://evil@localhost/",
                                          "http://evil.example?http://localhost/",
                                          "http://evil.example#@/",
                                          "http://",
                                          "http:///localhost/",
                                          "about:blank",
                                          "localhost",
                                          "//localhost/",
                                          "data:text/html,localhost",
                                          "http://localhost\\@evil.example/"};
    struct web *t = *state;
    char headers[200];

    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
        (void)snprintf(headers, sizeof headers, "Referer: %s\r\n", foreign[i]);
        asks(t->a, http_get("/f", headers), 403);
    }
    asks(t->a, POST("/f", BACKGROUND "Referer: http://evil.example/\r\n", ""), 403);
    asks(t->a, http_bare("DELETE", PAGE "1", "Referer: http://evil.example/\r\n"), 403);
    asks(t->a, SLICE("GET /f HTTP/1.0\r\nReferer: http://localhost/\r\n\r\n"), 403);
    assert_int_equal(http_jobs(t), 0);
}

static void a_referer_of_our_own_or_of_a_named_page_may_call(void **state)
{
    struct web *t = *state;

    asks(t->a, POST("/f", BACKGROUND "Referer: http://localhost/page?q\r\n", ""), 200);
    asks(t->a, POST("/f", BACKGROUND "Referer: HTTPS://LocalHost\r\n", ""), 200);
    asks(t->a, POST("/f", BACKGROUND "Referer:\r\n", ""), 200);
    asks(t->a, POST("/f", BACKGROUND "Referer: http://x/\r\nSec-Fetch-Site: none\r\n", ""), 200);
    t->settings.cors_origins = origins;
    asks(t->a, POST("/f", BACKGROUND "Referer: https://app.example/page\r\n", ""), 200);
    asks(t->a, POST("/f", BACKGROUND "Referer: http://app.example/page\r\n", ""), 403);
    asks(t->a, POST("/f", BACKGROUND "Referer: http://other.example:81/\r\n", ""), 200);
    asks(t->a, POST("/f", BACKGROUND "Referer: http://localhost/\r\nOrigin: http://x\r\n", ""),
         403);
    assert_int_equal(http_jobs(t), 6);
}

static void a_job_is_not_shown_to_an_unknown_page(void **state)
{
    struct web *t = *state;

    asks(t->a, POST("/f", BACKGROUND, ""), 200);
    asks(t->a, http_get(PAGE "1", "Origin: http://x\r\n"), 403);
    asks(t->a, http_bare("DELETE", PAGE "1", "Sec-Fetch-Site: cross-site\r\n"), 403);
    assert_int_equal(http_jobs(t), 1);
}

//
// http.functions
//

static void only_what_is_offered_is_submitted(void **state)
{
    static char offered[] = "mail-*, image/thumb, ?x";
    struct web *t = *state;

    t->settings.functions = offered;
    asks(t->a, POST("/mail-send", BACKGROUND, ""), 200);
    asks(t->a, POST("/mail-", BACKGROUND, ""), 200);
    asks(t->a, POST("/image/thumb", BACKGROUND, ""), 200);
    asks(t->a, POST("/ax", BACKGROUND, ""), 200);
    asks(t->a, POST("/mail-a%2fb", BACKGROUND, ""), 200);
    stays(t->a, asks(t->a, http_get("/f", ""), 403));
    asks(t->a, POST("/mail", BACKGROUND, ""), 403);
    asks(t->a, POST("/xmail-", BACKGROUND, ""), 403);
    asks(t->a, POST("/image/thumbs", BACKGROUND, ""), 403);
    asks(t->a, POST("/x", BACKGROUND, ""), 403);
    asks(t->a, POST("/%2a", BACKGROUND, ""), 403);
    assert_int_equal(http_jobs(t), 5);
    asks(t->a, http_get(PAGE "1", ""), 200);
}

static void offers_are_globs_of_bytes(void **state)
{
    static char offered[] = "[a-c]? [!x-z]- \\*\\? caf\xc3[\xa0-\xaf] [";
    struct web *t = *state;

    t->settings.functions = offered;
    asks(t->a, POST("/bx", BACKGROUND, ""), 200);
    asks(t->a, POST("/c%ff", BACKGROUND, ""), 200);
    asks(t->a, POST("/%80-", BACKGROUND, ""), 200);
    asks(t->a, POST("/*%3f", BACKGROUND, ""), 200);
    asks(t->a, POST("/caf%c3%a9", BACKGROUND, ""), 200);
    asks(t->a, POST("/dx", BACKGROUND, ""), 403);
    asks(t->a, POST("/y-", BACKGROUND, ""), 403);
    asks(t->a, POST("/aa%3f", BACKGROUND, ""), 403);
    asks(t->a, POST("/caf%c3%b0", BACKGROUND, ""), 403);
    asks(t->a, POST("/%5b", BACKGROUND, ""), 403);
    assert_int_equal(http_jobs(t), 5);
}

// A job page must give the same answer as for a handle of no job.
static void is_unknown(struct web *t, const char *method, const char *target)
{
    const struct http_answer *none = asks(t->a, http_bare(method, PAGE "999", ""), 404);
    const struct http_answer *answer = asks(t->a, http_bare(method, target, ""), 404);

    assert_int_equal(answer->len, none->len);
    assert_memory_equal(answer->body.ptr, none->body.ptr, none->body.len);
}

static void a_job_of_a_function_that_is_not_offered_is_not_there(void **state)
{
    static char offered[] = "mail-*";
    struct web *t = *state;

    gear_says(t->v, REQ(SUBMIT_JOB_BG, "f", "", "x"), RES(JOB_CREATED, H(1)));
    gear_says(t->v, REQ(SUBMIT_JOB_BG, "f", "", "y"), RES(JOB_CREATED, H(2)));
    gear_says(t->v, REQ(SUBMIT_JOB_BG, "mail-send", "", "z"), RES(JOB_CREATED, H(3)));
    http_can_do(t->w, "f");
    (void)grabs(t->w, "f", "x");
    t->settings.functions = offered;
    is_unknown(t, "GET", PAGE "1");
    is_unknown(t, "DELETE", PAGE "1");
    is_unknown(t, "GET", PAGE "2");
    is_unknown(t, "DELETE", PAGE "2");
    assert_int_equal(http_jobs(t), 3);
    asks(t->a, http_get(PAGE "3", ""), 200);
    asks(t->a, http_bare("DELETE", PAGE "3", ""), 204);
    assert_int_equal(http_jobs(t), 2);
}

//
// Requests that browsers and monitors make on their own
//

static const char *const probes[] = {"/favicon.ico",
                                     "/robots.txt",
                                     "/metrics",
                                     "/healthz",
                                     "/livez",
                                     "/readyz",
                                     "/.well-known/x",
                                     "/apple-touch-icon.png",
                                     "/%6detrics",
                                     "//metrics",
                                     "http://localhost/metrics"};

static void what_is_asked_for_unasked_is_no_job(void **state)
{
    struct web *t = *state;

    for (size_t i = 0; i < sizeof probes / sizeof *probes; i++) {
        stays(t->a, asks(t->a, http_get(probes[i], ""), 404));
        asks(t->a, POST(probes[i], BACKGROUND, ""), 404);
    }
    assert_int_equal(http_jobs(t), 0);
    asks(t->a, POST("/metrics2", BACKGROUND, ""), 200);
    asks(t->a, POST("/a/metrics", BACKGROUND, ""), 200);
}

static void what_a_worker_has_announced_is_a_function_whatever_its_name(void **state)
{
    struct web *t = *state;

    http_can_do(t->w, "metrics");
    waits(t->a, http_get("/metrics", ""));
    (void)grabs(t->w, "metrics", "");
    asks(t->b, http_get("/healthz", ""), 404);
}

static void what_is_offered_is_a_function_whatever_its_name(void **state)
{
    static char offered[] = "f health*";
    struct web *t = *state;

    t->settings.functions = offered;
    asks(t->a, POST("/healthz", BACKGROUND, ""), 200);
    asks(t->a, POST("/metrics", BACKGROUND, ""), 403);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        HTTP(a_host_is_an_address_or_localhost),
        HTTP(a_load_balancer_may_ask_under_any_name_of_the_host),
        HTTP(any_other_host_is_refused),
        HTTP(more_hosts_may_be_configured),
        HTTP(hosts_with_a_suffix_may_be_configured),
        HTTP(host_is_not_checked_if_all_are_allowed),
        HTTP(a_host_that_is_taken_off_the_list_is_refused),
        HTTP(a_wrong_host_is_refused_whatever_is_asked),
        HTTP(a_request_of_an_unknown_page_is_refused),
        HTTP(a_page_that_is_named_may_call_and_see_the_answer),
        HTTP(answers_vary_by_origin_where_origins_are_named),
        HTTP(an_asterisk_names_every_page),
        HTTP(an_origin_that_is_none_is_not_echoed),
        HTTP(a_preflight_is_answered_where_the_origin_is_named),
        HTTP(without_an_origin_a_page_of_another_site_is_refused),
        HTTP(a_page_of_another_site_is_known_by_its_address),
        HTTP(a_referer_of_our_own_or_of_a_named_page_may_call),
        HTTP(a_job_is_not_shown_to_an_unknown_page),
        HTTP(only_what_is_offered_is_submitted),
        HTTP(offers_are_globs_of_bytes),
        HTTP(a_job_of_a_function_that_is_not_offered_is_not_there),
        HTTP(what_is_asked_for_unasked_is_no_job),
        HTTP(what_a_worker_has_announced_is_a_function_whatever_its_name),
        HTTP(what_is_offered_is_a_function_whatever_its_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
