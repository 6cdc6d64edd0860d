/* SPDX-License-Identifier: MIT */

// The replies that wait for the store, and those that do not. The store of this test is behind, and
// catches up when the test says so.

#include "tests/proto_http/wire_http.h"

#include <stdio.h>
#include <string.h>

#define UNIQUE "X-Gearman-Unique: u\r\n"
#define BACKGROUND "X-Gearman-Background: 1\r\n"
#define STREAM "Accept: text/event-stream\r\n"
#define PAGE(id) "/-/jobs/" GEAR_PREFIX #id
#define EVENT(number, name)                                                                        \
    "id: " #number "\nevent: " name "\ndata: {\"handle\":\"" GEAR_PREFIX "1\""

#define BEHIND(test) cmocka_unit_test_setup_teardown(test, behind_setup, http_teardown)
static int behind_setup(void **state)
{
    http_setup(state);
    rig_hold_store(((struct web *)*state)->rig);
    return 0;
}

// The peer asks, and is answered with that status when the store has caught up, not before.
static const struct http_answer *holds(struct web *t, struct peer *peer, struct slice said,
                                       unsigned status)
{
    waits(peer, said);
    rig_reach(t->rig);
    return answered(peer, status);
}

// Something of a stranger's is on its way to the store.
static void fall_behind(struct web *t)
{
    gear_says(t->v, REQ(SUBMIT_JOB_BG, "stranger", "", ""), NOTHING);
}

// The worker `w` has job 1, which is kept, and for which `a` waits.
static void begin_kept(struct web *t, const char *headers)
{
    char joined[100];

    holds(t, t->b, POST("/f", UNIQUE BACKGROUND, "x"), 200);
    (void)snprintf(joined, sizeof joined, "%s%s", UNIQUE, headers);
    peer_send(t->a, POST("/f", joined, "x"));
    rig_run(t->rig);
    http_can_do(t->w, "f");
    grabs(t->w, "f", "x");
}

// All that the peer has heard of a stream.
#define events_are(peer, events, open) events_at((peer), (events), (open), __FILE__, __LINE__)
static void events_at(struct peer *peer, const char *events, bool open, const char *file, int line)
{
    struct slice heard = peer_hear(peer);
    struct http_answer answer;

    assert_true(http_take(&heard, false, &answer));
    assert_int_equal(heard.len, 0);
    http_body_is(&answer, slice_str(events), file, line);
    assert_int_equal(answer.open, open);
}

//
// Submissions
//

static void a_background_submission_waits_for_its_record(void **state)
{
    struct web *t = *state;
    const struct http_answer *answer = holds(t, t->a, POST("/f", BACKGROUND, "x"), 200);

    field_is(answer, "X-Gearman-Job-Handle", H(1));
    field_is(answer, "X-Gearman-Command", "JOB_CREATED");
    stays(t->a, answer);
    holds(t, t->a, http_get("/f?x", BACKGROUND "X-Gearman-Delay: 9\r\n"), 200);
}

static void a_submission_that_joins_waits_for_the_record_of_the_job(void **state)
{
    struct web *t = *state;

    waits(t->a, POST("/f", UNIQUE BACKGROUND, "x"));
    waits(t->b, POST("/f", UNIQUE BACKGROUND, "x"));
    rig_reach(t->rig);
    field_is(answered(t->a, 200), "X-Gearman-Job-Handle", H(1));
    field_is(answered(t->b, 200), "X-Gearman-Job-Handle", H(1));
    fall_behind(t);
    asks(t->b, POST("/f", UNIQUE BACKGROUND, "x"), 200);
}

static void a_request_of_its_own_does_not_wait_for_the_records_of_others(void **state)
{
    struct web *t = *state;

    fall_behind(t);
    waits(t->a, POST("/f", "", "x"));
    http_completes(t->w, "x", "end");
    body_is(answered(t->a, 200), "end");
    peer_send(t->b, POST("/f", STREAM, "x"));
    rig_run(t->rig);
    assert_true(peer_hear(t->b).len > 0);
    gear_hears(t->v, NOTHING);
}

static void a_submission_that_is_refused_is_refused_at_once(void **state)
{
    struct web *t = *state;

    waits(t->b, POST("/f", UNIQUE, "x"));
    fall_behind(t);
    t->store_room = 0;
    field_is(asks(t->a, POST("/g", BACKGROUND, "x"), 503), "Retry-After", "1");
    asks(t->a, POST("/f", UNIQUE BACKGROUND, "x"), 503);
    waits(t->a, POST("/g", "", "x"));
}

//
// Results
//

static void the_end_of_a_kept_job_waits_for_its_record(void **state)
{
    static const unsigned statuses[] = {200, 500, 500};

    for (int i = 0; i < 3; i++) {
        struct web *t;

        http_teardown(state);
        behind_setup(state);
        t = *state;
        begin_kept(t, "");
        gear_says(t->w,
                  i == 0   ? REQ(WORK_COMPLETE, H(1), "end")
                  : i == 1 ? REQ(WORK_FAIL, H(1))
                           : REQ(WORK_EXCEPTION, H(1), "why"),
                  NOTHING);
        silent(t->a);
        rig_reach(t->rig);
        answered(t->a, statuses[i]);
    }
}

static void a_kept_job_that_is_taken_back_is_410_when_that_is_safe(void **state)
{
    struct web *t = *state;

    holds(t, t->b, POST("/f", UNIQUE BACKGROUND, "x"), 200);
    waits(t->a, POST("/f", UNIQUE, "x"));
    waits(t->b, http_bare("DELETE", PAGE(1), ""));
    silent(t->a);
    rig_reach(t->rig);
    answered(t->a, 410);
    answered(t->b, 204);
}

static void a_stream_of_a_kept_job_ends_when_that_is_safe(void **state)
{
    struct web *t = *state;

    begin_kept(t, STREAM);
    events_are(t->a, EVENT(1, "created") "}\n\n", true);
    fall_behind(t);
    gear_says(t->w, REQ(WORK_STATUS, H(1), "1", "2"), NOTHING);
    assert_non_null(strstr(peer_hear(t->a).ptr, EVENT(2, "status")));
    gear_says(t->w, REQ(WORK_COMPLETE, H(1), "end"), NOTHING);
    silent(t->a);
    rig_reach(t->rig);
    assert_non_null(strstr(peer_hear(t->a).ptr, EVENT(3, "complete")));
}

static void a_stream_begins_when_its_job_is_safe(void **state)
{
    struct web *t = *state;

    waits(t->b, POST("/f", UNIQUE BACKGROUND, "x"));
    waits(t->a, POST("/f", UNIQUE STREAM, "x"));
    rig_reach(t->rig);
    events_are(t->a, EVENT(1, "created") "}\n\n", true);
}

static void a_request_of_its_own_waits_for_its_id(void **state)
{
    struct web *t = *state;

    rig_hold_ids(t->rig);
    waits(t->a, POST("/f", STREAM, "x"));
    waits(t->b, POST("/g", "X-Gearman-Timeout: 3\r\n", "x"));
    rig_advance(t->rig, SECONDS(3));
    silent(t->a);
    silent(t->b);
    rig_reach(t->rig);
    events_are(t->a, EVENT(1, "created") "}\n\n", true);
    answered(t->b, 504);
}

static void an_answer_that_names_a_job_waits_until_that_is_safe(void **state)
{
    struct web *t = *state;

    waits(t->b, POST("/f", UNIQUE BACKGROUND, "x"));
    waits(t->a, POST("/f", UNIQUE "X-Gearman-Timeout: 3\r\n", "x"));
    rig_advance(t->rig, SECONDS(3));
    silent(t->a);
    rig_reach(t->rig);
    field_is(answered(t->a, 504), "X-Gearman-Job-Handle", H(1));
}

static void a_request_that_waits_too_long_for_a_safe_job_is_told_at_once(void **state)
{
    struct web *t = *state;

    fall_behind(t);
    waits(t->a, POST("/f", "X-Gearman-Timeout: 3\r\n", "x"));
    rig_advance(t->rig, SECONDS(3));
    answered(t->a, 504);
}

//
// Jobs' pages
//

static void a_job_is_taken_back_when_that_is_safe(void **state)
{
    struct web *t = *state;

    holds(t, t->a, POST("/f", BACKGROUND, "x"), 200);
    holds(t, t->a, http_bare("DELETE", PAGE(1), ""), 204);
}

static void other_answers_leave_at_once(void **state)
{
    struct web *t = *state;

    holds(t, t->b, POST("/f", BACKGROUND, "x"), 200);
    http_can_do(t->w, "f");
    grabs(t->w, "f", "x");
    fall_behind(t);
    asks(t->a, http_get(PAGE(1), ""), 200);
    asks(t->a, http_get(PAGE(2), ""), 200);
    asks(t->a, http_bare("DELETE", PAGE(1), ""), 409);
    asks(t->a, http_bare("DELETE", PAGE(9), ""), 404);
    asks(t->a, http_bare("OPTIONS", "/f", ""), 204);
    asks(t->a, http_get("/", ""), 404);
    asks(t->a, POST("/f", BACKGROUND "X-Gearman-Ttr: x\r\n", "x"), 400);
}

static void a_foreground_job_is_taken_back_at_once(void **state)
{
    struct web *t = *state;

    fall_behind(t);
    waits(t->a, POST("/f", "", "x"));
    asks(t->b, http_bare("DELETE", PAGE(2), ""), 204);
    answered(t->a, 410);
}

//
// Order, and who does not wait for it
//

static void answers_of_a_connection_keep_their_order(void **state)
{
    static const unsigned statuses[] = {200, 404, 204};
    struct web *t = *state;
    struct slice heard;

    waits(t->a,
          MANY(POST("/f", BACKGROUND, "x"), http_get("/", ""), http_bare("OPTIONS", "/", "")));
    rig_reach(t->rig);
    heard = peer_hear(t->a);
    for (int i = 0; i < 3; i++) {
        struct http_answer answer;

        assert_true(http_take(&heard, false, &answer));
        assert_int_equal(answer.status, statuses[i]);
    }
    assert_int_equal(heard.len, 0);
}

static void a_connection_that_is_not_kept_is_closed_behind_its_answer(void **state)
{
    struct web *t = *state;

    waits(t->a, POST("/f", BACKGROUND "Connection: close\r\n", "x"));
    assert_false(peer_closed(t->a));
    rig_reach(t->rig);
    ends(t->a, answered(t->a, 200));
    assert_true(peer_closed(t->a));
}

static void a_client_that_goes_while_it_is_held_harms_no_other(void **state)
{
    struct web *t = *state;

    waits(t->a, POST("/f", UNIQUE BACKGROUND, "x"));
    waits(t->b, POST("/f", UNIQUE, "x"));
    peer_free(t->a);
    gear_says(t->w, MANY(REQ(CAN_DO, "f"), REQ(GRAB_JOB)), NOTHING);
    rig_reach(t->rig);
    gear_hears(t->w, RES(JOB_ASSIGN, H(1), "f", "x"));
    gear_says(t->w, REQ(WORK_COMPLETE, H(1), "end"), NOTHING);
    peer_free(t->b);
    rig_reach(t->rig);
    assert_int_equal(http_jobs(t), 0);
}

static void expect_untouched(struct web *t, uint64_t id)
{
    assert_int_equal(http_job(t, id).state, JOB_READY);
    assert_int_equal(http_job(t, id).attempts, 0);
    assert_int_equal(http_job(t, id).reserves, 0);
}

static void a_worker_that_goes_before_its_job_is_safe_costs_no_attempt(void **state)
{
    static const char *const asks[] = {"/-/work?queue=f", "/-/work?queue=f&max=4"};
    struct web *t = *state;
    struct peer *worker;

    gear_says(t->v, REQ(SUBMIT_JOB_BG, "f", "", "x"), NOTHING);
    for (size_t i = 0; i < sizeof asks / sizeof *asks; i++) {
        char ask[100];

        worker = peer_new(t->rig);
        (void)snprintf(ask, sizeof ask,
                       "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n", asks[i]);
        waits(worker, slice_str(ask));
        assert_int_equal(http_job(t, 1).state, JOB_RESERVED);
        peer_free(worker);
        expect_untouched(t, 1);
    }
    rig_reach(t->rig);
}

// Submits a background job with that lease, in seconds.
static void submit_for(struct web *t, const char *seconds)
{
    char headers[100];

    (void)snprintf(headers, sizeof headers, BACKGROUND "X-Gearman-Ttr: %s\r\n", seconds);
    holds(t, t->b, POST("/f", headers, "x"), 200);
}

static void a_batch_whose_first_job_is_lost_costs_the_others_no_attempt(void **state)
{
    for (int i = 0; i < 4; i++) {
        struct web *t;
        struct peer *worker;

        http_teardown(state);
        behind_setup(state);
        t = *state;
        submit_for(t, "2");
        submit_for(t, "60");
        submit_for(t, "60");
        worker = peer_new(t->rig);
        peer_stop_reading(worker);
        peer_send(worker, i & 1 ? POST("/-/work?queue=f&max=4", "Accept: multipart/mixed\r\n", "")
                                : POST("/-/work?queue=f&max=4", "", ""));
        rig_run(t->rig);
        if (i < 2) {
            rig_advance(t->rig, SECONDS(2));
        } else {
            // An operator.
            assert_int_equal(broker_cancel(rig_broker(t->rig), NULL, 1, true), STATUS_OK);
        }
        assert_int_equal(http_job(t, 2).state, JOB_RESERVED);
        rig_advance(t->rig, SECONDS(2));
        peer_free(worker);
        expect_untouched(t, 2);
        expect_untouched(t, 3);
        rig_reach(t->rig);
    }
}

static void time_that_is_over_before_a_job_is_safe_costs_no_attempt(void **state)
{
    static const char *const asks[] = {"/-/work?queue=f&ttr=1", "/-/work?queue=f&max=4&ttr=1"};
    struct web *t = *state;

    gear_says(t->v, REQ(SUBMIT_JOB_BG, "f", "", "x"), NOTHING);
    for (size_t i = 0; i < sizeof asks / sizeof *asks; i++) {
        struct peer *worker = peer_new(t->rig);
        char ask[100];

        (void)snprintf(ask, sizeof ask,
                       "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n", asks[i]);
        waits(worker, slice_str(ask));
        assert_int_equal(http_job(t, 1).state, JOB_RESERVED);
        rig_advance(t->rig, SECONDS(1));
        expect_untouched(t, 1);
        peer_free(worker);
        expect_untouched(t, 1);
    }
    rig_reach(t->rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BEHIND(a_background_submission_waits_for_its_record),
        BEHIND(a_submission_that_joins_waits_for_the_record_of_the_job),
        BEHIND(a_request_of_its_own_does_not_wait_for_the_records_of_others),
        BEHIND(a_submission_that_is_refused_is_refused_at_once),
        BEHIND(the_end_of_a_kept_job_waits_for_its_record),
        BEHIND(a_kept_job_that_is_taken_back_is_410_when_that_is_safe),
        BEHIND(a_stream_of_a_kept_job_ends_when_that_is_safe),
        BEHIND(a_stream_begins_when_its_job_is_safe),
        BEHIND(a_request_of_its_own_waits_for_its_id),
        BEHIND(an_answer_that_names_a_job_waits_until_that_is_safe),
        BEHIND(a_request_that_waits_too_long_for_a_safe_job_is_told_at_once),
        BEHIND(a_job_is_taken_back_when_that_is_safe),
        BEHIND(other_answers_leave_at_once),
        BEHIND(a_foreground_job_is_taken_back_at_once),
        BEHIND(answers_of_a_connection_keep_their_order),
        BEHIND(a_connection_that_is_not_kept_is_closed_behind_its_answer),
        BEHIND(a_client_that_goes_while_it_is_held_harms_no_other),
        BEHIND(a_worker_that_goes_before_its_job_is_safe_costs_no_attempt),
        BEHIND(a_batch_whose_first_job_is_lost_costs_the_others_no_attempt),
        BEHIND(time_that_is_over_before_a_job_is_safe_costs_no_attempt),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
