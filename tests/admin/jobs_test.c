/* SPDX-License-Identifier: MIT */

// Lists of jobs, one job, and its body.

#include "tests/admin/wire_admin.h"
#include "tests/proto_beanstalk/wire_bean.h"
#include "tests/proto_common/wire_callers.h"
#include "tests/proto_common/wire_host_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONG = 50000 };

// The ids of all pages of two jobs each, separated by blanks.
static void pages_show(struct admin *t, const char *state, const char *ids)
{
    char target[400], shown[600] = "", cursor[200] = "";

    do {
        json_t *document, *job;
        size_t i;

        (void)snprintf(target, sizeof target, "/api/v1/queues/q/jobs?limit=2&state=%s%s%s", state,
                       *cursor ? "&cursor=" : "", cursor);
        document = tells(t->a, SEES(target), 200);
        json_array_foreach(json_object_get(document, "jobs"), i, job)
        {
            assert_non_null(strstr(state, text_at(job, "state")));
            (void)snprintf(shown + strlen(shown), sizeof shown - strlen(shown), "%s%d",
                           *shown ? " " : "", (int)number_at(job, "id"));
        }
        (void)snprintf(cursor, sizeof cursor, "%s",
                       json_is_null(admin_at(document, "next")) ? "" : text_at(document, "next"));
        json_decref(document);
    } while (*cursor);
    assert_string_equal(shown, ids);
}

// Jobs 1 to 9 in q: 1, 2, 3 ready, the second first; 4, 5, 6 delayed, 7 and 8 reserved,
// 9 and 10 buried.
static void some_jobs(struct admin *t)
{
    says(t->w, "use q\r\n", "USING q\r\n");
    says(t->v, "watch q\r\n", "WATCHING 2\r\n");
    says(t->w, "put 9 0 60 1\r\na\r\n", "INSERTED 1\r\n");
    says(t->w, "put 1 0 60 1\r\na\r\n", "INSERTED 2\r\n");
    says(t->w, "put 9 0 60 1\r\na\r\n", "INSERTED 3\r\n");
    says(t->w, "put 9 30 60 1\r\na\r\n", "INSERTED 4\r\n");
    says(t->w, "put 9 10 60 1\r\na\r\n", "INSERTED 5\r\n");
    says(t->w, "put 9 20 60 1\r\na\r\n", "INSERTED 6\r\n");
    for (const char *job = "7\0008\0009\0"; *job; job += 2) {
        char line[60], reserved[60];

        (void)snprintf(line, sizeof line, "put 0 0 60 1\r\na\r\n");
        (void)snprintf(reserved, sizeof reserved, "INSERTED %s\r\n", job);
        says_text(t->w, line, reserved);
        (void)snprintf(reserved, sizeof reserved, "RESERVED %s 1\r\na\r\n", job);
        says_text(t->v, "reserve\r\n", reserved);
    }
    says(t->v, "bury 9 4\r\n", "BURIED\r\n");
    says(t->v, "reserve-job 3\r\n", "RESERVED 3 1\r\na\r\n");
    says(t->v, "bury 3 9\r\n", "BURIED\r\n");
}

static void jobs_of_each_state_are_listed_in_pages(void **state)
{
    struct admin *t = *state;

    some_jobs(t);
    pages_show(t, "ready", "2 1");
    pages_show(t, "delayed", "5 6 4");
    pages_show(t, "reserved", "7 8");
    pages_show(t, "buried", "9 3");
    pages_show(t, "buried,reserved", "7 8 9 3");
    pages_show(t, "ready,buried", "2 1 9 3");
    pages_show(t, "ready,delayed,reserved,buried,ready", "5 6 4 2 1 7 8 9 3");
}

static void an_invalid_job_list_query_is_refused(void **state)
{
    struct admin *t = *state;

    some_jobs(t);
    asks(t->a, SEES("/api/v1/queues/q/jobs?state=lost"), 400);
    asks(t->a, SEES("/api/v1/queues/q/jobs?state="), 400);
    asks(t->a, SEES("/api/v1/queues/q/jobs?state=ready,"), 400);
    asks(t->a, SEES("/api/v1/queues/q/jobs?state=ready,lost"), 400);
    asks(t->a, SEES("/api/v1/queues/q/jobs?cursor=9.1.2.3.4.5"), 400);
    asks(t->a, SEES("/api/v1/queues/q/jobs?limit=1001"), 400);
    asks(t->a, SEES("/api/v1/queues/q/jobs?cursor="), 400);
    asks(t->a, SEES("/api/v1/queues/q/jobs?cursor=1.2.3.4.5"), 400);
    asks(t->a, SEES("/api/v1/queues/q/jobs?cursor=1.2.3.4.5.6.7"), 400);
    asks(t->a, SEES("/api/v1/queues/q/jobs?cursor=1.4294967296.0.0.0.0"), 400);
    asks(t->a, SEES("/api/v1/queues/q/jobs?cursor=1.1.2.3.4.18446744073709551616"), 400);
    asks(t->a, SEES("/api/v1/queues/q/jobs?cursor=1.4294967295.1.2.3.18446744073709551615"), 200);
    asks(t->a, SEES("/api/v1/queues/none/jobs"), 404);
    asks(t->a, SEES("/api/v1/queues/%00/jobs"), 404);
}

static void a_job_shows_its_contract_and_its_history(void **state)
{
    struct admin *t = *state;
    const struct introspect_connection *holder = wire_introspect_add_peer(&t->introspect, t->v);
    json_t *document;

    some_jobs(t);
    rig_advance(t->rig, SECONDS(5));
    says(t->v, "release 7 3 0\r\n", "RELEASED\r\n");
    says(t->v, "reserve\r\n", "RESERVED 2 1\r\na\r\n");
    rig_advance(t->rig, SECONDS(4));
    document = tells(t->a, SEES("/api/v1/jobs/2"), 200);
    assert_string_equal(text_at(document, "queue"), "q");
    assert_string_equal(text_at(document, "queue_path"), "q");
    assert_string_equal(text_at(document, "state"), "reserved");
    assert_int_equal(number_at(document, "priority"), 1);
    assert_true(number_at(document, "age_seconds") == 9.0);
    assert_true(number_at(document, "created_at") == 1700000000.0);
    assert_true(number_at(document, "left_seconds") == 56.0);
    assert_true(number_at(document, "ttr_seconds") == 60.0);
    assert_int_equal(number_at(document, "counts/reserves"), 1);
    assert_int_equal(number_at(document, "body_bytes"), 1);
    assert_true(json_is_true(admin_at(document, "durable")));
    assert_true(json_is_null(admin_at(document, "key")));
    assert_int_equal(number_at(document, "holder"), holder->number);
    assert_string_equal(text_at(document, "key_kind"), "none");
    assert_string_equal(text_at(document, "on_failure"), "bury");
    assert_string_equal(text_at(document, "history/0/event"), "submitted");
    assert_true(number_at(document, "history/0/at") == 1700000000.0);
    assert_string_equal(text_at(document, "history/1/event"), "reserved");
    assert_string_equal(text_at(document, "history/2/event"), "held");
    assert_true(number_at(document, "history/2/at") == 1700000005.0);
    json_decref(document);
    document = tells(t->a, SEES("/api/v1/jobs/7"), 200);
    assert_string_equal(text_at(document, "history/2/event"), "released");
    assert_string_equal(text_at(document, "history/3/event"), "ready");
    json_decref(document);
    document = tells(t->a, SEES("/api/v1/jobs/9"), 200);
    assert_string_equal(text_at(document, "history/2/event"), "buried");
    assert_int_equal(json_array_size(admin_at(document, "history")), 3);
    json_decref(document);
}

static void a_missing_job_is_not_found(void **state)
{
    struct admin *t = *state;

    asks(t->a, SEES("/api/v1/jobs/1"), 404);
    asks(t->a, SEES("/api/v1/jobs/0"), 404);
    asks(t->a, SEES("/api/v1/jobs/x"), 404);
    asks(t->a, SEES("/api/v1/jobs/1/body"), 404);
}

// Adds a job with this body to `q`.
static void puts_body(struct admin *t, struct slice body)
{
    char line[60];

    (void)peer_ask(t->w, SLICE("use q\r\n"));
    (void)snprintf(line, sizeof line, "put 0 0 60 %zu\r\n", body.len);
    peer_send(t->w, slice_str(line));
    peer_send(t->w, body);
    assert_memory_equal(peer_ask(t->w, SLICE("\r\n")).ptr, "INSERTED", 8);
}

static void body_shown_is(struct admin *t, const char *target, const char *encoding,
                          const char *data, bool truncated)
{
    json_t *document = tells(t->a, SEES(target), 200);

    assert_string_equal(text_at(document, "body/encoding"), encoding);
    assert_string_equal(text_at(document, "body/data"), data);
    assert_int_equal(json_is_true(admin_at(document, "body/truncated")), truncated);
    json_decref(document);
}

static void a_body_is_shown_as_text_or_in_base64(void **state)
{
    static const char nul[] = {'a', '\0', 'b'};
    struct admin *t = *state;

    puts_body(t, SLICE("say \"hi\"\n\xc3\xa4"));
    body_shown_is(t, "/api/v1/jobs/1", "text", "say \"hi\"\n\xc3\xa4", false);
    puts_body(t, SLICE("\xff\xfe!"));
    body_shown_is(t, "/api/v1/jobs/2", "base64", "//4h", false);
    puts_body(t, slice_of(nul, sizeof nul));
    body_shown_is(t, "/api/v1/jobs/3", "base64", "YQBi", false);
    puts_body(t, SLICE(""));
    body_shown_is(t, "/api/v1/jobs/4", "text", "", false);
}

// The text is never cut within a character.
static void a_body_is_shown_up_to_the_requested_size(void **state)
{
    struct admin *t = *state;
    json_t *document;

    puts_body(t, SLICE("ab\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80z"));
    body_shown_is(t, "/api/v1/jobs/1?body=2", "text", "ab", true);
    body_shown_is(t, "/api/v1/jobs/1?body=3", "text", "ab", true);
    body_shown_is(t, "/api/v1/jobs/1?body=4", "text", "ab\xc3\xa4", true);
    body_shown_is(t, "/api/v1/jobs/1?body=6", "text", "ab\xc3\xa4", true);
    body_shown_is(t, "/api/v1/jobs/1?body=10", "text", "ab\xc3\xa4\xe2\x82\xac", true);
    body_shown_is(t, "/api/v1/jobs/1?body=11", "text", "ab\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80",
                  true);
    body_shown_is(t, "/api/v1/jobs/1?body=12", "text", "ab\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80z",
                  false);
    document = tells(t->a, SEES("/api/v1/jobs/1?body=0"), 200);
    assert_true(json_is_null(admin_at(document, "body")));
    json_decref(document);
    asks(t->a, SEES("/api/v1/jobs/1?body=1048577"), 400);
}

static void a_long_body_is_shown_whole(void **state)
{
    struct admin *t = *state;
    char *text = malloc(LONG + 1);

    assert_non_null(text);
    for (size_t i = 0; i < LONG; i++) {
        text[i] = "abc\"\\\n\x01~"[i % 8];
    }
    text[LONG] = '\0';
    puts_body(t, slice_of(text, LONG));
    body_shown_is(t, "/api/v1/jobs/1", "text", text, false);
    text[LONG - 1] = (char)0xc3;
    puts_body(t, slice_of(text, LONG));
    {
        json_t *document = tells(t->a, SEES("/api/v1/jobs/2"), 200);

        assert_string_equal(text_at(document, "body/encoding"), "base64");
        assert_int_equal(json_string_length(admin_at(document, "body/data")), (LONG + 2) / 3 * 4);
        json_decref(document);
    }
    free(text);
}

static void a_body_alone_is_its_bytes(void **state)
{
    struct admin *t = *state;
    const struct http_answer *answer;
    static char large[LONG];

    puts_body(t, SLICE("<script>"));
    answer = asks(t->a, SEES("/api/v1/jobs/1/body"), 200);
    body_is(answer, "<script>");
    field_is(answer, "Content-Type", "application/octet-stream");
    field_is(answer, "Content-Disposition", "attachment");
    field_is(answer, "X-Content-Type-Options", "nosniff");
    memset(large, 0xee, sizeof large);
    puts_body(t, slice_of(large, sizeof large));
    answer = asks(t->a, SEES("/api/v1/jobs/2/body"), 200);
    assert_int_equal(answer->body.len, sizeof large);
    assert_memory_equal(answer->body.ptr, large, sizeof large);
}

static void a_job_deleted_while_its_body_is_written_is_shown_whole(void **state)
{
    struct admin *t = *state;
    const struct http_answer *answer;
    static char large[LONG];

    memset(large, 'x', sizeof large);
    puts_body(t, slice_of(large, sizeof large));
    peer_stop_reading(t->a);
    peer_send(t->a, SEES("/api/v1/jobs/1"));
    rig_feed(t->rig);
    says(t->v, "delete 1\r\n", "DELETED\r\n");
    peer_read_again(t->a);
    rig_run(t->rig);
    answer = answered(t->a, 200);
    assert_true(answer->body.len > LONG);
}

static void a_job_in_a_queue_that_the_caller_may_not_observe_is_hidden(void **state)
{
    struct admin *t = *state;
    json_t *document;

    some_jobs(t);
    says(t->w, "use r\r\n", "USING r\r\n");
    says(t->w, "put 0 0 9 1\r\na\r\n", "INSERTED 10\r\n");
    rig_callers(t->rig)->default_grants = GRANTS({MAY_OBSERVE, "r"});
    assert_false(peer_grant(t->a, rig_callers(t->rig)->default_grants));
    asks(t->a, SEES("/api/v1/jobs/1"), 404);
    asks(t->a, SEES("/api/v1/jobs/1/body"), 404);
    document = tells(t->a, SEES("/api/v1/jobs/10"), 200);
    json_decref(document);
}

// A body, and a list of jobs, wait until the jobs are safe.
static void a_reply_with_a_job_waits_until_the_job_is_durable(void **state)
{
    struct admin *t = *state;

    (void)peer_ask(t->w, SLICE("use q\r\n"));
    rig_hold_store(t->rig);
    (void)peer_ask(t->w, SLICE("put 0 0 60 1\r\nx\r\n"));
    waits(t->a, SEES("/api/v1/jobs/1/body"));
    rig_reach(t->rig);
    (void)answered(t->a, 200);
    (void)peer_ask(t->w, SLICE("put 0 0 60 1\r\nx\r\n"));
    peer_send(t->a, SEES("/api/v1/jobs/2"));
    rig_run(t->rig);
    assert_null(strstr(peer_hear(t->a).ptr, "\"id\":2"));
    rig_reach(t->rig);
    assert_non_null(strstr(peer_hear(t->a).ptr, "\"id\":2"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ADMIN(jobs_of_each_state_are_listed_in_pages),
        ADMIN(an_invalid_job_list_query_is_refused),
        ADMIN(a_job_shows_its_contract_and_its_history),
        ADMIN(a_missing_job_is_not_found),
        ADMIN(a_body_is_shown_as_text_or_in_base64),
        ADMIN(a_body_is_shown_up_to_the_requested_size),
        ADMIN(a_long_body_is_shown_whole),
        ADMIN(a_body_alone_is_its_bytes),
        ADMIN(a_job_deleted_while_its_body_is_written_is_shown_whole),
        ADMIN(a_job_in_a_queue_that_the_caller_may_not_observe_is_hidden),
        ADMIN(a_reply_with_a_job_waits_until_the_job_is_durable),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
