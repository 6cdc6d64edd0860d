/* SPDX-License-Identifier: MIT */

// Several jobs in one answer.

#include "tests/proto_http/wire_work.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MULTIPART "Accept: multipart/mixed\r\n"

static void submit(struct web *t, const char *headers, struct slice body)
{
    char all[200];

    (void)snprintf(all, sizeof all, BACKGROUND "%s", headers);
    asks(t->b, http_post("/f", all, body), 200);
}

// The list of jobs in an answer.
static json_t *jobs_of(const struct http_answer *answer)
{
    json_t *document = json_loadb(answer->body.ptr, answer->body.len, 0, NULL);
    json_t *jobs;

    assert_non_null(document);
    field_is(answer, "Content-Type", "application/json");
    jobs = json_incref(json_object_get(document, "jobs"));
    json_decref(document);
    assert_true(json_is_array(jobs));
    return jobs;
}

static const char *text_in(const json_t *jobs, size_t at, const char *name)
{
    return json_string_value(json_object_get(json_array_get(jobs, at), name));
}

static const char *body_in(const json_t *jobs, size_t at, const char *name)
{
    return json_string_value(
        json_object_get(json_object_get(json_array_get(jobs, at), "body"), name));
}

static void a_batch_has_all_that_a_worker_has_to_know_of_each_job(void **state)
{
    struct web *t = *state;
    json_t *jobs;

    submit(t, "X-Gearman-Unique: u\r\nX-Gearman-Ttr: 30\r\n", SLICE("caf\xc3\xa9 \"\n"));
    submit(t, "", SLICE("\xff\0\1"));
    submit(t, "", SLICE(""));
    jobs = jobs_of(asks(t->a, ASK("/-/work?queue=f&max=10"), 200));
    assert_int_equal(json_array_size(jobs), 3);
    assert_string_equal(text_in(jobs, 0, "handle"), H(1));
    assert_string_equal(text_in(jobs, 0, "unique"), "u");
    assert_null(text_in(jobs, 1, "unique"));
    assert_string_equal(text_in(jobs, 0, "queue"), "f");
    assert_int_equal(json_integer_value(json_object_get(json_array_get(jobs, 0), "attempt")), 1);
    assert_int_equal(json_integer_value(json_object_get(json_array_get(jobs, 0), "deadline")),
                     1700000030000);
    assert_string_equal(body_in(jobs, 0, "encoding"), "text");
    assert_string_equal(body_in(jobs, 0, "data"), "caf\xc3\xa9 \"\n");
    assert_string_equal(body_in(jobs, 1, "encoding"), "base64");
    assert_string_equal(body_in(jobs, 1, "data"), "/wAB");
    assert_string_equal(body_in(jobs, 2, "data"), "");
    for (size_t i = 0; i < 3; i++) {
        tells(t->a, text_in(jobs, i, "lease"), "complete", "", 204);
        assert_int_equal(http_jobs(t), 2 - i);
        tells(t->a, text_in(jobs, i, "lease"), "complete", "", 410);
    }
    json_decref(jobs);
}

static void a_batch_has_no_more_than_it_asks_for(void **state)
{
    struct web *t = *state;
    json_t *jobs;

    for (int i = 0; i < 5; i++) {
        submit(t, "", SLICE("x"));
    }
    for (size_t max = 1; max <= 3; max++) {
        char target[100];

        (void)snprintf(target, sizeof target, "/-/work?queue=f&max=%zu", max);
        jobs = jobs_of(asks(t->a, ASK(target), 200));
        assert_int_equal(json_array_size(jobs), max < 3 ? max : 2);
        json_decref(jobs);
    }
    asks(t->a, ASK("/-/work?queue=f&max=3"), 204);
}

static void a_batch_waits_for_its_first_job_only(void **state)
{
    struct web *t = *state;
    json_t *jobs;

    waits(t->a, ASK("/-/work?queue=f&max=3&wait=30"));
    submit(t, "", SLICE("x"));
    jobs = jobs_of(answered(t->a, 200));
    assert_int_equal(json_array_size(jobs), 1);
    json_decref(jobs);
    waits(t->a, ASK("/-/work?queue=f&max=3&wait=30"));
    rig_advance(t->rig, SECONDS(30));
    answered(t->a, 204);
}

static void leases_of_a_batch_end_one_by_one(void **state)
{
    struct web *t = *state;
    struct broker_info before, after;
    json_t *jobs;

    broker_info(rig_broker(t->rig), &before);
    submit(t, "X-Gearman-Ttr: 10\r\n", SLICE("x"));
    submit(t, "X-Gearman-Ttr: 20\r\n", SLICE("x"));
    submit(t, "X-Gearman-Ttr: 30\r\n", SLICE("x"));
    jobs = jobs_of(asks(t->a, ASK("/-/work?queue=f&max=3"), 200));
    rig_advance(t->rig, SECONDS(10));
    tells(t->a, text_in(jobs, 0, "lease"), "complete", "", 410);
    tells(t->a, text_in(jobs, 1, "lease"), "complete", "", 204);
    rig_advance(t->rig, SECONDS(19));
    tells(t->a, text_in(jobs, 2, "lease"), "touch", "", 204);
    rig_advance(t->rig, SECONDS(30));
    tells(t->a, text_in(jobs, 2, "lease"), "touch", "", 410);
    rig_run(t->rig);
    json_decref(jobs);
    broker_info(rig_broker(t->rig), &after);
    assert_int_equal(after.sessions, before.sessions);
}

static void a_batch_counts_each_of_its_leases(void **state)
{
    struct web *t = *state;
    json_t *jobs;

    t->settings.max_leases = 3;
    for (int i = 0; i < 5; i++) {
        submit(t, "", SLICE("x"));
    }
    jobs = jobs_of(asks(t->a, ASK("/-/work?queue=f&max=5"), 200));
    assert_int_equal(json_array_size(jobs), 3);
    asks(t->a, ASK("/-/work?queue=f&max=5"), 503);
    tells(t->a, text_in(jobs, 1, "lease"), "fail", "", 204);
    json_decref(jobs);
    jobs = jobs_of(asks(t->a, ASK("/-/work?queue=f&max=5"), 200));
    assert_int_equal(json_array_size(jobs), 1);
    json_decref(jobs);
}

static void large_bodies_end_a_batch_before_it_is_full(void **state)
{
    enum { LARGE = 600000 };
    struct web *t = *state;
    json_t *jobs;

    for (int i = 0; i < 4; i++) {
        submit(t, "", slice_of(gear_run('b', LARGE), LARGE));
    }
    t->settings.idle_timeout = 0;
    peer_send(t->a, work_post("/-/work?queue=f&max=4", MULTIPART));
    rig_run(t->rig);
    assert_true(peer_hear(t->a).len < 2 * LARGE + 2000);
    assert_int_equal(http_job(t, 2).state, JOB_RESERVED);
    assert_int_equal(http_job(t, 3).state, JOB_READY);
    assert_int_equal(broker_cancel(rig_broker(t->rig), NULL, 3, false), STATUS_OK);
    jobs = jobs_of(asks(t->a, ASK("/-/work?queue=f&max=4"), 200));
    assert_int_equal(strlen(body_in(jobs, 0, "data")), LARGE);
    json_decref(jobs);
}

static void a_client_that_goes_before_it_has_all_of_a_batch_has_none_of_it(void **state)
{
    enum { LARGE = 900000 };
    struct web *t = *state;

    for (int i = 0; i < 2; i++) {
        submit(t, "", slice_of(gear_run('\1', LARGE), LARGE));
    }
    peer_stop_reading(t->a);
    peer_send(t->a, ASK("/-/work?queue=f&max=2"));
    rig_run(t->rig);
    assert_int_equal(http_job(t, 1).state, JOB_RESERVED);
    assert_int_equal(http_job(t, 2).state, JOB_RESERVED);
    assert_true(peer_holds(t->a) > LARGE);
    peer_free(t->a);
    assert_int_equal(http_job(t, 1).state, JOB_READY);
    assert_int_equal(http_job(t, 2).state, JOB_READY);
}

static void jobs_that_go_while_a_batch_is_written_are_in_it_all_the_same(void **state)
{
    enum { LARGE = 500000 };
    const struct job_act act = {.kind = ACT_DELETE};
    struct web *t = *state;
    struct broker_info before, after;

    broker_info(rig_broker(t->rig), &before);
    for (int i = 0; i < 2; i++) {
        submit(t, "", slice_of(gear_run('\1', LARGE), LARGE));
    }
    peer_stop_reading(t->a);
    peer_send(t->a, ASK("/-/work?queue=f&max=2"));
    rig_run(t->rig);
    assert_int_equal(broker_act(rig_broker(t->rig), NULL, 1, &act), STATUS_OK);
    assert_int_equal(broker_act(rig_broker(t->rig), NULL, 2, &act), STATUS_OK);
    rig_run(t->rig);
    peer_read_again(t->a);
    assert_true(peer_hear(t->a).len > (size_t)2 * 6 * LARGE);
    rig_run(t->rig);
    broker_info(rig_broker(t->rig), &after);
    assert_int_equal(after.sessions, before.sessions);
}

static void a_broker_that_stops_gives_the_jobs_of_an_unfinished_batch_back(void **state)
{
    enum { LARGE = 500000 };
    struct web *t = *state;

    submit(t, "", slice_of(gear_run('\1', LARGE), LARGE));
    peer_stop_reading(t->a);
    peer_send(t->a, ASK("/-/work?queue=f&max=2"));
    rig_run(t->rig);
    rig_stop(t->rig);
    assert_int_equal(http_job(t, 1).state, JOB_READY);
}

//
// multipart/mixed
//

// The rest behind that text, which must be the beginning.
static struct slice behind(struct slice rest, const char *text)
{
    size_t len = strlen(text);

    assert_true(rest.len >= len);
    assert_memory_equal(rest.ptr, text, len);
    return slice_from(rest, len);
}

static void a_multipart_batch_has_bodies_as_they_are(void **state)
{
    struct web *t = *state;
    const struct http_answer *answer;
    struct slice type, rest;
    char delimiter[40], token[23] = "";

    submit(t, "X-Gearman-Unique: u\r\nX-Gearman-Ttr: 30\r\n", SLICE("\xff\0--\r\n"));
    submit(t, "X-Gearman-Ttr: 30\r\n", SLICE(""));
    answer = asks(t->a, work_post("/-/work?queue=f&max=9", MULTIPART), 200);
    type = http_field(answer, "Content-Type");
    type = behind(type, "multipart/mixed; boundary=");
    assert_int_equal(type.len, 22);
    (void)snprintf(delimiter, sizeof delimiter, "--%.*s", (int)type.len, type.ptr);
    rest = behind(answer->body, delimiter);
    rest = behind(rest, "\r\nContent-Type: application/octet-stream\r\nContent-Length: 6\r\n"
                        "X-Gearman-Job-Handle: " GEAR_PREFIX "1\r\nX-Gearman-Unique: u\r\n"
                        "X-Tandem-Queue: f\r\nX-Tandem-Attempt: 1\r\n"
                        "X-Tandem-Deadline: 1700000030000\r\nX-Tandem-Lease: ");
    memcpy(token, rest.ptr, 22);
    rest = behind(slice_from(rest, 22), "\r\n\r\n\xff");
    assert_memory_equal(rest.ptr, "\0--\r\n", 5);
    rest = behind(behind(slice_from(rest, 5), "\r\n"), delimiter);
    rest = behind(rest, "\r\nContent-Type: application/octet-stream\r\nContent-Length: 0\r\n"
                        "X-Gearman-Job-Handle: " GEAR_PREFIX "2\r\nX-Tandem-Queue: f\r\n"
                        "X-Tandem-Attempt: 1\r\nX-Tandem-Deadline: 1700000030000\r\n"
                        "X-Tandem-Lease: ");
    rest = behind(behind(slice_from(rest, 22), "\r\n\r\n\r\n"), delimiter);
    rest = behind(rest, "--\r\n");
    assert_int_equal(rest.len, 0);
    tells(t->a, token, "complete", "", 204);
    assert_int_equal(http_jobs(t), 1);
}

static void a_batch_is_json_unless_the_request_names_multipart(void **state)
{
    static const char *const accepts[] = {"", "Accept: */*\r\n", "Accept: application/json\r\n",
                                          "Accept: multipart/form-data\r\n"};
    struct web *t = *state;

    for (size_t i = 0; i < sizeof accepts / sizeof *accepts; i++) {
        submit(t, "", SLICE("x"));
        json_decref(jobs_of(asks(t->a, work_post("/-/work?queue=f&max=1", accepts[i]), 200)));
    }
    submit(t, "", SLICE("x"));
    body_is(asks(t->a, work_post("/-/work?queue=f", MULTIPART), 200), "x");
}

static void a_batch_ends_with_the_connection_on_1_0(void **state)
{
    struct web *t = *state;
    json_t *jobs;

    submit(t, "", SLICE("x"));
    peer_send(t->a, SLICE("POST /-/work?queue=f&max=2 HTTP/1.0\r\n\r\n"));
    rig_run(t->rig);
    assert_true(peer_closed(t->a));
    jobs = jobs_of(answered(t->a, 200));
    assert_int_equal(json_array_size(jobs), 1);
    tells(t->b, text_in(jobs, 0, "lease"), "complete", "", 204);
    json_decref(jobs);
}

static void what_a_batch_shows_waits_for_the_store(void **state)
{
    struct web *t = *state;

    rig_hold_store(t->rig);
    waits(t->b, MANY(POST("/f", BACKGROUND, "x"), POST("/f", BACKGROUND, "y")));
    waits(t->a, ASK("/-/work?queue=f&max=1"));
    waits(t->a, work_post("/-/work?queue=f&max=1", MULTIPART));
    rig_reach_to(t->rig, 1);
    json_decref(jobs_of(answered(t->a, 200)));
    rig_reach(t->rig);
    answered(t->a, 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        HTTP(a_batch_has_all_that_a_worker_has_to_know_of_each_job),
        HTTP(a_batch_has_no_more_than_it_asks_for),
        HTTP(a_batch_waits_for_its_first_job_only),
        HTTP(leases_of_a_batch_end_one_by_one),
        HTTP(a_batch_counts_each_of_its_leases),
        HTTP(large_bodies_end_a_batch_before_it_is_full),
        HTTP(a_client_that_goes_before_it_has_all_of_a_batch_has_none_of_it),
        HTTP(jobs_that_go_while_a_batch_is_written_are_in_it_all_the_same),
        HTTP(a_broker_that_stops_gives_the_jobs_of_an_unfinished_batch_back),
        HTTP(a_multipart_batch_has_bodies_as_they_are),
        HTTP(a_batch_is_json_unless_the_request_names_multipart),
        HTTP(a_batch_ends_with_the_connection_on_1_0),
        HTTP(what_a_batch_shows_waits_for_the_store),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
