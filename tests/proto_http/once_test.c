/* SPDX-License-Identifier: MIT */

// Requests with an Idempotency-Key: carried out once, answered as often as they are made.

#include "core/memo.h"

#include "proto_http/once.h"

#include "tests/proto_common/record_quota.h"
#include "tests/proto_http/wire_rules.h"
#include "tests/proto_http/wire_work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY(key) BACKGROUND "Idempotency-Key: " key "\r\n"

// The answer is that of the job with this id.
static void is_job(const struct http_answer *answer, const char *handle)
{
    field_is(answer, "X-Gearman-Job-Handle", handle);
    field_is(answer, "X-Gearman-Command", "JOB_CREATED");
    body_is(answer, "");
}

static void the_same_request_again_is_answered_again_and_makes_no_second_job(void **state)
{
    struct web *t = *state;

    for (int i = 0; i < 3; i++) {
        is_job(asks(i ? t->b : t->a, POST("/f", KEY("k"), "body"), 200), H(1));
    }
    assert_int_equal(http_jobs(t), 1);
    http_completes(t->w, "body", "");
    assert_int_equal(http_jobs(t), 0);
    is_job(asks(t->a, POST("/f", KEY("k"), "body"), 200), H(1));
    is_job(asks(t->a, http_chunked("/f", KEY("k"), SLICE("body")), 200), H(1));
    assert_int_equal(http_jobs(t), 0);
    is_job(asks(t->a, POST("/f", KEY("other"), "body"), 200), H(2));
    assert_int_equal(http_jobs(t), 1);
}

static void another_request_with_that_key_is_422(void **state)
{
    struct web *t = *state;

    asks(t->a, POST("/f", KEY("k"), "body"), 200);
    field_is(asks(t->a, POST("/f", KEY("k"), "bodY"), 422), "X-Gearman-Command", NULL);
    asks(t->a, POST("/f", KEY("k"), ""), 422);
    asks(t->a, POST("/g", KEY("k"), "body"), 422);
    asks(t->a,
         SLICE("PUT /f HTTP/1.1\r\nHost: localhost\r\n" KEY("k") "Content-Length: 4\r\n\r\nbody"),
         422);
    t->settings.status_codes = WEB_CODES_GEARMAND;
    asks(t->a, POST("/g", KEY("k"), "body"), 422);
    assert_int_equal(http_jobs(t), 1);
    assert_null(broker_queue_find(rig_broker(t->rig), SLICE("g")));
}

static void an_answer_is_kept_for_as_long_as_the_setting_says(void **state)
{
    struct web *t = *state;

    t->settings.idempotency_for = SECONDS(100);
    t->settings.idle_timeout = 0;
    asks(t->a, POST("/f", KEY("k"), "body"), 200);
    http_completes(t->w, "body", "");
    rig_advance(t->rig, SECONDS(99));
    is_job(asks(t->a, POST("/f", KEY("k"), "body"), 200), H(1));
    rig_advance(t->rig, SECONDS(1));
    is_job(asks(t->a, POST("/f", KEY("k"), "another"), 200), H(2));
}

static void what_was_refused_is_carried_out_when_it_is_made_again(void **state)
{
    struct web *t = *state;

    broker_drain(rig_broker(t->rig));
    asks(t->a, POST("/f", KEY("k"), "body"), 503);
    broker_end_drain(rig_broker(t->rig));
    is_job(asks(t->a, POST("/f", KEY("k"), "another"), 200), H(1));
    broker_drain(rig_broker(t->rig));
    is_job(asks(t->a, POST("/f", KEY("k"), "another"), 200), H(1));
}

static void what_cannot_be_remembered_is_not_done(void **state)
{
    struct web *t = *state;

    // Room for the job alone.
    t->store_room = 1;
    field_is(asks(t->a, POST("/f", KEY("k"), "body"), 503), "Retry-After", "1");
    assert_int_equal(http_jobs(t), 0);
    t->store_room = RECORD_QUOTA_PLENTY;
    broker_memo_limit(rig_broker(t->rig), MEMO_ANSWER, 10);
    asks(t->a, POST("/f", KEY("k"), "body"), 503);
    assert_int_equal(http_jobs(t), 0);
    broker_memo_limit(rig_broker(t->rig), MEMO_ANSWER, 10000);
    asks(t->a, POST("/f", KEY("k"), "body"), 200);
    assert_int_equal(http_jobs(t), 1);
}

static void a_worker_that_waits_does_not_get_what_is_not_remembered(void **state)
{
    struct web *t = *state;

    waits(t->b, ASK("/-/work?queue=f&wait=30"));
    broker_memo_limit(rig_broker(t->rig), MEMO_ANSWER, 10);
    asks(t->a, POST("/f", KEY("k"), "body"), 503);
    silent(t->b);
    broker_memo_limit(rig_broker(t->rig), MEMO_ANSWER, 10000);
    asks(t->a, POST("/f", KEY("k"), "body"), 200);
    body_is(answered(t->b, 200), "body");
}

static void an_answer_that_is_given_again_waits_for_the_store_as_the_first(void **state)
{
    struct web *t = *state;

    rig_hold_store(t->rig);
    waits(t->a, POST("/f", KEY("k"), "body"));
    waits(t->b, POST("/f", KEY("k"), "body"));
    rig_reach_to(t->rig, 1); // the job, but not what is remembered of it
    silent(t->a);
    silent(t->b);
    rig_reach(t->rig);
    is_job(answered(t->a, 200), H(1));
    is_job(answered(t->b, 200), H(1));
    is_job(asks(t->b, POST("/f", KEY("k"), "body"), 200), H(1));
}

static void each_owner_of_a_token_has_keys_of_its_own(void **state)
{
    struct web *t = *state;

    token_may(t, "beta", MAY_SUBMIT, "*");
    anybody_may(t, MAY_SUBMIT, "*");
    is_job(asks(t->a, POST("/f", KEY("k") ALPHA, "x"), 200), H(1));
    is_job(asks(t->a, POST("/f", KEY("k") BEARER("beta"), "y"), 200), H(2));
    is_job(asks(t->a, POST("/f", KEY("k"), "z"), 200), H(3));
    is_job(asks(t->b, POST("/f", KEY("k") ALPHA, "x"), 200), H(1));
    is_job(asks(t->b, POST("/f", KEY("k"), "z"), 200), H(3));
    asks(t->b, POST("/f", KEY("k") ALPHA, "y"), 422);
    asks(t->b, POST("/g", KEY("k") ALPHA, "x"), 403);
}

// Sends requests with keys of their own, as the caller in `fields`, until one is refused with this
// status and Retry-After. Returns the number of accepted requests.
static int floods(struct web *t, const char *fields, char prefix, unsigned status,
                  const char *retry_after)
{
    struct http_answer answer;
    char headers[200];
    int count = 0;

    for (;; count++) {
        struct slice heard;

        (void)snprintf(headers, sizeof headers, BACKGROUND "Idempotency-Key: %c%d\r\n%s", prefix,
                       count, fields);
        peer_send(t->a, http_post("/f", headers, SLICE("x")));
        rig_run(t->rig);
        heard = peer_hear(t->a);
        assert_true(http_take(&heard, false, &answer));
        if (answer.status != 200) {
            assert_int_equal(answer.status, status);
            field_is(&answer, "Retry-After", retry_after);
            return count;
        }
    }
}

static void a_caller_that_asks_without_end_leaves_room_to_others(void **state)
{
    struct memo_usage usage;
    struct web *t = *state;

    t->settings.idempotency_for = SECONDS(100);
    t->settings.idle_timeout = 0;
    token_may(t, "beta", MAY_SUBMIT, "*");
    anybody_may(t, MAY_SUBMIT, "*");
    asks(t->a, POST("/f", KEY("first") ALPHA, "x"), 200);
    broker_memo_usage(rig_broker(t->rig), MEMO_ANSWER, &usage);
    broker_memo_limit(rig_broker(t->rig), MEMO_ANSWER, 41 * usage.bytes);
    rig_advance(t->rig, SECONDS(30));
    assert_int_equal(floods(t, ALPHA, 'a', 429, "70"), 20);
    assert_int_equal(floods(t, BEARER("beta"), 'b', 429, "70"), 10);
    assert_int_equal(floods(t, "", 'c', 429, "70"), 5);
    // A refused request has left no job.
    assert_int_equal(http_jobs(t), 36);
    // With the others there, more than one answer has to be forgotten.
    assert_int_equal(floods(t, ALPHA, 'd', 429, "100"), 0);
    rig_advance(t->rig, SECONDS(70));
    assert_int_equal(floods(t, ALPHA, 'd', 429, "30"), 0);
    assert_int_equal(floods(t, "", 'e', 429, "30"), 1);
    rig_advance(t->rig, SECONDS(30));
    assert_int_equal(floods(t, ALPHA, 'd', 429, "70"), 20);
}

// On a connection of its own, which closes since the body is not waited for.
static void refuses(struct web *t, struct slice said)
{
    struct peer *peer = peer_new(t->rig);

    asks(peer, said, 400);
    peer_free(peer);
}

static void what_makes_no_sense_is_400(void **state)
{
    struct web *t = *state;
    char headers[400];

    refuses(t, POST("/f", "Idempotency-Key: k\r\n", "x"));
    refuses(t, POST("/f", KEY(""), "x"));
    refuses(t, POST("/f", KEY("k") "X-Gearman-Unique: u\r\n", "x"));
    refuses(t, POST("/f", KEY("k") "Idempotency-Key: k\r\n", "x"));
    refuses(t, http_get("/f?x", KEY("k")));
    (void)snprintf(headers, sizeof headers, KEY("%s"), gear_run('k', 255));
    asks(t->a, POST("/f", headers, "x"), 200);
    (void)snprintf(headers, sizeof headers, KEY("%s"), gear_run('k', 256));
    refuses(t, POST("/f", headers, "x"));
    t->settings.idempotency_for = 0;
    refuses(t, POST("/f", KEY("k"), "x"));
    assert_int_equal(http_jobs(t), 1);
}

static void long_bodies_are_compared_to_their_last_byte(void **state)
{
    enum { LONG = 600001 };
    struct web *t = *state;
    char *body = strndup(gear_run('b', LONG), LONG);

    assert_non_null(body);
    is_job(asks(t->a, http_post("/f", KEY("k"), slice_of(body, LONG)), 200), H(1));
    is_job(asks(t->a, http_post("/f", KEY("k"), slice_of(body, LONG)), 200), H(1));
    is_job(asks(t->a, http_chunked("/f", KEY("k"), slice_of(body, LONG)), 200), H(1));
    asks(t->a, http_post("/f", KEY("k"), slice_of(body, LONG - 1)), 422);
    body[LONG - 1] = 'c';
    asks(t->a, http_post("/f", KEY("k"), slice_of(body, LONG)), 422);
    body[LONG - 1] = 'b';
    body[300000] = 'c';
    asks(t->a, http_post("/f", KEY("k"), slice_of(body, LONG)), 422);
    assert_int_equal(http_jobs(t), 1);
    free(body);
}

// After a power cut between the two records: the job, without the memo of its key.
static void forget(struct web *t)
{
    struct job_info info = http_job(t, 1);

    assert_int_equal(info.key_kind, KEY_NAME);
    assert_int_equal(broker_memo_drop(rig_broker(t->rig), MEMO_ANSWER, info.key), STATUS_OK);
}

static void a_request_that_is_not_remembered_joins_its_job_while_that_lives(void **state)
{
    struct web *t = *state;

    asks(t->a, POST("/f", KEY("k"), "body"), 200);
    forget(t);
    is_job(asks(t->a, POST("/f", KEY("k"), "body"), 200), H(1));
    assert_int_equal(http_jobs(t), 1);
    http_completes(t->w, "body", "");
    is_job(asks(t->a, POST("/f", KEY("k"), "body"), 200), H(1));
    assert_int_equal(http_jobs(t), 0);
}

static void a_start_remembers_the_last_job_before_anybody_can_finish_it(void **state)
{
    struct web *t = *state;
    const struct web_shared begun = {
        .http1 = {.broker = rig_broker(t->rig)},
        .options = &t->settings,
    };

    asks(t->a, POST("/f", KEY("k"), "body"), 200);
    forget(t);
    web_once_mend(&begun);
    http_completes(t->w, "body", "");
    is_job(asks(t->a, POST("/f", KEY("k"), "body"), 200), H(1));
    assert_int_equal(http_jobs(t), 0);
}

static void a_start_leaves_jobs_alone_that_no_key_was_shown_for(void **state)
{
    struct web *t = *state;
    const struct web_shared begun = {
        .http1 = {.broker = rig_broker(t->rig)},
        .options = &t->settings,
    };
    struct memo_usage usage;

    web_once_mend(&begun);
    asks(t->a, POST("/f", BACKGROUND "X-Gearman-Unique: u\r\n", "body"), 200);
    web_once_mend(&begun);
    broker_memo_usage(rig_broker(t->rig), MEMO_ANSWER, &usage);
    assert_int_equal(usage.count, 0);
    asks(t->a, POST("/f", KEY("k"), "body"), 200);
    web_once_mend(&begun);
    asks(t->a, POST("/f", KEY("k"), "another"), 422);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        HTTP(the_same_request_again_is_answered_again_and_makes_no_second_job),
        HTTP(another_request_with_that_key_is_422),
        HTTP(an_answer_is_kept_for_as_long_as_the_setting_says),
        HTTP(what_was_refused_is_carried_out_when_it_is_made_again),
        HTTP(what_cannot_be_remembered_is_not_done),
        HTTP(a_worker_that_waits_does_not_get_what_is_not_remembered),
        HTTP(an_answer_that_is_given_again_waits_for_the_store_as_the_first),
        RULES(each_owner_of_a_token_has_keys_of_its_own),
        RULES(a_caller_that_asks_without_end_leaves_room_to_others),
        HTTP(what_makes_no_sense_is_400),
        HTTP(long_bodies_are_compared_to_their_last_byte),
        HTTP(a_request_that_is_not_remembered_joins_its_job_while_that_lives),
        HTTP(a_start_remembers_the_last_job_before_anybody_can_finish_it),
        HTTP(a_start_leaves_jobs_alone_that_no_key_was_shown_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
