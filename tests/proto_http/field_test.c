/* SPDX-License-Identifier: MIT */

// The headers of a request, with valid and invalid values.

#include "tests/proto_http/wire_http.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HELD "Host: localhost\r\n"
#define BACKGROUND "X-Gearman-Background: true\r\n"

// A submission with these headers is refused, and the answer names the one that is wrong.
static void refuses(struct web *t, const char *headers, const char *name)
{
    char start[100];
    const struct http_answer *answer = asks(t->a, POST("/f", headers, ""), 400);

    (void)snprintf(start, sizeof start, "{\"error\": \"%s ", name);
    if (answer->body.len < strlen(start) || memcmp(answer->body.ptr, start, strlen(start)) != 0) {
        fail_msg("%s: %.*s", headers, (int)answer->body.len, answer->body.ptr);
    }
    field_is(answer, "X-Gearman-Command", "ERROR");
    field_is(answer, "X-Gearman-Job-Handle", NULL);
    assert_int_equal(http_jobs(t), 0);
    stays(t->a, answer);
}

// A background job with these headers besides: how it stands.
static struct job_info accepts(struct web *t, const char *headers)
{
    static uint64_t id;
    char all[1000];
    const struct http_answer *answer;

    (void)snprintf(all, sizeof all, BACKGROUND "%s", headers);
    answer = asks(t->a, POST("/f", all, "x"), 200);
    field_is(answer, "X-Gearman-Command", "JOB_CREATED");
    id = strtoull(http_field(answer, "X-Gearman-Job-Handle").ptr + strlen(GEAR_PREFIX), NULL, 10);
    return http_job(t, id);
}

//
// X-Gearman-Unique
//

static void a_unique_is_a_key_of_the_function(void **state)
{
    struct web *t = *state;
    struct job_info info = accepts(t, "X-Gearman-Unique: u\r\n");

    assert_int_equal(info.key_kind, KEY_NAME);
    assert_true(slice_equal(info.key, SLICE("u")));
    assert_int_equal(accepts(t, "X-Gearman-Unique: u\r\n").id, info.id);
    assert_int_not_equal(accepts(t, "X-Gearman-Unique: U\r\n").id, info.id);
    assert_int_equal(accepts(t, "x-gEARMAN-uNIQUE:\t u \t\r\n").id, info.id);
    assert_int_equal(http_jobs(t), 2);
}

static void without_a_unique_every_request_is_its_own_job(void **state)
{
    struct web *t = *state;

    accepts(t, "");
    assert_int_equal(accepts(t, "").key_kind, KEY_NONE);
    assert_int_equal(accepts(t, "X-Gearman-Unique:\r\n").key_kind, KEY_NONE);
    assert_int_equal(accepts(t, "X-Gearman-Unique:  \t \r\n").key_kind, KEY_NONE);
    assert_int_equal(http_jobs(t), 4);
}

static void a_dash_keys_on_the_body(void **state)
{
    struct web *t = *state;

    assert_int_equal(accepts(t, "X-Gearman-Unique: -\r\n").key_kind, KEY_CONTENT);
    accepts(t, "X-Gearman-Unique: -\r\n");
    assert_int_equal(http_jobs(t), 1);
    asks(t->a, POST("/f", BACKGROUND "X-Gearman-Unique: -\r\n", "y"), 200);
    asks(t->a, POST("/g", BACKGROUND "X-Gearman-Unique: -\r\n", "x"), 200);
    accepts(t, "X-Gearman-Unique: --\r\n");
    assert_int_equal(http_jobs(t), 4);
}

static void a_unique_has_at_most_64_bytes(void **state)
{
    struct web *t = *state;
    char headers[200];

    (void)snprintf(headers, sizeof headers, "X-Gearman-Unique: %s\r\n", gear_run('u', 65));
    refuses(t, headers, "X-Gearman-Unique");
    (void)snprintf(headers, sizeof headers, "X-Gearman-Unique: %s\r\n", gear_run('u', 64));
    assert_int_equal(accepts(t, headers).key.len, 64);
}

//
// X-Gearman-Background
//

static void a_background_job_is_accepted_at_once_and_kept(void **state)
{
    static const char *const yes[] = {"true", "1", "yes", "TRUE", "Yes", "  true  "};
    struct web *t = *state;
    char headers[100];

    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++) {
        const struct http_answer *answer;

        (void)snprintf(headers, sizeof headers, "X-Gearman-Background: %s\r\n", yes[i]);
        answer = asks(t->a, POST("/f", headers, "x"), 200);
        field_is(answer, "X-Gearman-Command", "JOB_CREATED");
        field_is(answer, "X-Gearman-Job-Handle", gear_handle(i + 1));
        field_is(answer, "Content-Length", "0");
        assert_true(http_job(t, i + 1).durable);
        assert_int_equal(http_job(t, i + 1).watches, 0);
    }
    peer_free(t->a);
    t->a = NULL;
    assert_int_equal(http_jobs(t), 6);
}

static void other_words_for_no_are_foreground(void **state)
{
    static const char *const no[] = {"false", "0", "no", "False", ""};
    struct web *t = *state;
    char headers[100];

    for (size_t i = 0; i < sizeof no / sizeof *no; i++) {
        (void)snprintf(headers, sizeof headers, "X-Gearman-Background:%s\r\n", no[i]);
        waits(t->a, POST("/f", headers, "x"));
        http_completes(t->w, "x", "r");
        field_is(answered(t->a, 200), "X-Gearman-Command", "WORK_COMPLETE");
    }
}

static void what_is_neither_is_refused(void **state)
{
    struct web *t = *state;

    refuses(t, "X-Gearman-Background: maybe\r\n", "X-Gearman-Background");
    refuses(t, "X-Gearman-Background: 2\r\n", "X-Gearman-Background");
    refuses(t, "X-Gearman-Background: true false\r\n", "X-Gearman-Background");
    refuses(t, "X-Gearman-Background: tru\r\n", "X-Gearman-Background");
    refuses(t, "X-Gearman-Background: \xff\r\n", "X-Gearman-Background");
}

//
// X-Gearman-Priority
//

static void a_priority_is_a_word_or_a_number(void **state)
{
    struct web *t = *state;

    assert_int_equal(accepts(t, "").pri, PRI_NORMAL);
    assert_int_equal(accepts(t, "X-Gearman-Priority: high\r\n").pri, PRI_HIGH);
    assert_int_equal(accepts(t, "X-Gearman-Priority: HIGH\r\n").pri, PRI_HIGH);
    assert_int_equal(accepts(t, "X-Gearman-Priority: normal\r\n").pri, PRI_NORMAL);
    assert_int_equal(accepts(t, "X-Gearman-Priority: low\r\n").pri, PRI_LOW);
    assert_int_equal(accepts(t, "X-Gearman-Priority: 0\r\n").pri, 0);
    assert_int_equal(accepts(t, "X-Gearman-Priority: 0042\r\n").pri, 42);
    assert_int_equal(accepts(t, "X-Gearman-Priority: 4294967295\r\n").pri, UINT32_MAX);
}

static void the_most_urgent_job_is_given_first(void **state)
{
    struct web *t = *state;

    asks(t->a, POST("/f", BACKGROUND "X-Gearman-Priority: low\r\n", "low"), 200);
    asks(t->a, POST("/f", BACKGROUND, "normal"), 200);
    asks(t->a, POST("/f", BACKGROUND "X-Gearman-Priority: high\r\n", "high"), 200);
    asks(t->a, POST("/f", BACKGROUND "X-Gearman-Priority: 511\r\n", "511"), 200);
    http_can_do(t->w, "f");
    grabs(t->w, "f", "511");
    grabs(t->w, "f", "high");
    grabs(t->w, "f", "normal");
    grabs(t->w, "f", "low");
}

static void what_is_no_priority_is_refused(void **state)
{
    struct web *t = *state;

    refuses(t, "X-Gearman-Priority: highest\r\n", "X-Gearman-Priority");
    refuses(t, "X-Gearman-Priority: -1\r\n", "X-Gearman-Priority");
    refuses(t, "X-Gearman-Priority: +1\r\n", "X-Gearman-Priority");
    refuses(t, "X-Gearman-Priority: 1.5\r\n", "X-Gearman-Priority");
    refuses(t, "X-Gearman-Priority: 0x10\r\n", "X-Gearman-Priority");
    refuses(t, "X-Gearman-Priority: 4294967296\r\n", "X-Gearman-Priority");
    refuses(t, "X-Gearman-Priority: 18446744073709551616\r\n", "X-Gearman-Priority");
    refuses(t, "X-Gearman-Priority: 99999999999999999999999\r\n", "X-Gearman-Priority");
    refuses(t, "X-Gearman-Priority:\r\n", "X-Gearman-Priority");
}

//
// X-Gearman-Delay, X-Gearman-Epoch
//

static void a_delay_holds_the_job_back(void **state)
{
    struct web *t = *state;
    struct job_info info = accepts(t, "X-Gearman-Delay: 5\r\n");

    assert_int_equal(info.state, JOB_DELAYED);
    assert_int_equal(info.delay_for, SECONDS(5));
    rig_set_clock(t->rig, SECONDS(100));
    assert_int_equal(http_job(t, 1).state, JOB_DELAYED);
    rig_advance(t->rig, SECONDS(5) - 1);
    assert_int_equal(http_job(t, 1).state, JOB_DELAYED);
    rig_advance(t->rig, 1);
    assert_int_equal(http_job(t, 1).state, JOB_READY);
    assert_int_equal(accepts(t, "X-Gearman-Delay: 0\r\n").state, JOB_READY);
    assert_int_equal(accepts(t, "X-Gearman-Delay: 4294967295\r\n").state, JOB_DELAYED);
}

static void an_epoch_is_a_moment_of_the_wall_clock(void **state)
{
    struct web *t = *state;

    assert_int_equal(accepts(t, "X-Gearman-Epoch: 1700000060\r\n").state, JOB_DELAYED);
    assert_int_equal(accepts(t, "X-Gearman-Epoch: 1700000000\r\n").state, JOB_READY);
    assert_int_equal(accepts(t, "X-Gearman-Epoch: 0\r\n").state, JOB_READY);
    assert_int_equal(accepts(t, "X-Gearman-Epoch: 9223372036\r\n").state, JOB_DELAYED);
    rig_set_clock(t->rig, SECONDS(59));
    assert_int_equal(http_job(t, 1).state, JOB_DELAYED);
    rig_set_clock(t->rig, SECONDS(1));
    rig_advance(t->rig, SECONDS(1));
    assert_int_equal(http_job(t, 1).state, JOB_READY);
}

static void delays_and_moments_are_numbers(void **state)
{
    struct web *t = *state;

    refuses(t, BACKGROUND "X-Gearman-Delay: -1\r\n", "X-Gearman-Delay");
    refuses(t, BACKGROUND "X-Gearman-Delay: 4294967296\r\n", "X-Gearman-Delay");
    refuses(t, BACKGROUND "X-Gearman-Delay: 5s\r\n", "X-Gearman-Delay");
    refuses(t, BACKGROUND "X-Gearman-Delay: \r\n", "X-Gearman-Delay");
    refuses(t, BACKGROUND "X-Gearman-Epoch: soon\r\n", "X-Gearman-Epoch");
    refuses(t, BACKGROUND "X-Gearman-Epoch: 1e9\r\n", "X-Gearman-Epoch");
    refuses(t, BACKGROUND "X-Gearman-Epoch: 9223372037\r\n", "X-Gearman-Epoch");
    refuses(t, BACKGROUND "X-Gearman-Epoch:\r\n", "X-Gearman-Epoch");
}

static void only_background_jobs_are_put_off(void **state)
{
    struct web *t = *state;

    refuses(t, "X-Gearman-Delay: 1\r\n", "X-Gearman-Delay");
    refuses(t, "X-Gearman-Delay: 0\r\n", "X-Gearman-Delay");
    refuses(t, "X-Gearman-Epoch: 1700000060\r\n", "X-Gearman-Epoch");
    refuses(t, "X-Gearman-Background: no\r\nX-Gearman-Epoch: 1\r\n", "X-Gearman-Epoch");
}

static void a_delay_and_a_moment_exclude_each_other(void **state)
{
    struct web *t = *state;

    refuses(t, BACKGROUND "X-Gearman-Delay: 1\r\nX-Gearman-Epoch: 1\r\n", "X-Gearman-Delay");
    refuses(t, BACKGROUND "X-Gearman-Epoch: 0\r\nX-Gearman-Delay: 0\r\n", "X-Gearman-Delay");
}

//
// X-Gearman-Ttr, X-Gearman-Timeout
//

static void a_ttr_ends_what_a_worker_holds(void **state)
{
    struct web *t = *state;

    assert_int_equal(accepts(t, "").ttr_for, 0);
    assert_int_equal(accepts(t, "X-Gearman-Ttr: 7\r\n").ttr_for, SECONDS(7));
    http_can_do(t->w, "f");
    grabs(t->w, "f", "x");
    grabs(t->w, "f", "x");
    rig_advance(t->rig, SECONDS(8));
    assert_int_equal(http_job(t, 1).state, JOB_RESERVED);
    assert_int_equal(http_job(t, 2).state, JOB_READY);
    assert_int_equal(http_job(t, 2).timeouts, 1);
}

static void ttrs_and_timeouts_are_numbers(void **state)
{
    static const char *const bad[] = {"-1", "1.5", "4294967296", "x", "", "1 2"};
    struct web *t = *state;
    char headers[100];

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        (void)snprintf(headers, sizeof headers, "X-Gearman-Ttr: %s\r\n", bad[i]);
        refuses(t, headers, "X-Gearman-Ttr");
        (void)snprintf(headers, sizeof headers, "X-Gearman-Timeout: %s\r\n", bad[i]);
        refuses(t, headers, "X-Gearman-Timeout");
    }
    assert_int_equal(accepts(t, "X-Gearman-Ttr: 4294967295\r\n").ttr_for,
                     SECONDS(INT64_C(4294967295)));
    assert_int_equal(accepts(t, "X-Gearman-Ttr: 0\r\nX-Gearman-Timeout: 4294967295\r\n").ttr_for,
                     0);
}

//
// All of them
//

static void what_says_one_thing_is_there_once(void **state)
{
    static const char *const names[] = {
        "X-Gearman-Unique", "X-Gearman-Background", "X-Gearman-Priority", "X-Gearman-Delay",
        "X-Gearman-Epoch",  "X-Gearman-Ttr",        "X-Gearman-Timeout"};
    struct web *t = *state;
    char headers[200];

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        (void)snprintf(headers, sizeof headers, "%s: 1\r\n%s: 1\r\n", names[i], names[i]);
        refuses(t, headers, names[i]);
    }
}

static void headers_that_mean_nothing_here_are_passed_over(void **state)
{
    struct web *t = *state;

    accepts(t, "X-Gearman-Uniques: u\r\nIdempotency-Keys: k\r\nX-Gearman: 1\r\n"
               "User-Agent: \x80\xff\t\"\r\nX:\r\n!#$%&'*+-.^_`|~09azAZ: x\r\n");
    assert_int_equal(http_job(t, 1).key_kind, KEY_NONE);
}

static void headers_of_a_background_job_go_together(void **state)
{
    struct web *t = *state;
    struct job_info info =
        accepts(t, "X-Gearman-Unique: u\r\nX-Gearman-Priority: 7\r\nX-Gearman-Delay: 3\r\n"
                   "X-Gearman-Ttr: 9\r\nX-Gearman-Timeout: 1\r\nAccept: text/event-stream\r\n");

    assert_int_equal(info.pri, 7);
    assert_int_equal(info.delay_for, SECONDS(3));
    assert_int_equal(info.ttr_for, SECONDS(9));
    assert_int_equal(info.key_kind, KEY_NAME);
}

// gearmand's own tests write a whole line in quotes.
static void a_header_whose_name_is_no_token_means_nothing(void **state)
{
    static const char odd[] = "\"X-Gearman-Background: true\"\r\n";
    static const char two[] = "(a): b\r\nX-Gearman-Priority: high\r\n{c}: d\r\n";
    struct web *t = *state;

    waits(t->a, POST("/f", odd, "x"));
    waits(t->b, http_get("/f?y", two));
    assert_int_equal(http_job(t, 2).pri, PRI_HIGH);
    http_can_do(t->w, "f");
    (void)grabs(t->w, "f", "y");
    gear_says(t->w, REQ(WORK_COMPLETE, grabs(t->w, "f", "x"), "r"), NOTHING);
    stays(t->a, answered(t->a, 200));
}

static void odd_headers_may_follow_one_another(void **state)
{
    static const char *const heads[] = {
        "GET /f?x HTTP/1.1\r\n\"a\": b\r\n(c): d\r\n{e}: f\r\n" HELD "\r\n",
        "GET /f?x HTTP/1.1\r\n" HELD "\"a\": b\r\n(c): d\r\n\r\n",
        "GET /f?x HTTP/1.1\r\n" HELD "@: b\r\nX-Gearman-Priority: low\r\n@: b\r\n@: b\r\n\r\n"};
    struct web *t = *state;

    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        struct peer *peer = peer_new(t->rig);

        waits(peer, slice_str(heads[i]));
        assert_int_equal(http_jobs(t), 1);
        peer_free(peer);
        assert_int_equal(http_jobs(t), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        HTTP(a_unique_is_a_key_of_the_function),
        HTTP(without_a_unique_every_request_is_its_own_job),
        HTTP(a_dash_keys_on_the_body),
        HTTP(a_unique_has_at_most_64_bytes),
        HTTP(a_background_job_is_accepted_at_once_and_kept),
        HTTP(other_words_for_no_are_foreground),
        HTTP(what_is_neither_is_refused),
        HTTP(a_priority_is_a_word_or_a_number),
        HTTP(the_most_urgent_job_is_given_first),
        HTTP(what_is_no_priority_is_refused),
        HTTP(a_delay_holds_the_job_back),
        HTTP(an_epoch_is_a_moment_of_the_wall_clock),
        HTTP(delays_and_moments_are_numbers),
        HTTP(only_background_jobs_are_put_off),
        HTTP(a_delay_and_a_moment_exclude_each_other),
        HTTP(a_ttr_ends_what_a_worker_holds),
        HTTP(ttrs_and_timeouts_are_numbers),
        HTTP(what_says_one_thing_is_there_once),
        HTTP(headers_that_mean_nothing_here_are_passed_over),
        HTTP(headers_of_a_background_job_go_together),
        HTTP(a_header_whose_name_is_no_token_means_nothing),
        HTTP(odd_headers_may_follow_one_another),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
