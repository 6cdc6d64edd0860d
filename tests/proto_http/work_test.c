/* SPDX-License-Identifier: MIT */

// Asking for work over HTTP.

#include "tests/proto_beanstalk/wire_bean.h"
#include "tests/proto_http/wire_work.h"

#include <stdio.h>
#include <string.h>

// Puts a job by beanstalk, with a TTR of `ttr` seconds.
#define PUT(t, tube, ttr) peer_ask((t)->v, SLICE("use " tube "\r\nput 7 0 " #ttr " 2\r\nhi\r\n"))

static void a_job_comes_with_all_that_a_worker_has_to_know(void **state)
{
    struct web *t = *state;
    const struct http_answer *answer;

    asks(t->b, POST("/f", BACKGROUND "X-Gearman-Ttr: 30\r\nX-Gearman-Unique: u 1%\r\n", "a\nb"),
         200);
    answer = asks(t->a, ASK("/-/work?queue=f"), 200);
    body_is(answer, "a\nb");
    field_is(answer, "Content-Type", "application/octet-stream");
    field_is(answer, "X-Gearman-Job-Handle", H(1));
    field_is(answer, "X-Gearman-Unique", "u%201%25");
    field_is(answer, "X-Tandem-Queue", "f");
    field_is(answer, "X-Tandem-Attempt", "1");
    field_is(answer, "X-Tandem-Deadline", "1700000030000");
    field_is(answer, "Cache-Control", "no-store");
    assert_int_equal(http_job(t, 1).state, JOB_RESERVED);
    stays(t->a, answer);
    (void)work_token(answer);
}

static void a_job_without_a_key_has_no_unique(void **state)
{
    struct web *t = *state;

    PUT(t, "f", 9);
    field_is(asks(t->a, ASK("/-/work?queue=f"), 200), "X-Gearman-Unique", NULL);
    asks(t->b, POST("/f", BACKGROUND "X-Gearman-Unique: -\r\n", "content"), 200);
    field_is(asks(t->a, ASK("/-/work?queue=f"), 200), "X-Gearman-Unique", NULL);
}

static void no_job_is_answered_204_at_once(void **state)
{
    struct web *t = *state;
    const struct http_answer *answer = asks(t->a, ASK("/-/work?queue=f"), 204);

    body_is(answer, "");
    stays(t->a, answer);
    asks(t->a, ASK("/-/work?queue=f&wait=0"), 204);
    assert_null(broker_queue_find(rig_broker(t->rig), SLICE("f")));
}

static void a_request_waits_for_a_job_as_long_as_it_says(void **state)
{
    struct web *t = *state;

    waits(t->a, ASK("/-/work?queue=f&wait=30"));
    rig_advance(t->rig, SECONDS(29));
    silent(t->a);
    rig_advance(t->rig, SECONDS(1));
    answered(t->a, 204);
    waits(t->a, ASK("/-/work?queue=f&wait=30"));
    rig_advance(t->rig, SECONDS(29));
    PUT(t, "f", 9);
    body_is(answered(t->a, 200), "hi");
    assert_null(broker_queue_find(rig_broker(t->rig), SLICE("none")));
}

static void the_one_that_waits_longest_gets_the_job_whatever_its_protocol(void **state)
{
    struct web *t = *state;

    waits(t->a, ASK("/-/work?queue=f&wait=30"));
    says(t->w, "watch f\r\nreserve\r\n", "WATCHING 2\r\n");
    waits(t->b, ASK("/-/work?queue=f&wait=30"));
    PUT(t, "f", 9);
    body_is(answered(t->a, 200), "hi");
    PUT(t, "f", 9);
    hears(t->w, "RESERVED 2 2\r\nhi\r\n");
    PUT(t, "f", 9);
    body_is(answered(t->b, 200), "hi");
}

static void the_best_job_of_all_named_queues_comes_first(void **state)
{
    struct web *t = *state;

    says(t->v,
         "use f\r\nput 5 0 9 1\r\na\r\nuse g\r\nput 4 0 9 1\r\nb\r\nuse h\r\nput 1 0 9 1\r\nc\r\n",
         "USING f\r\nINSERTED 1\r\nUSING g\r\nINSERTED 2\r\nUSING h\r\nINSERTED 3\r\n");
    field_is(asks(t->a, ASK("/-/work?queue=f&queue=g"), 200), "X-Tandem-Queue", "g");
    field_is(asks(t->a, ASK("/-/work?queue=f&queue=g"), 200), "X-Tandem-Queue", "f");
    asks(t->a, ASK("/-/work?queue=f&queue=g"), 204);
}

static void names_are_decoded_and_come_back_escaped(void **state)
{
    struct web *t = *state;
    const struct http_answer *answer;

    asks(t->b, POST("/caf%C3%A9%20%25", BACKGROUND, "x"), 200);
    answer = asks(t->a, ASK("/-/work?queue=caf%C3%A9+%25"), 200);
    field_is(answer, "X-Tandem-Queue", "caf%C3%A9%20%25");
}

static void names_of_any_length_have_room(void **state)
{
    struct web *t = *state;
    char target[4000], name[3 * 512 + 1];
    struct slice value;
    struct job_spec spec = {.key_kind = KEY_NAME,
                            .key = slice_of(gear_run('\t', 512), 512),
                            .body = SLICE("x"),
                            .durable = true};
    struct submission submission;

    for (size_t i = 0; i < 512; i++) {
        memcpy(name + 3 * i, "%01", 4);
    }
    (void)snprintf(target, sizeof target, "/-/work?queue=%s", name);
    assert_int_equal(broker_submit_to(rig_broker(t->rig), slice_of(gear_run('\1', 512), 512), &spec,
                                      NULL, &submission),
                     STATUS_OK);
    value = http_field(asks(t->a, ASK(target), 200), "X-Tandem-Queue");
    assert_int_equal(value.len, 3 * 512);
    assert_memory_equal(value.ptr, name, value.len);
}

static void a_lease_lasts_as_the_job_says_and_no_longer_than_the_request_says(void **state)
{
    static const struct {
        const char *target;
        unsigned lasts;
    } cases[] = {
        {"/-/work?queue=f", 40},        // the job's own time to run
        {"/-/work?queue=f&ttr=15", 15}, // is made shorter,
        {"/-/work?queue=f&ttr=50", 40}, // but not longer
        {"/-/work?queue=g", 60},        // a job without one has http.lease,
        {"/-/work?queue=g&ttr=15", 15}, // or what the request says
        {"/-/work?queue=g&ttr=99", 99},
    };
    struct web *t = *state;

    t->settings.idle_timeout = 0;
    asks(t->b, POST("/f", BACKGROUND "X-Gearman-Ttr: 40\r\n", ""), 200);
    asks(t->b, POST("/g", BACKGROUND, ""), 200);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t id = strchr(cases[i].target, 'g') ? 2 : 1;
        const struct http_answer *answer = asks(t->a, ASK(cases[i].target), 200);
        const char *token = work_token(answer);
        uint64_t now = (uint64_t)(broker_now(rig_broker(t->rig)).wall / NSEC_PER_MSEC);

        assert_int_equal(work_number(answer, "X-Tandem-Deadline"), now + cases[i].lasts * 1000);
        rig_advance(t->rig, SECONDS(cases[i].lasts - 1));
        assert_int_equal(http_job(t, id).state, JOB_RESERVED);
        rig_advance(t->rig, SECONDS(1));
        assert_int_equal(http_job(t, id).state, JOB_READY);
        asks(t->a, work_word(token, "complete", "", ""), 410);
    }
}

static void lost_attempts_are_counted(void **state)
{
    struct web *t = *state;

    PUT(t, "f", 5);
    for (uint64_t attempt = 1; attempt <= 3; attempt++) {
        const struct http_answer *answer = asks(t->a, ASK("/-/work?queue=f"), 200);

        assert_int_equal(work_number(answer, "X-Tandem-Attempt"), attempt);
        rig_advance(t->rig, SECONDS(5));
    }
}

static void a_client_that_goes_while_it_waits_takes_no_job(void **state)
{
    struct web *t = *state;

    waits(t->a, ASK("/-/work?queue=f&wait=30"));
    peer_free(t->a);
    assert_null(broker_queue_find(rig_broker(t->rig), SLICE("f")));
    PUT(t, "f", 9);
    assert_int_equal(http_job(t, 1).state, JOB_READY);
}

static void a_job_that_was_given_to_a_client_that_went_comes_back_at_once(void **state)
{
    struct web *t = *state;
    struct broker *broker = rig_broker(t->rig);

    waits(t->a, ASK("/-/work?queue=f&wait=30"));
    peer_send(t->v, SLICE("use f\r\nput 0 0 9 2\r\nhi\r\n"));
    rig_feed(t->rig);
    assert_int_equal(http_job(t, 1).state, JOB_RESERVED); // it is not answered yet
    peer_free(t->a);
    assert_int_equal(http_job(t, 1).state, JOB_READY);
    assert_int_equal(http_job(t, 1).attempts, 0);
    assert_int_equal(http_job(t, 1).reserves, 0);
    assert_non_null(broker_find(broker, 1));
}

static void a_lease_outlives_the_connection_that_it_was_given_to(void **state)
{
    struct web *t = *state;
    const char *token;

    PUT(t, "f", 9);
    token = gets(t->a, "/-/work?queue=f", "hi");
    peer_free(t->a);
    assert_int_equal(http_job(t, 1).state, JOB_RESERVED);
    tells(t->b, token, "complete", "", 204);
    assert_int_equal(http_jobs(t), 0);
}

static void a_job_taken_from_a_waiting_request_leaves_it_waiting(void **state)
{
    struct web *t = *state;
    const struct job_act act = {.kind = ACT_DELETE};

    waits(t->a, ASK("/-/work?queue=f&wait=30"));
    peer_send(t->v, SLICE("use f\r\nput 0 0 9 2\r\nhi\r\n"));
    rig_feed(t->rig);
    assert_int_equal(broker_act(rig_broker(t->rig), NULL, 1, &act), STATUS_OK);
    rig_run(t->rig);
    silent(t->a);
    rig_advance(t->rig, SECONDS(29));
    PUT(t, "f", 9);
    body_is(answered(t->a, 200), "hi");
}

static void requests_on_one_connection_are_answered_in_their_order(void **state)
{
    struct web *t = *state;
    struct http_answer first, second;
    struct slice heard;

    waits(t->a, ASK("/-/work?queue=f&wait=30"));
    waits(t->a, ASK("/-/work?queue=g"));
    PUT(t, "f", 9);
    heard = peer_hear(t->a);
    assert_true(http_take(&heard, false, &first));
    assert_true(http_take(&heard, false, &second));
    assert_int_equal(first.status, 200);
    assert_int_equal(second.status, 204);
}

static void what_makes_no_sense_is_400(void **state)
{
    static const char *const targets[] = {
        "/-/work",
        "/-/work?",
        "/-/work?wait=1",
        "/-/work?queue=",
        "/-/work?queue",
        "/-/work?queue=a%0",
        "/-/work?queue=a%00",
        "/-/work?queue=a&wait=x",
        "/-/work?queue=a&wait=-1",
        "/-/work?queue=a&wait=4294967296",
        "/-/work?queue=a&wait=1&wait=1",
        "/-/work?queue=a&ttr=0",
        "/-/work?queue=a&max=0",
        "/-/work?queue=a&max=101",
        "/-/work?queue=a&tube=b",
    };
    struct web *t = *state;

    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        field_is(asks(t->a, ASK(targets[i]), 400), "X-Gearman-Command", NULL);
    }
    ends(t->a, asks(t->a, POST("/-/work?queue=f", "", "body"), 400));
}

static void only_a_post_asks_for_work(void **state)
{
    struct web *t = *state;

    field_is(asks(t->a, http_get("/-/work?queue=f", ""), 405), "Allow", "POST, OPTIONS");
    asks(t->a, http_bare("PUT", "/-/work?queue=f", ""), 405);
    asks(t->a, http_bare("DELETE", "/-/work?queue=f", ""), 405);
    field_is(asks(t->a, http_bare("OPTIONS", "/-/work", ""), 204), "Allow", "POST, OPTIONS");
    asks(t->a, ASK("/%2D/work?queue=f"), 404);
    asks(t->a, ASK("/-/work/?queue=f"), 404);
    asks(t->a, ASK("/-/worker?queue=f"), 404);
}

static void more_queues_than_one_request_may_name_are_refused(void **state)
{
    struct web *t = *state;
    char target[2000] = "/-/work?";

    for (int i = 0; i < 64; i++) {
        (void)snprintf(target + strlen(target), 20, "queue=q%d&", i);
    }
    asks(t->a, ASK(target), 204);
    (void)snprintf(target + strlen(target), 20, "queue=one_more");
    asks(t->a, ASK(target), 400);
}

static void no_more_leases_are_given_than_may_be(void **state)
{
    struct web *t = *state;
    const char *token;

    t->settings.max_leases = 2;
    PUT(t, "f", 9);
    PUT(t, "f", 9);
    token = gets(t->a, "/-/work?queue=f", "hi");
    waits(t->b, ASK("/-/work?queue=g&wait=9"));
    field_is(asks(t->a, ASK("/-/work?queue=f"), 503), "Retry-After", "1");
    tells(t->a, token, "complete", "", 204);
    gets(t->a, "/-/work?queue=f", "hi");
    asks(t->a, ASK("/-/work?queue=f"), 503);
    rig_advance(t->rig, SECONDS(9));
    answered(t->b, 204);
    asks(t->a, ASK("/-/work?queue=g"), 204);
    t->settings.max_leases = 0;
    asks(t->a, ASK("/-/work?queue=g"), 403);
}

static void a_paused_queue_gives_nothing_until_it_goes_on(void **state)
{
    struct web *t = *state;

    PUT(t, "f", 9);
    says(t->v, "pause-tube f 10\r\n", "PAUSED\r\n");
    asks(t->a, ASK("/-/work?queue=f"), 204);
    waits(t->a, ASK("/-/work?queue=f&wait=30"));
    rig_advance(t->rig, SECONDS(10));
    body_is(answered(t->a, 200), "hi");
}

static void a_broker_that_stops_says_so_to_those_that_wait(void **state)
{
    struct web *t = *state;

    waits(t->a, ASK("/-/work?queue=f&wait=30"));
    rig_stop(t->rig);
    ends(t->a, answered(t->a, 503));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        HTTP_BEAN(a_job_comes_with_all_that_a_worker_has_to_know),
        HTTP_BEAN(a_job_without_a_key_has_no_unique),
        HTTP_BEAN(no_job_is_answered_204_at_once),
        HTTP_BEAN(a_request_waits_for_a_job_as_long_as_it_says),
        HTTP_BEAN(the_one_that_waits_longest_gets_the_job_whatever_its_protocol),
        HTTP_BEAN(the_best_job_of_all_named_queues_comes_first),
        HTTP_BEAN(names_are_decoded_and_come_back_escaped),
        HTTP_BEAN(names_of_any_length_have_room),
        HTTP_BEAN(a_lease_lasts_as_the_job_says_and_no_longer_than_the_request_says),
        HTTP_BEAN(lost_attempts_are_counted),
        HTTP_BEAN(a_client_that_goes_while_it_waits_takes_no_job),
        HTTP_BEAN(a_job_that_was_given_to_a_client_that_went_comes_back_at_once),
        HTTP_BEAN(a_lease_outlives_the_connection_that_it_was_given_to),
        HTTP_BEAN(a_job_taken_from_a_waiting_request_leaves_it_waiting),
        HTTP_BEAN(requests_on_one_connection_are_answered_in_their_order),
        HTTP_BEAN(what_makes_no_sense_is_400),
        HTTP_BEAN(only_a_post_asks_for_work),
        HTTP_BEAN(more_queues_than_one_request_may_name_are_refused),
        HTTP_BEAN(no_more_leases_are_given_than_may_be),
        HTTP_BEAN(a_paused_queue_gives_nothing_until_it_goes_on),
        HTTP_BEAN(a_broker_that_stops_says_so_to_those_that_wait),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
