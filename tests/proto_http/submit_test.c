/* SPDX-License-Identifier: MIT */

// The job of a request: methods, paths, and their decoded names.

#include "tests/proto_http/wire_http.h"

#include <stdio.h>

static void a_post_is_a_foreground_job_whose_result_is_the_answer(void **state)
{
    struct web *t = *state;

    waits(t->a, POST("/f", "", "Hello world!"));
    assert_false(http_job(t, 1).durable);
    assert_int_equal(http_job(t, 1).pri, PRI_NORMAL);
    http_completes(t->w, "Hello world!", "!dlrow olleH");
    body_is(answered(t->a, 200), "!dlrow olleH");
}

static void an_answer_is_this_to_the_byte(void **state)
{
    struct web *t = *state;
    const char *expected = "HTTP/1.1 200 OK\r\n"
                           "Server: Tandem/0.1.0\r\n"
                           "Date: Tue, 14 Nov 2023 22:13:20 GMT\r\n"
                           "X-Gearman-Job-Handle: H:test.host:1\r\n"
                           "X-Gearman-Command: WORK_COMPLETE\r\n"
                           "Content-Type: application/octet-stream\r\n"
                           "Content-Length: 6\r\n"
                           "\r\n"
                           "result";

    waits(t->a, POST("/f", "", "x"));
    http_completes(t->w, "x", "result");
    assert_string_equal(peer_hear(t->a).ptr, expected);
}

static void the_date_follows_the_wall_clock(void **state)
{
    struct web *t = *state;

    field_is(asks(t->a, http_get("/", ""), 404), "Date", "Tue, 14 Nov 2023 22:13:20 GMT");
    rig_set_clock(t->rig, SECONDS(86400 * 107 - 80000));
    field_is(asks(t->a, http_get("/", ""), 404), "Date", "Thu, 29 Feb 2024 00:00:00 GMT");
    rig_set_clock(t->rig, -SECONDS(1));
    field_is(asks(t->a, http_get("/", ""), 404), "Date", "Wed, 28 Feb 2024 23:59:59 GMT");
}

static void a_put_is_the_same(void **state)
{
    struct web *t = *state;

    waits(t->a, SLICE("PUT /f HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\nx"));
    http_completes(t->w, "x", "r");
    body_is(answered(t->a, 200), "r");
}

static void a_body_without_a_length_is_empty(void **state)
{
    struct web *t = *state;

    waits(t->a, http_bare("POST", "/f", ""));
    http_completes(t->w, "", "r");
    body_is(answered(t->a, 200), "r");
}

static void a_body_in_chunks_is_put_together(void **state)
{
    struct web *t = *state;

    waits(t->a, SLICE("POST /f HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: Chunked\r\n\r\n"
                      "3\r\nabc\r\n00a\r\n0123456789\r\n1\r\n!\r\n000\r\n\r\n"));
    http_completes(t->w, "abc0123456789!", "r");
    body_is(answered(t->a, 200), "r");
    waits(t->a, SLICE("POST /f HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
                      "0\r\n\r\n"));
    http_completes(t->w, "", "r");
    body_is(answered(t->a, 200), "r");
}

// A job of function `f` with that workload is what the GET submits.
static void get_submits(struct web *t, const char *target, const char *workload)
{
    waits(t->a, http_get(target, ""));
    http_completes(t->w, workload, "r");
    body_is(answered(t->a, 200), "r");
}

static void the_query_of_a_get_is_decoded_once(void **state)
{
    struct web *t = *state;

    get_submits(t, "/f?Hello%20world!", "Hello world!");
    get_submits(t, "/f", "");
    get_submits(t, "/f?", "");
    get_submits(t, "/f?a=1&b=%3d+%2B", "a=1&b==++");
    get_submits(t, "/f?%2520", "%20");
    get_submits(t, "/f?a?b??c", "a?b??c");
    get_submits(t, "/f??", "?");
    get_submits(t, "/f?%4a%4B%0d%0a", "JK\r\n");
    get_submits(t, "/f?a/b/-/c", "a/b/-/c");
}

static void a_query_may_have_any_byte(void **state)
{
    struct web *t = *state;

    http_can_do(t->w, "f");
    waits(t->a, http_get("/f?%00%ff%80", ""));
    gear_says(t->w, REQ(GRAB_JOB),
              gear_raw("RES", 11, 19, slice_of("H:test.host:1\0f\0\0\xff\x80", 19)));
}

static void a_query_with_half_an_escape_is_refused(void **state)
{
    static const char *const targets[] = {"/f?%",   "/f?%2",    "/f?%2g",
                                          "/f?%g2", "/f?a%%20", "/f?%+1"};
    struct web *t = *state;

    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        const struct http_answer *answer = asks(t->a, http_get(targets[i], ""), 400);

        field_is(answer, "X-Gearman-Command", "ERROR");
        stays(t->a, answer);
    }
    assert_int_equal(http_jobs(t), 0);
}

// A request to that target is a job of that function.
static void names(struct web *t, const char *target, const char *function)
{
    waits(t->a, http_get(target, ""));
    http_can_do(t->w, function);
    gear_says(t->w, REQ(WORK_COMPLETE, grabs(t->w, function, ""), "r"), NOTHING);
    body_is(answered(t->a, 200), "r");
}

static void the_path_decoded_once_is_the_function(void **state)
{
    struct web *t = *state;

    names(t, "/a/b", "a/b");
    names(t, "//c", "c");
    names(t, "///d//", "d//");
    names(t, "/%65", "e");
    names(t, "/%2565", "%65");
    names(t, "/g%2fh", "g/h");
    names(t, "/%2fi", "/i");
    names(t, "/j%20k", "j k");
    names(t, "/+", "+");
    names(t, "/%3f%23", "?#");
    names(t, "/%c3%A9", "\xc3\xa9");
    names(t, "/%ff", "\xff");
    names(t, "/../l", "../l");
    names(t, "/-", "-");
    names(t, "/-m/", "-m/");
    names(t, "/a/-/b", "a/-/b");
}

static void an_absolute_target_counts_by_its_path(void **state)
{
    struct web *t = *state;

    names(t, "http://localhost/f", "f");
    names(t, "http://other.example:81/a/b", "a/b");
    names(t, "HTTPS://x//c", "c");
    asks(t->a, http_get("http://localhost", ""), 404);
    asks(t->a, http_get("http://localhost/-/x", ""), 404);
    get_submits(t, "http://localhost/f?a%20b", "a b");
}

static void a_path_that_is_no_name_is_refused(void **state)
{
    static const char *const targets[] = {"/%00", "/a%00", "/%", "/%4", "/%zz", "/f#x", "/f#"};
    struct web *t = *state;

    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        asks(t->a, http_get(targets[i], ""), 400);
        peer_free(t->a);
        t->a = peer_new(t->rig);
    }
    assert_int_equal(http_jobs(t), 0);
}

static void a_target_must_be_a_path(void **state)
{
    static const char *const targets[] = {"f", "f/g", "*x", "**", "localhost:80", "?x", "%2ff"};
    struct web *t = *state;

    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        asks(t->a, POST(targets[i], "", "x"), 400);
        peer_free(t->a);
        t->a = peer_new(t->rig);
    }
    assert_int_equal(http_jobs(t), 0);
}

static void names_end_at_512_bytes(void **state)
{
    struct web *t = *state;
    char target[2000];
    const char *longest = gear_run('n', QUEUE_NAME_MAX);

    (void)snprintf(target, sizeof target, "/%s", longest);
    names(t, target, longest);
    (void)snprintf(target, sizeof target, "/%s%%6e", gear_run('n', QUEUE_NAME_MAX - 1));
    names(t, target, longest);
    (void)snprintf(target, sizeof target, "/%sn", longest);
    field_is(asks(t->a, http_get(target, ""), 400), "X-Gearman-Command", "ERROR");
    (void)snprintf(target, sizeof target, "/%s%%6e", longest);
    asks(t->a, http_get(target, ""), 400);
}

static void the_root_names_no_function(void **state)
{
    struct web *t = *state;

    asks(t->a, http_get("/", ""), 404);
    asks(t->a, http_get("//", ""), 404);
    asks(t->a, http_get("/?x", ""), 404);
    asks(t->a, POST("/", "", ""), 404);
    asks(t->a, http_bare("DELETE", "/", ""), 404);
    stays(t->a, asks(t->a, http_bare("PUT", "/", ""), 404));
}

static void what_is_ours_is_never_a_function(void **state)
{
    static const char *const targets[] = {
        "/-/",           "/-/x",        "/-/jobs",     "/-/jobs/", "//-/jobs/",
        "/%2d/",         "/%2d/jobs/1", "/-%2fjobs/1", "/-%2F",    "/-/%6aobs/H:test.host:1",
        "/-/Jobs/H:a:1", "/-/jobs%2f1",
    };
    struct web *t = *state;

    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        asks(t->a, http_get(targets[i], ""), 404);
        asks(t->a, POST(targets[i], "", ""), 404);
    }
    assert_int_equal(http_jobs(t), 0);
}

static void only_a_get_has_a_query_and_it_has_no_body(void **state)
{
    struct web *t = *state;

    field_is(asks(t->a, POST("/f?x", "", ""), 400), "X-Gearman-Command", "ERROR");
    asks(t->a, POST("/f?", "", ""), 400);
    asks(t->a, http_bare("PUT", "/f?x", ""), 400);
    ends(t->a, asks(t->a, SLICE("GET /f HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\nx"),
                    400));
    ends(t->b, asks(t->b,
                    SLICE("GET /f HTTP/1.1\r\nHost: localhost\r\n"
                          "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
                    400));
    assert_int_equal(http_jobs(t), 0);
}

static void a_get_may_say_that_it_has_no_body(void **state)
{
    struct web *t = *state;

    waits(t->a, http_get("/f?x", "Content-Length: 0\r\n"));
    http_completes(t->w, "x", "r");
    answered(t->a, 200);
}

static void other_methods_are_told_what_there_is(void **state)
{
    static const char *const methods[] = {"PATCH", "TRACE", "PROPFIND", "get",  "Post",
                                          "GETX",  "GE",    "X-Y",      "LINK", "DELET"};
    struct web *t = *state;

    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        field_is(asks(t->a, http_bare(methods[i], "/f", ""), 405), "Allow",
                 "GET, POST, PUT, OPTIONS");
        peer_free(t->a);
        t->a = peer_new(t->rig);
    }
    field_is(asks(t->a, http_bare("DELETE", "/f", ""), 405), "Allow", "GET, POST, PUT, OPTIONS");
    assert_int_equal(http_jobs(t), 0);
}

static void jobs_count_by_their_function_however_it_is_spelt(void **state)
{
    struct web *t = *state;

    waits(t->a, POST("/f", "X-Gearman-Unique: u\r\n", "1"));
    waits(t->b, POST("//%66", "X-Gearman-Unique: u\r\n", "2"));
    assert_int_equal(http_jobs(t), 1);
    assert_int_equal(http_job(t, 1).watches, 2);
}

static void a_large_body_is_given_as_it_came(void **state)
{
    struct web *t = *state;
    const char *body = gear_run('b', 300000);
    struct slice said = http_post("/f", "", slice_of(body, 300000));

    for (size_t at = 0; at < said.len; at += 50000) {
        waits(t->a, slice_of(said.ptr + at, said.len - at < 50000 ? said.len - at : 50000));
    }
    http_completes(t->w, body, body);
    assert_int_equal(answered(t->a, 200)->body.len, 300000);
    waits(t->a, http_chunked("/f", "", slice_of(body, 300000)));
    http_completes(t->w, body, "r");
    body_is(answered(t->a, 200), "r");
}

static void a_function_goes_with_its_last_job(void **state)
{
    struct web *t = *state;

    waits(t->a, POST("/f", "", "x"));
    asks(t->b, http_bare("DELETE", "/-/jobs/" GEAR_PREFIX "1", ""), 204);
    answered(t->a, 410);
    gear_says(t->v, SLICE("status\n"), SLICE(".\n"));
}

static void a_refused_request_makes_no_function(void **state)
{
    struct web *t = *state;

    asks(t->a, POST("/f", "X-Gearman-Ttr: x\r\n", ""), 400);
    broker_drain(rig_broker(t->rig));
    asks(t->a, POST("/f", "", ""), 503);
    gear_says(t->v, SLICE("status\n"), SLICE(".\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        HTTP(a_post_is_a_foreground_job_whose_result_is_the_answer),
        HTTP(an_answer_is_this_to_the_byte),
        HTTP(the_date_follows_the_wall_clock),
        HTTP(a_put_is_the_same),
        HTTP(a_body_without_a_length_is_empty),
        HTTP(a_body_in_chunks_is_put_together),
        HTTP(the_query_of_a_get_is_decoded_once),
        HTTP(a_query_may_have_any_byte),
        HTTP(a_query_with_half_an_escape_is_refused),
        HTTP(the_path_decoded_once_is_the_function),
        HTTP(an_absolute_target_counts_by_its_path),
        HTTP(a_path_that_is_no_name_is_refused),
        HTTP(a_target_must_be_a_path),
        HTTP(names_end_at_512_bytes),
        HTTP(the_root_names_no_function),
        HTTP(what_is_ours_is_never_a_function),
        HTTP(only_a_get_has_a_query_and_it_has_no_body),
        HTTP(a_get_may_say_that_it_has_no_body),
        HTTP(other_methods_are_told_what_there_is),
        HTTP(jobs_count_by_their_function_however_it_is_spelt),
        HTTP(a_large_body_is_given_as_it_came),
        HTTP(a_function_goes_with_its_last_job),
        HTTP(a_refused_request_makes_no_function),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
