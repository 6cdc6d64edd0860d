/* SPDX-License-Identifier: MIT */

// Changes of one job, of one queue, and of the process.

#include "tests/admin/wire_admin.h"
#include "tests/proto_beanstalk/wire_bean.h"
#include "tests/proto_common/record_quota.h"
#include "tests/proto_common/wire_callers.h"
#include "tests/support/policies.h"

#include <stdio.h>
#include <string.h>

#define POSTS(target, document) admin_change("POST", (target), (document))
#define PUTS(target, document) admin_change("PUT", (target), (document))
#define DELETES(target) admin_change("DELETE", (target), "")

// The job has this text in one of its members.
static void job_is(struct admin *t, struct slice said, const char *member, const char *text)
{
    json_t *document = tells(t->a, said, 200);

    assert_string_equal(text_at(document, member), text);
    json_decref(document);
}

//
// Adding
//

static void a_job_is_added_with_its_contract(void **state)
{
    struct admin *t = *state;
    json_t *document = tells(t->a,
                             POSTS("/api/v1/jobs", "{\"queue\": \"default\", \"body\": \"hello\","
                                                   "\"priority\": 7, \"ttr_seconds\": 9,"
                                                   "\"delay_seconds\": 0.5, \"key\": \"k\","
                                                   "\"max_attempts\": 3,"
                                                   "\"on_failure\": \"drop\"}"),
                             201);

    assert_int_equal(number_at(document, "id"), 1);
    assert_true(json_is_false(admin_at(document, "joined")));
    json_decref(document);
    document = tells(t->a, SEES("/api/v1/jobs/1"), 200);
    assert_string_equal(text_at(document, "state"), "delayed");
    assert_int_equal(number_at(document, "priority"), 7);
    assert_int_equal(number_at(document, "ttr_seconds"), 9);
    assert_true(number_at(document, "left_seconds") == 0.5);
    assert_int_equal(number_at(document, "max_attempts"), 3);
    assert_string_equal(text_at(document, "on_failure"), "drop");
    assert_string_equal(text_at(document, "key"), "k");
    assert_true(json_is_true(admin_at(document, "durable")));
    json_decref(document);
    document = tells(t->a, POSTS("/api/v1/jobs", "{\"queue\": \"default\", \"key\": \"k\"}"), 201);
    assert_int_equal(number_at(document, "id"), 1);
    assert_true(json_is_true(admin_at(document, "joined")));
    json_decref(document);
    says(t->w, "reserve-with-timeout 0\r\n", "RESERVED 1 5\r\nhello\r\n");
}

// Such a name cannot be written as text.
static void a_queue_whose_name_is_not_text_is_named_by_its_path(void **state)
{
    struct admin *t = *state;
    json_t *document;

    json_decref(tells(t->a, POSTS("/api/v1/jobs", "{\"queue_path\": \"a%FF%2f\"}"), 201));
    json_decref(tells(t->a, POSTS("/api/v1/jobs", "{\"queue_path\": \"%00.\"}"), 201));
    assert_non_null(broker_queue_find(rig_broker(t->rig), SLICE("a\xff/")));
    assert_non_null(broker_queue_find(rig_broker(t->rig), SLICE(".")));
    json_decref(tells(t->a, POSTS("/api/v1/jobs/2/move", "{\"queue_path\": \"a%FF%2F\"}"), 200));
    document = tells(t->a, SEES("/api/v1/jobs/2"), 200);
    assert_string_equal(text_at(document, "queue_path"), "a%FF%2F");
    json_decref(document);
    json_decref(tells(
        t->a, POSTS("/api/v1/operations", "{\"action\": \"delete\", \"queue_path\": \"a%FF%2F\"}"),
        202));
    rig_run(t->rig);
    asks(t->a, SEES("/api/v1/jobs/1"), 404);
    asks(t->a, SEES("/api/v1/jobs/2"), 404);
    asks(t->a, POSTS("/api/v1/jobs", "{\"queue_path\": \"%F\"}"), 400);
    asks(t->a, POSTS("/api/v1/jobs", "{\"queue_path\": \"a%00\"}"), 400);
    asks(t->a, POSTS("/api/v1/jobs", "{\"queue_path\": \"a\", \"queue\": \"a\"}"), 400);
}

static void a_body_of_any_bytes_comes_in_base64(void **state)
{
    struct admin *t = *state;

    asks(t->a, POSTS("/api/v1/jobs", "{\"queue\": \"default\", \"body_base64\": \"AP8KDQ==\"}"),
         201);
    says(t->w, "reserve\r\n", "RESERVED 1 4\r\n\0\xff\n\r\r\n");
    asks(t->a, POSTS("/api/v1/jobs", "{\"queue\": \"default\"}"), 201);
    says(t->w, "reserve\r\n", "RESERVED 2 0\r\n\r\n");
}

static void an_invalid_job_is_refused(void **state)
{
    static const char *const wrong[] = {
        "",
        "[]",
        "{\"queue\": ",
        "{}",
        "{\"queue\": \"\"}",
        "{\"queue\": 5}",
        "{\"queue\": \"a\\u0000b\"}",
        "{\"queue\": \"q\", \"colour\": \"red\"}",
        "{\"queue\": \"q\", \"priority\": -1}",
        "{\"queue\": \"q\", \"priority\": 4294967296}",
        "{\"queue\": \"q\", \"priority\": 1.5}",
        "{\"queue\": \"q\", \"delay_seconds\": -1}",
        "{\"queue\": \"q\", \"delay_seconds\": 1e10}",
        "{\"queue\": \"q\", \"max_attempts\": 1001}",
        "{\"queue\": \"q\", \"on_failure\": \"cry\"}",
        "{\"queue\": \"q\", \"key\": \"\"}",
        "{\"queue\": \"q\", \"body\": \"a\", \"body_base64\": \"YQ==\"}",
        "{\"queue\": \"q\", \"body_base64\": \"YQ=\"}",
        "{\"queue\": \"q\", \"body_base64\": \"YQ==YQ==\"}",
        "{\"queue\": \"q\", \"body_base64\": \"YR==\"}",
        "{\"queue\": \"q\", \"body_base64\": \"Y-==\"}",
        "{\"queue\": \"q\", \"body_base64\": \"====\"}",
    };
    struct admin *t = *state;

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        asks(t->a, POSTS("/api/v1/jobs", wrong[i]), 400);
    }
    assert_null(broker_queue_find(rig_broker(t->rig), SLICE("q")));
}

static void an_error_of_the_broker_is_the_reply(void **state)
{
    struct admin *t = *state;

    t->store_room = 0;
    asks(t->a, POSTS("/api/v1/jobs", "{\"queue\": \"q\"}"), 503);
    t->store_room = RECORD_QUOTA_PLENTY;
    broker_drain(rig_broker(t->rig));
    asks(t->a, POSTS("/api/v1/jobs", "{\"queue\": \"q\"}"), 503);
    asks(t->a, http_post("/api/v1/jobs", "", SLICE("{\"queue\": \"q\"}")), 403);
}

//
// One job
//

static void a_job_is_changed_in_each_way(void **state)
{
    struct admin *t = *state;
    json_t *document;

    says(t->w, "put 5 0 60 1\r\na\r\n", "INSERTED 1\r\n");
    job_is(t, POSTS("/api/v1/jobs/1/bury", "{\"priority\": 6}"), "state", "buried");
    job_is(t, POSTS("/api/v1/jobs/1/kick", ""), "state", "ready");
    job_is(t, POSTS("/api/v1/jobs/1/change", "{\"delay_seconds\": 9}"), "state", "delayed");
    job_is(t, POSTS("/api/v1/jobs/1/release", ""), "state", "ready");
    job_is(t, POSTS("/api/v1/jobs/1/move", "{\"queue\": \"other\"}"), "queue", "other");
    says(t->w, "watch other\r\n", "WATCHING 2\r\n");
    says(t->w, "reserve\r\n", "RESERVED 1 1\r\na\r\n");
    rig_advance(t->rig, SECONDS(50));
    document = tells(t->a, POSTS("/api/v1/jobs/1/touch", ""), 200);
    assert_int_equal(number_at(document, "left_seconds"), 60);
    assert_int_equal(number_at(document, "priority"), 6);
    json_decref(document);
    document = tells(
        t->a, POSTS("/api/v1/jobs/1/release", "{\"priority\": 2, \"delay_seconds\": 4}"), 200);
    assert_int_equal(number_at(document, "priority"), 2);
    assert_int_equal(number_at(document, "attempts"), 0);
    assert_int_equal(number_at(document, "left_seconds"), 4);
    json_decref(document);
    says(t->w, "delete 1\r\n", "DELETED\r\n");
}

static void a_dead_letter_shows_its_origin_and_is_moved_back(void **state)
{
    const struct policy_rule rule = {.glob = SLICE("default"),
                                     .spec = {.max_attempts = 1,
                                              .on_exhausted = ON_EXHAUSTED_MOVE,
                                              .dead_queue = SLICE("dead")}};
    struct admin *t = *state;
    json_t *document;

    assert_int_equal(STATUS_OK, set_policies(rig_broker(t->rig), &rule, 1));
    rig_run(t->rig);
    says(t->w, "put 5 0 60 1\r\na\r\n", "INSERTED 1\r\n");
    asks(t->a, POSTS("/api/v1/jobs/1/move", "{\"back\": true}"), 409);
    says(t->w, "reserve\r\n", "RESERVED 1 1\r\na\r\n");
    rig_advance(t->rig, SECONDS(60));
    document = tells(t->a, SEES("/api/v1/jobs/1"), 200);
    assert_string_equal(text_at(document, "queue"), "dead");
    assert_int_equal(number_at(document, "attempts"), 1);
    assert_string_equal(text_at(document, "past/queue"), "default");
    assert_string_equal(text_at(document, "past/queue_path"), "default");
    assert_string_equal(text_at(document, "past/why"), "attempts");
    assert_int_equal(number_at(document, "past/attempts"), 1);
    assert_true(number_at(document, "past/at") > number_at(document, "created_at"));
    json_decref(document);
    document = tells(t->a, POSTS("/api/v1/jobs/1/move", "{\"back\": true}"), 200);
    assert_string_equal(text_at(document, "queue"), "default");
    assert_int_equal(number_at(document, "attempts"), 0);
    assert_true(json_is_null(admin_at(document, "past")));
    json_decref(document);
    document = tells(t->a, SEES("/api/v1/queues/default"), 200);
    assert_int_equal(number_at(document, "totals/dead"), 1);
    assert_int_equal(number_at(document, "totals/expired"), 0);
    json_decref(document);
}

static void a_job_that_a_worker_holds_is_deleted(void **state)
{
    struct admin *t = *state;

    says(t->w, "put 5 0 60 1\r\na\r\n", "INSERTED 1\r\n");
    says(t->w, "reserve\r\n", "RESERVED 1 1\r\na\r\n");
    asks(t->a, DELETES("/api/v1/jobs/1"), 204);
    says(t->w, "delete 1\r\n", "NOT_FOUND\r\n");
    asks(t->a, DELETES("/api/v1/jobs/1"), 404);
}

static void an_act_that_the_state_does_not_allow_is_refused(void **state)
{
    struct admin *t = *state;

    says(t->w, "put 5 0 60 1\r\na\r\n", "INSERTED 1\r\n");
    asks(t->a, POSTS("/api/v1/jobs/1/kick", ""), 409);
    asks(t->a, POSTS("/api/v1/jobs/1/release", ""), 409);
    asks(t->a, POSTS("/api/v1/jobs/1/touch", ""), 409);
    says(t->w, "reserve\r\n", "RESERVED 1 1\r\na\r\n");
    asks(t->a, POSTS("/api/v1/jobs/1/move", "{\"queue\": \"other\"}"), 409);
    asks(t->a, POSTS("/api/v1/jobs/1/change", "{\"delay_seconds\": 1}"), 409);
    asks(t->a, POSTS("/api/v1/jobs/1/bury", ""), 200);
    asks(t->a, POSTS("/api/v1/jobs/1/bury", ""), 409);
    t->store_room = 0;
    asks(t->a, POSTS("/api/v1/jobs/1/kick", ""), 503);
    asks(t->a, POSTS("/api/v1/jobs/1/change", "{\"priority\": 1}"), 503);
    asks(t->a, POSTS("/api/v1/jobs/1/move", "{\"queue\": \"other\"}"), 503);
    asks(t->a, DELETES("/api/v1/jobs/1"), 204);
}

static void an_invalid_act_is_refused(void **state)
{
    struct admin *t = *state;

    says(t->w, "put 5 0 60 1\r\na\r\n", "INSERTED 1\r\n");
    asks(t->a, POSTS("/api/v1/jobs/1/move", ""), 400);
    asks(t->a, POSTS("/api/v1/jobs/1/move", "{}"), 400);
    asks(t->a, POSTS("/api/v1/jobs/1/move", "{\"queue\": \"\"}"), 400);
    asks(t->a, POSTS("/api/v1/jobs/1/move", "{\"queue\": \"q\", \"back\": true}"), 400);
    asks(t->a, POSTS("/api/v1/jobs/1/move", "{\"back\": false}"), 400);
    asks(t->a, POSTS("/api/v1/jobs/1/change", "{}"), 400);
    asks(t->a, POSTS("/api/v1/jobs/1/change", "{\"queue\": \"x\"}"), 400);
    asks(t->a, POSTS("/api/v1/jobs/1/bury", "{\"delay_seconds\": 1}"), 400);
    asks(t->b, POSTS("/api/v1/jobs/1/kick", "{}"), 400);
    asks(t->a, POSTS("/api/v1/jobs/1/kick?x=1", ""), 400);
    asks(t->a, POSTS("/api/v1/jobs/2/kick", ""), 404);
    asks(t->a, POSTS("/api/v1/jobs/x/kick", ""), 404);
    asks(t->a, http_post("/api/v1/jobs/1/bury", "", SLICE("")), 403);
    job_is(t, SEES("/api/v1/jobs/1"), "state", "ready");
}

static void a_job_requires_the_right_on_its_queue(void **state)
{
    struct admin *t = *state;
    struct peer *other;

    says(t->w, "use a\r\n", "USING a\r\n");
    says(t->w, "put 5 0 60 1\r\na\r\n", "INSERTED 1\r\n");
    says(t->w, "use b\r\n", "USING b\r\n");
    says(t->w, "put 5 0 60 1\r\na\r\n", "INSERTED 2\r\n");
    says(t->w, "use c\r\n", "USING c\r\n");
    says(t->w, "put 5 0 60 1\r\na\r\n", "INSERTED 3\r\n");
    rig_callers(t->rig)->default_grants =
        GRANTS({MAY_OBSERVE | MAY_OPERATE, "a"}, {MAY_OBSERVE, "b"}, {MAY_SUBMIT, "hidden"});
    rig_callers(t->rig)->identified = true;
    assert_false(peer_grant(t->a, rig_callers(t->rig)->default_grants));
    asks(t->a, POSTS("/api/v1/jobs/1/bury", ""), 200);
    asks(t->a, POSTS("/api/v1/jobs/2/bury", ""), 403);
    asks(t->a, POSTS("/api/v1/jobs/3/bury", ""), 404);
    asks(t->a, POSTS("/api/v1/jobs/1/move", "{\"queue\": \"b\"}"), 403);
    asks(t->a, POSTS("/api/v1/jobs/1/move", "{\"queue\": \"hidden\"}"), 204);
    asks(t->a, POSTS("/api/v1/jobs", "{\"queue\": \"a\"}"), 403);
    asks(t->a, POSTS("/api/v1/jobs", "{\"queue\": \"hidden\"}"), 201);
    asks(t->a, POSTS("/api/v1/queues/b/pause", "{\"seconds\": 1}"), 403);
    asks(t->a, POSTS("/api/v1/reload", ""), 403);
    asks(t->a, POSTS("/api/v1/drain", "{\"draining\": true}"), 403);
    // The refusal ended this connection, because the body was not read.
    other = peer_new(t->rig);
    assert_false(peer_grant(other, rig_callers(t->rig)->default_grants));
    asks(other, POSTS("/api/v1/log-commands", "{\"log_commands\": \"\"}"), 403);
    peer_free(other);
    assert_int_equal(t->introspect.reloads + t->introspect.drains + t->introspect.logs, 0);
}

static void a_change_is_answered_when_it_is_durable(void **state)
{
    static const struct {
        const char *method, *target, *document, *answer;
    } rows[] = {
        {"POST", "/api/v1/jobs", "{\"queue\": \"q\"}", "HTTP/1.1 201"},
        {"POST", "/api/v1/jobs/1/bury", "", "HTTP/1.1 200"},
        {"POST", "/api/v1/jobs/1/kick", "", "HTTP/1.1 200"},
        {"POST", "/api/v1/jobs/1/change", "{\"priority\": 9}", "HTTP/1.1 200"},
        {"POST", "/api/v1/jobs/1/move", "{\"queue\": \"r\"}", "HTTP/1.1 200"},
        {"POST", "/api/v1/queues/r/pause", "{\"seconds\": 9}", "HTTP/1.1 200"},
        {"DELETE", "/api/v1/jobs/1", "", "HTTP/1.1 204"},
    };
    struct admin *t = *state;

    rig_hold_store(t->rig);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        peer_send(t->a, admin_change(rows[i].method, rows[i].target, rows[i].document));
        rig_run(t->rig);
        assert_int_equal(peer_hear(t->a).len, 0);
        rig_reach(t->rig);
        assert_non_null(strstr(peer_hear(t->a).ptr, rows[i].answer));
    }
}

//
// Queues
//

static void a_queue_is_created_kept_and_released(void **state)
{
    struct admin *t = *state;
    json_t *document = tells(t->a, PUTS("/api/v1/queues/a%2Fb", ""), 200);

    assert_string_equal(text_at(document, "name"), "a/b");
    json_decref(document);
    says(t->w, "use a/b\r\n", "USING a/b\r\n");
    says(t->w, "put 5 0 60 1\r\na\r\n", "INSERTED 1\r\n");
    asks(t->a, DELETES("/api/v1/queues/a%2Fb"), 409);
    asks(t->a, DELETES("/api/v1/jobs/1"), 204);
    says(t->w, "use default\r\n", "USING default\r\n");
    asks(t->a, DELETES("/api/v1/queues/a%2Fb"), 204);
    asks(t->a, SEES("/api/v1/queues/a%2Fb"), 404);
    asks(t->a, DELETES("/api/v1/queues/a%2Fb"), 404);
    broker_set_max_queues(rig_broker(t->rig), 1);
    asks(t->a, PUTS("/api/v1/queues/other", ""), 409);
}

static void a_queue_is_paused_and_resumed(void **state)
{
    struct admin *t = *state;
    json_t *document = tells(t->a, POSTS("/api/v1/queues/default/pause", "{\"seconds\": 90}"), 200);

    assert_true(json_is_true(admin_at(document, "paused")));
    assert_int_equal(number_at(document, "pause_left_seconds"), 90);
    json_decref(document);
    document = tells(t->a, POSTS("/api/v1/queues/default/resume", ""), 200);
    assert_true(json_is_false(admin_at(document, "paused")));
    json_decref(document);
    asks(t->a, POSTS("/api/v1/queues/default/pause", "{}"), 400);
    asks(t->a, POSTS("/api/v1/queues/none/resume", ""), 404);
    // A queue that does not exist is paused, and exists until the pause is over.
    asks(t->a, POSTS("/api/v1/queues/none/pause", "{\"seconds\": 90}"), 200);
    asks(t->a, SEES("/api/v1/queues/none"), 200);
    asks(t->a, POSTS("/api/v1/queues/none/resume", ""), 204);
    asks(t->a, SEES("/api/v1/queues/none"), 404);
    t->store_room = 0;
    asks(t->a, POSTS("/api/v1/queues/default/pause", "{\"seconds\": 90}"), 503);
}

static void a_queue_is_limited(void **state)
{
    struct admin *t = *state;
    json_t *document = tells(
        t->a, PUTS("/api/v1/queues/default/limits", "{\"high\": 1, \"normal\": 2, \"low\": 3}"),
        200);

    assert_int_equal(number_at(document, "limits/normal"), 2);
    json_decref(document);
    asks(t->a, PUTS("/api/v1/queues/default/limits", "{\"high\": 1, \"normal\": 2}"), 400);
    asks(t->a, PUTS("/api/v1/queues/none/limits", "{\"high\": 1, \"normal\": 2, \"low\": 3}"), 404);
    asks(t->a, POSTS("/api/v1/jobs", "{\"queue\": \"default\", \"priority\": 0}"), 201);
    asks(t->a, POSTS("/api/v1/jobs", "{\"queue\": \"default\", \"priority\": 0}"), 409);
}

//
// The process
//

static void draining_is_started_and_stopped(void **state)
{
    struct admin *t = *state;
    json_t *document = tells(t->a, POSTS("/api/v1/drain", "{\"draining\": true}"), 200);

    assert_true(json_is_true(admin_at(document, "draining")));
    json_decref(document);
    assert_true(t->introspect.draining);
    asks(t->a, POSTS("/api/v1/jobs", "{\"queue\": \"q\"}"), 503);
    asks(t->a, POSTS("/api/v1/drain", "{\"draining\": false}"), 200);
    assert_false(t->introspect.draining);
    asks(t->a, POSTS("/api/v1/jobs", "{\"queue\": \"q\"}"), 201);
    asks(t->a, POSTS("/api/v1/drain", "{}"), 400);
    asks(t->a, POSTS("/api/v1/drain", "{\"draining\": 1}"), 400);
    assert_int_equal(t->introspect.drains, 2);
}

static void the_configuration_is_read_again(void **state)
{
    struct admin *t = *state;
    json_t *document = tells(t->a, POSTS("/api/v1/reload", ""), 200);

    assert_true(json_is_true(admin_at(document, "reloaded")));
    json_decref(document);
    t->introspect.reload_fails = true;
    document = tells(t->a, POSTS("/api/v1/reload", ""), 200);
    assert_true(json_is_false(admin_at(document, "reloaded")));
    assert_string_equal(text_at(document, "why"), "/etc/t.conf:3: no such key");
    json_decref(document);
    assert_int_equal(t->introspect.reloads, 2);
}

static void whose_commands_are_logged(struct admin *t, const char *document, const char *whose)
{
    json_t *answer = tells(t->a, POSTS("/api/v1/log-commands", document), 200);

    assert_string_equal(text_at(answer, "log_commands"), whose);
    assert_string_equal(t->introspect.logged, whose);
    json_decref(answer);
}

static void logging_of_a_clients_commands_is_started_and_stopped(void **state)
{
    static const char *const wrong[] = {
        "{}",
        "{\"log_commands\": 7}",
        "{\"log_commands\": \"localhost\"}",
        "{\"log_commands\": \"10.0.0.7 \"}",
        "{\"log_commands\": \"10.0.0.7\\n\"}",
        "{\"log_commands\": \"::1\", \"more\": 1}",
        "{\"log_commands\": \"1111.1111.1111.1111.1111.1111.1111.1111.1111.1111.1111.1111.1111\"}",
    };
    struct admin *t = *state;

    (void)wire_introspect_add(&t->introspect, 4);
    whose_commands_are_logged(t, "{\"log_commands\": \"10.0.0.7\"}", "10.0.0.7");
    whose_commands_are_logged(t, "{\"log_commands\": \"fe80::1%eth0\"}", "fe80::1%eth0");
    whose_commands_are_logged(t, "{\"log_commands\": \"4\"}", "4");
    whose_commands_are_logged(t, "{\"log_commands\": \"\"}", "");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        asks(t->a, POSTS("/api/v1/log-commands", wrong[i]), 400);
    }
    asks(t->a, POSTS("/api/v1/log-commands", "{\"log_commands\": \"5\"}"), 404);
    assert_int_equal(t->introspect.logs, 4);
    t->introspect.log_fails = true;
    asks(t->a, POSTS("/api/v1/log-commands", "{\"log_commands\": \"\"}"), 503);
}

static void the_pause_of_an_endpoint_is_ended(void **state)
{
    static const char *const no_words[] = {NULL};
    struct admin *t = *state;
    json_t *document;

    t->introspect.pushes[0] = (struct introspect_push){.section = "mail/*",
                                                       .endpoint = "https://x",
                                                       .state = "paused",
                                                       .outcome_words = no_words,
                                                       .last_failure = ""};
    t->introspect.push_count = 1;
    document = tells(t->a, POSTS("/api/v1/push/mail%2F*/resume", ""), 200);
    assert_string_equal(text_at(document, "section"), "mail/*");
    assert_string_equal(text_at(document, "state"), "open");
    json_decref(document);
    asks(t->a, POSTS("/api/v1/push/mail/resume", ""), 404);
    asks(t->a, POSTS("/api/v1/push/mail%2F*/resume?x=1", ""), 400);
    rig_callers(t->rig)->default_grants = GRANTS({MAY_OBSERVE, "*"}, {MAY_OPERATE, "mail/*"});
    rig_callers(t->rig)->identified = true;
    assert_false(peer_grant(t->a, rig_callers(t->rig)->default_grants));
    asks(t->a, POSTS("/api/v1/push/mail%2F*/resume", ""), 403);
    assert_int_equal(t->introspect.resumes, 1);
}

// A body of a megabyte would take as much time as a hundred others.
static void a_body_with_too_many_parts_is_refused(void **state)
{
    static const char *const parts[] = {"0,", "{},", "[],", "\"\\\"\":", "[", "{\"a\":"};
    enum { MANY = 1000 };
    struct admin *t = *state;

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        size_t len = strlen(parts[i]);
        char text[8 * MANY] = "{\"queue\": [";
        char *at = text + strlen(text);

        for (int j = 0; j < MANY; j++, at += len) {
            memcpy(at, parts[i], len + 1);
        }
        body_is(asks(t->a, POSTS("/api/v1/jobs", text), 400),
                "{\"error\": \"the body has too many members\"}\n");
    }
    asks(t->a, POSTS("/api/v1/jobs", "{\"queue\": \"q\", \"body\": \",,\\\\\\\",:[{\"}"), 201);
}

// A document padded to this many bytes.
static const char *padded(const char *document, size_t len)
{
    static char text[(4 << 20) + 1];

    (void)snprintf(text, sizeof text, "%-*s", (int)len, document);
    return text;
}

// The limit does not depend on max_body, because a document is parsed in one go.
static void a_document_that_is_too_large_is_refused(void **state)
{
    static const char job[] = "{\"queue\": \"q\", \"body\": \"x\"}";
    struct admin *t = *state;

    t->settings.max_body = 4 << 20;
    asks(t->a, POSTS("/api/v1/jobs", padded(job, 1 << 20)), 201);
    body_is(asks(t->a, POSTS("/api/v1/jobs", padded(job, (1 << 20) + 1)), 413),
            "{\"error\": \"the body has more than 1024 KiB of JSON\"}\n");
    asks(t->a, POSTS("/api/v1/jobs/1/bury", padded("{\"priority\": 1}", 1 << 19)), 200);
    body_is(asks(t->a, POSTS("/api/v1/jobs/1/bury", padded("{}", (1 << 19) + 1)), 413),
            "{\"error\": \"the body has more than 512 KiB of JSON\"}\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ADMIN(a_job_is_added_with_its_contract),
        ADMIN(a_queue_whose_name_is_not_text_is_named_by_its_path),
        ADMIN(a_body_of_any_bytes_comes_in_base64),
        ADMIN(an_invalid_job_is_refused),
        ADMIN(a_body_with_too_many_parts_is_refused),
        ADMIN(a_document_that_is_too_large_is_refused),
        ADMIN(an_error_of_the_broker_is_the_reply),
        ADMIN(a_job_is_changed_in_each_way),
        ADMIN(a_dead_letter_shows_its_origin_and_is_moved_back),
        ADMIN(a_job_that_a_worker_holds_is_deleted),
        ADMIN(an_act_that_the_state_does_not_allow_is_refused),
        ADMIN(an_invalid_act_is_refused),
        ADMIN(a_job_requires_the_right_on_its_queue),
        ADMIN(a_change_is_answered_when_it_is_durable),
        ADMIN(a_queue_is_created_kept_and_released),
        ADMIN(a_queue_is_paused_and_resumed),
        ADMIN(a_queue_is_limited),
        ADMIN(draining_is_started_and_stopped),
        ADMIN(the_configuration_is_read_again),
        ADMIN(logging_of_a_clients_commands_is_started_and_stopped),
        ADMIN(the_pause_of_an_endpoint_is_ended),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
