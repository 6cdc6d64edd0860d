/* SPDX-License-Identifier: MIT */

// The reports of HTTP workers about their jobs, and the replies to the clients that wait.

#include "tests/proto_http/wire_work.h"

#include <stdio.h>
#include <string.h>

// A Gearman client waits for job 1, which `a` has: its token.
static const char *begin(struct web *t)
{
    gear_says(t->v, REQ(SUBMIT_JOB, "f", "u", "x"), RES(JOB_CREATED, H(1)));
    return gets(t->a, "/-/work?queue=f", "x");
}

// Job 1, which is kept, and which `a` has.
static const char *begin_kept(struct web *t, const char *headers)
{
    char all[200];

    (void)snprintf(all, sizeof all, BACKGROUND "%s", headers);
    asks(t->b, POST("/f", all, "x"), 200);
    return gets(t->a, "/-/work?queue=f", "x");
}

static void is_over(struct web *t, const char *token)
{
    static const char *const words[] = {"complete", "fail",    "exception",
                                        "release",  "bury",    "touch",
                                        "data",     "warning", "progress?done=1&total=2"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        stays(t->b, tells(t->b, token, words[i], "", 410));
    }
}

static void a_result_goes_to_the_client_that_waits(void **state)
{
    struct web *t = *state;
    const char *token = begin(t);

    stays(t->a, tells(t->a, token, "complete", "the result", 204));
    gear_hears(t->v, RES(WORK_COMPLETE, H(1), "the result"));
    assert_int_equal(http_jobs(t), 0);
    is_over(t, token);
}

static void a_result_may_be_empty_or_come_in_chunks(void **state)
{
    struct web *t = *state;
    char target[100];

    tells(t->a, begin(t), "complete", "", 204);
    gear_hears(t->v, RES(WORK_COMPLETE, H(1), ""));
    gear_says(t->v, REQ(SUBMIT_JOB, "f", "u", "x"), RES(JOB_CREATED, H(2)));
    (void)snprintf(target, sizeof target, "/-/leases/%s/complete",
                   gets(t->a, "/-/work?queue=f", "x"));
    asks(t->a, http_chunked(target, "", SLICE("in chunks")), 204);
    gear_hears(t->v, RES(WORK_COMPLETE, H(2), "in chunks"));
}

static void a_failure_is_told(void **state)
{
    struct web *t = *state;
    const char *token = begin(t);

    tells(t->a, token, "fail", "", 204);
    gear_hears(t->v, RES(WORK_FAIL, H(1)));
    is_over(t, token);
}

static void an_exception_is_told_with_what_it_says(void **state)
{
    struct web *t = *state;
    const char *token;

    gear_says(t->v, REQ(OPTION_REQ, "exceptions"), RES(OPTION_RES, "exceptions"));
    token = begin(t);
    tells(t->a, token, "exception", "boom", 204);
    gear_hears(t->v, RES(WORK_EXCEPTION, H(1), "boom"));
    is_over(t, token);
    gear_says(t->v, REQ(SUBMIT_JOB, "f", "u", "x"), RES(JOB_CREATED, H(2)));
    tells(t->a, gets(t->a, "/-/work?queue=f", "x"), "exception", "", 204);
    gear_hears(t->v, RES(WORK_EXCEPTION, H(2), ""));
}

static void progress_data_and_warnings_are_told_on_the_way(void **state)
{
    struct web *t = *state;
    const char *token = begin(t);

    tells(t->a, token, "progress?done=1&total=3", "", 204);
    gear_hears(t->v, RES(WORK_STATUS, H(1), "1", "3"));
    tells(t->a, token, "data", "part", 204);
    gear_hears(t->v, RES(WORK_DATA, H(1), "part"));
    tells(t->b, token, "warning", "hot", 204);
    gear_hears(t->v, RES(WORK_WARNING, H(1), "hot"));
    tells(t->b, token, "complete", "", 204);
    gear_hears(t->v, RES(WORK_COMPLETE, H(1), ""));
}

static void a_released_job_is_ready_again_at_its_priority(void **state)
{
    struct web *t = *state;
    const char *token = begin_kept(t, "X-Gearman-Priority: 77\r\n");

    tells(t->a, token, "release", "", 204);
    assert_int_equal(http_job(t, 1).state, JOB_READY);
    assert_int_equal(http_job(t, 1).pri, 77);
    assert_int_equal(http_job(t, 1).attempts, 0);
    is_over(t, token);
    token = gets(t->a, "/-/work?queue=f", "x");
    tells(t->a, token, "release?pri=5&delay=10", "", 204);
    assert_int_equal(http_job(t, 1).state, JOB_DELAYED);
    assert_int_equal(http_job(t, 1).pri, 5);
    assert_int_equal(http_job(t, 1).delay_for, SECONDS(10));
}

static void a_buried_job_is_set_aside(void **state)
{
    struct web *t = *state;
    const char *token = begin_kept(t, "X-Gearman-Priority: 77\r\n");

    tells(t->a, token, "bury", "", 204);
    assert_int_equal(http_job(t, 1).state, JOB_BURIED);
    assert_int_equal(http_job(t, 1).pri, 77);
    is_over(t, token);
    assert_int_equal(broker_kick_id(rig_broker(t->rig), NULL, 1), STATUS_OK);
    tells(t->a, gets(t->a, "/-/work?queue=f", "x"), "bury?pri=9", "", 204);
    assert_int_equal(http_job(t, 1).pri, 9);
}

static void each_word_starts_the_time_of_the_lease_anew(void **state)
{
    static const char *const words[] = {"touch", "progress?done=1&total=2", "data", "warning"};
    static const char *const queues[] = {"/-/work?queue=f", "/-/work?queue=g",
                                         "/-/work?queue=f&ttr=60"};
    struct web *t = *state;

    t->settings.idle_timeout = 0;
    for (size_t i = 0; i < sizeof queues / sizeof *queues; i++) {
        const char *token;

        asks(t->b, POST("/f", BACKGROUND "X-Gearman-Ttr: 60\r\n", "x"), 200);
        asks(t->b, POST("/g", BACKGROUND, "x"), 200);
        token = gets(t->a, queues[i], "x");
        for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
            uint64_t now;

            rig_advance(t->rig, SECONDS(59));
            now = (uint64_t)(broker_now(rig_broker(t->rig)).wall / NSEC_PER_MSEC);
            assert_int_equal(
                work_number(tells(t->a, token, words[k], "", 204), "X-Tandem-Deadline"),
                now + 60000);
        }
        tells(t->a, token, "complete", "", 204);
    }
}

static void a_lease_is_over_when_its_time_is(void **state)
{
    struct web *t = *state;
    const char *token = begin_kept(t, "X-Gearman-Ttr: 10\r\n");

    rig_advance(t->rig, SECONDS(10));
    // By its time to run, another protocol's holder might still be late; this one has nothing left.
    is_over(t, token);
    assert_int_equal(http_job(t, 1).state, JOB_READY);
    assert_int_equal(http_job(t, 1).attempts, 1);
    token = gets(t->a, "/-/work?queue=f&ttr=5", "x");
    rig_advance(t->rig, SECONDS(5));
    is_over(t, token);
    assert_int_equal(http_job(t, 1).attempts, 2);
}

static void an_operator_ends_a_lease(void **state)
{
    static const enum act_kind kinds[] = {ACT_RELEASE, ACT_BURY, ACT_DELETE};
    struct web *t = *state;

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const struct job_act act = {.kind = kinds[i]};
        const char *token = begin_kept(t, "");

        assert_int_equal(broker_act(rig_broker(t->rig), NULL, i + 1, &act), STATUS_OK);
        is_over(t, token);
        rig_run(t->rig);
        is_over(t, token);
        assert_int_equal(broker_cancel(rig_broker(t->rig), NULL, i + 1, true),
                         kinds[i] == ACT_DELETE ? STATUS_NOT_FOUND : STATUS_OK);
    }
}

static void a_lease_leaves_nothing_behind_however_it_ends(void **state)
{
    struct web *t = *state;
    struct broker_info before, after;
    const struct job_act act = {.kind = ACT_DELETE};

    t->settings.max_leases = 1;
    broker_info(rig_broker(t->rig), &before);
    tells(t->a, begin_kept(t, ""), "complete", "", 204);
    (void)begin_kept(t, "X-Gearman-Ttr: 10\r\n");
    rig_advance(t->rig, SECONDS(10));
    (void)gets(t->a, "/-/work?queue=f", "x");
    assert_int_equal(broker_act(rig_broker(t->rig), NULL, 2, &act), STATUS_OK);
    rig_run(t->rig);
    tells(t->a, begin_kept(t, ""), "fail", "", 204);
    tells(t->a, begin_kept(t, ""), "complete", "", 204);
    rig_run(t->rig);
    broker_info(rig_broker(t->rig), &after);
    assert_int_equal(after.sessions, before.sessions);
    assert_int_equal(after.workers, before.workers);
    assert_int_equal(after.queues, before.queues);
}

static void a_token_that_never_was_is_like_one_that_is_over(void **state)
{
    static const char *const tokens[] = {
        "AAAAAAAAAAAAAAAAAAAAAA",
        "AAAAAAAAAAAAAAAAAAAAAB",
        "AAAAAAAAAAAAAAAAAAAAA",
        "AAAAAAAAAAAAAAAAAAAAAAA",
        "AAAAAAAAAAAAAAAAAAAA+A",
        "x",
        "%00",
        "",
    };
    struct web *t = *state;
    const char *token = begin_kept(t, "");
    const struct http_answer *over;

    tells(t->a, token, "complete", "", 204);
    over = tells(t->a, token, "touch", "", 410);
    for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++) {
        const struct http_answer *answer = tells(t->a, tokens[i], "touch", "", 410);

        assert_int_equal(answer->len, over->len);
        assert_memory_equal(answer->body.ptr, over->body.ptr, over->body.len);
    }
}

static void the_spelling_of_a_token_is_the_only_one(void **state)
{
    struct web *t = *state;
    const char *token = begin_kept(t, "");
    char other[23];

    // The last digit has four bits that stand for nothing.
    memcpy(other, token, sizeof other);
    other[21] = (char)(other[21] == 'A'   ? 'B'
                       : other[21] == 'Q' ? 'R'
                       : other[21] == 'g' ? 'h'
                                          : 'x');
    tells(t->a, other, "touch", "", 410);
    tells(t->a, token, "touch", "", 204);
}

static void what_makes_no_sense_is_refused(void **state)
{
    static const struct {
        const char *word, *body;
        unsigned status;
    } cases[] = {
        {"", "", 404},
        {"finish", "", 404},
        {"complete/", "", 404},
        {"complete?pri=1", "", 400},
        {"release?pri=x", "", 400},
        {"release?pri=4294967296", "", 400},
        {"release?delay=-1", "", 400},
        {"release?delay=1&delay=1", "", 400},
        {"bury?delay=1", "", 400},
        {"progress", "", 400},
        {"progress?done=1", "", 400},
        {"progress?total=1", "", 400},
        {"progress?done=1&total=9223372036854775808", "", 400},
        {"touch?x", "", 400},
        {"touch", "body", 400},
        {"fail", "body", 400},
        {"release", "body", 400},
    };
    struct web *t = *state;
    const char *token = begin_kept(t, "");

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct peer *peer = peer_new(t->rig);

        tells(peer, token, cases[i].word, cases[i].body, cases[i].status);
        peer_free(peer);
    }
    field_is(asks(t->a, http_get("/-/leases/x/complete", ""), 405), "Allow", "POST, OPTIONS");
    asks(t->a, work_post("/-/leases", ""), 404);
    asks(t->a, work_post("/-/leases/", ""), 404);
    asks(t->a, work_post("/-/leases/x", ""), 404);
    tells(t->a, token, "complete", "", 204);
}

static void a_result_that_is_too_large_is_413_and_leaves_the_lease(void **state)
{
    struct web *t = *state;
    const char *token = begin_kept(t, "");

    t->settings.max_body = 3;
    ends(t->b, tells(t->b, token, "complete", "four", 413));
    assert_true(rig_logged_too_large(t->rig, 4, "http.max_body"));
    tells(t->a, token, "complete", "two", 204);
}

static void a_lease_that_ends_while_the_body_comes_is_gone(void **state)
{
    struct web *t = *state;
    const char *token = begin_kept(t, "X-Gearman-Ttr: 10\r\n");
    struct slice said = work_word(token, "complete", "", "body");

    waits(t->a, slice_of(said.ptr, said.len - 1));
    rig_advance(t->rig, SECONDS(10));
    asks(t->a, SLICE("y"), 410);
    assert_int_equal(http_job(t, 1).state, JOB_READY);
}

static void a_store_without_room_for_a_release_leaves_the_lease(void **state)
{
    struct web *t = *state;
    const char *token = begin_kept(t, "");

    t->store_room = 0;
    field_is(tells(t->a, token, "release?delay=3", "", 503), "Retry-After", "1");
    tells(t->a, token, "complete", "", 204);
}

static void what_depends_on_a_record_waits_for_it(void **state)
{
    struct web *t = *state;
    const char *token;

    rig_hold_store(t->rig);
    waits(t->b, POST("/f", BACKGROUND, "x"));
    waits(t->a, ASK("/-/work?queue=f"));
    rig_reach(t->rig);
    answered(t->b, 200);
    token = work_token(answered(t->a, 200));
    waits(t->a, work_word(token, "complete", "", ""));
    rig_reach(t->rig);
    answered(t->a, 204);
}

static void a_worker_that_says_very_much_waits_for_those_who_hear_it(void **state)
{
    struct web *t = *state;
    const char *token = begin(t);
    struct slice one = work_word(token, "data", "", "x");
    char many[64000];
    struct http_answer answer;
    struct slice heard;
    size_t len = 0, count = 0;

    for (; len + one.len <= sizeof many && count < 300; count++, len += one.len) {
        memcpy(many + len, one.ptr, one.len);
    }
    heard = peer_ask(t->a, slice_of(many, len));
    while (http_take(&heard, false, &answer)) {
        assert_int_equal(answer.status, 204);
        count--;
    }
    assert_int_equal(count, 0);
    tells(t->a, token, "complete", "", 204);
    heard = peer_hear(t->v);
    assert_true(heard.len > 300 * 12);
}

static void those_that_share_a_job_all_get_the_result(void **state)
{
    struct web *t = *state;
    const char *token;

    waits(t->b, POST("/f", "X-Gearman-Unique: u\r\n", "x"));
    token = begin(t);
    tells(t->a, token, "complete", "r", 204);
    body_is(answered(t->b, 200), "r");
    gear_hears(t->v, RES(WORK_COMPLETE, H(1), "r"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        HTTP(a_result_goes_to_the_client_that_waits),
        HTTP(a_result_may_be_empty_or_come_in_chunks),
        HTTP(a_failure_is_told),
        HTTP(an_exception_is_told_with_what_it_says),
        HTTP(progress_data_and_warnings_are_told_on_the_way),
        HTTP(a_released_job_is_ready_again_at_its_priority),
        HTTP(a_buried_job_is_set_aside),
        HTTP(each_word_starts_the_time_of_the_lease_anew),
        HTTP(a_lease_is_over_when_its_time_is),
        HTTP(an_operator_ends_a_lease),
        HTTP(a_lease_leaves_nothing_behind_however_it_ends),
        HTTP(a_token_that_never_was_is_like_one_that_is_over),
        HTTP(the_spelling_of_a_token_is_the_only_one),
        HTTP(what_makes_no_sense_is_refused),
        HTTP(a_result_that_is_too_large_is_413_and_leaves_the_lease),
        HTTP(a_lease_that_ends_while_the_body_comes_is_gone),
        HTTP(a_store_without_room_for_a_release_leaves_the_lease),
        HTTP(what_depends_on_a_record_waits_for_it),
        HTTP(a_worker_that_says_very_much_waits_for_those_who_hear_it),
        HTTP(those_that_share_a_job_all_get_the_result),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
