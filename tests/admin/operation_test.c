/* SPDX-License-Identifier: MIT */

// Operations on many jobs or queues.

#include "tests/admin/wire_admin.h"
#include "tests/admin/wire_events.h"
#include "tests/proto_beanstalk/wire_bean.h"
#include "tests/proto_common/record_quota.h"
#include "tests/proto_common/wire_callers.h"
#include "tests/support/policies.h"

#include "core/base/memory.h"

#include "admin/api/admin_operations.h"

#include <stdio.h>
#include <string.h>

enum { MANY = 2000 };

#define BEGINS(document) admin_change("POST", "/api/v1/operations", (document))

static void put_many(struct admin *t, const char *tube, int count)
{
    char line[80], answer[40];

    (void)snprintf(line, sizeof line, "use %s\r\n", tube);
    (void)snprintf(answer, sizeof answer, "USING %s\r\n", tube);
    says_text(t->w, line, answer);
    for (int i = 0; i < count; i++) {
        peer_send(t->w, SLICE("put 5 0 60 5\r\nhello\r\n"));
    }
    rig_run(t->rig);
    (void)peer_hear(t->w);
}

static uint64_t jobs_of(struct admin *t, const char *name, enum job_state state)
{
    struct queue *queue = broker_queue_find(rig_broker(t->rig), slice_str(name));
    struct queue_info info = {.pauses = 0};

    if (queue) {
        broker_queue_info(rig_broker(t->rig), queue, &info);
    }
    return info.jobs[state];
}

// Begins the operation and does its first slice. The caller must free the document.
static json_t *begins(struct admin *t, const char *document)
{
    return tells(t->a, BEGINS(document), 202);
}

static json_t *shown(struct admin *t, unsigned id)
{
    char target[60];

    (void)snprintf(target, sizeof target, "/api/v1/operations/%u", id);
    return tells(t->a, SEES(target), 200);
}

// The operation has ended with these numbers.
static void ended(struct admin *t, unsigned id, const char *how, unsigned touched, unsigned held)
{
    json_t *document = shown(t, id);

    assert_string_equal(text_at(document, "state"), how);
    assert_int_equal(number_at(document, "touched"), touched);
    assert_int_equal(number_at(document, "skipped/held"), held);
    assert_true(number_at(document, "finished_at") >= number_at(document, "started_at"));
    json_decref(document);
}

// A clear frees memory, so it must not need any.
static void a_queue_is_cleared_although_memory_is_short(void **state)
{
    struct admin *t = *state;

    put_many(t, "q", MANY);
    memory_set_limit(1);
    json_decref(begins(t, "{\"action\": \"delete\", \"queue\": \"q\"}"));
    rig_run(t->rig);
    ended(t, 1, "done", MANY, 0);
    memory_set_limit(0);
}

static void a_queue_is_cleared_in_the_background(void **state)
{
    struct admin *t = *state;
    json_t *document;

    put_many(t, "q", MANY);
    put_many(t, "other", 3);
    document = begins(t, "{\"action\": \"delete\", \"queue\": \"q\"}");
    assert_int_equal(number_at(document, "id"), 1);
    assert_string_equal(text_at(document, "action"), "delete");
    assert_string_equal(text_at(document, "target"), "q");
    assert_string_equal(text_at(document, "state"), "running");
    assert_int_equal(number_at(document, "total"), MANY);
    assert_in_range(number_at(document, "touched"), 1, MANY - 1);
    assert_true(json_is_null(admin_at(document, "finished_at")));
    assert_true(json_is_null(admin_at(document, "to")) &&
                json_is_null(admin_at(document, "error")));
    json_decref(document);
    rig_run(t->rig);
    ended(t, 1, "done", MANY, 0);
    assert_null(broker_queue_find(rig_broker(t->rig), SLICE("q")));
    assert_int_equal(jobs_of(t, "other", JOB_READY), 3);
}

static void a_dry_run_only_counts(void **state)
{
    struct admin *t = *state;
    json_t *document;

    put_many(t, "q", 20);
    says(t->v, "watch q\r\n", "WATCHING 2\r\n");
    says(t->v, "reserve\r\n", "RESERVED 1 5\r\nhello\r\n");
    document = begins(t, "{\"action\": \"delete\", \"queue\": \"q\", \"dry_run\": true}");
    assert_true(json_is_true(admin_at(document, "dry_run")));
    json_decref(document);
    ended(t, 1, "done", 19, 1);
    assert_int_equal(jobs_of(t, "q", JOB_READY), 19);
}

static void dead_letters_are_moved_back_to_their_queues(void **state)
{
    const struct policy_rule rule = {.glob = SLICE("?"),
                                     .spec = {.max_attempts = 1,
                                              .count_releases = true,
                                              .on_exhausted = ON_EXHAUSTED_MOVE,
                                              .dead_queue = SLICE("dead")}};
    struct admin *t = *state;

    assert_int_equal(STATUS_OK, set_policies(rig_broker(t->rig), &rule, 1));
    rig_run(t->rig);
    put_many(t, "q", 1);
    put_many(t, "r", 1);
    says(t->v, "watch q\r\nwatch r\r\n", "WATCHING 2\r\nWATCHING 3\r\n");
    for (unsigned id = 1; id <= 2; id++) {
        (void)peer_ask(t->v, SLICE("reserve\r\n"));
    }
    says(t->v, "release 1 0 0\r\nrelease 2 0 0\r\n", "RELEASED\r\nRELEASED\r\n");
    put_many(t, "dead", 3);
    assert_int_equal(jobs_of(t, "dead", JOB_READY), 5);
    json_decref(begins(t, "{\"action\": \"move\", \"queue\": \"dead\", \"back\": true}"));
    ended(t, 1, "done", 2, 0);
    assert_int_equal(jobs_of(t, "dead", JOB_READY), 3);
    assert_int_equal(jobs_of(t, "q", JOB_READY), 1);
    assert_int_equal(jobs_of(t, "r", JOB_READY), 1);
}

static void each_action_changes_all_matching_jobs(void **state)
{
    struct admin *t = *state;

    put_many(t, "q", 10);
    json_decref(begins(t, "{\"action\": \"bury\", \"queue\": \"q\", \"max\": 6}"));
    assert_int_equal(jobs_of(t, "q", JOB_BURIED), 6);
    json_decref(begins(t, "{\"action\": \"kick\", \"queue\": \"q\"}"));
    assert_int_equal(jobs_of(t, "q", JOB_READY), 10);
    json_decref(begins(t, "{\"action\": \"change\", \"queue\": \"q\", \"priority\": 3,"
                          "\"delay_seconds\": 60}"));
    assert_int_equal(jobs_of(t, "q", JOB_DELAYED), 10);
    json_decref(begins(t, "{\"action\": \"release\", \"queues\": \"*\","
                          "\"filter\": {\"states\": [\"delayed\"]}}"));
    assert_int_equal(jobs_of(t, "q", JOB_READY), 10);
    says(t->v, "watch q\r\n", "WATCHING 2\r\n");
    says(t->v, "reserve\r\n", "RESERVED 1 5\r\nhello\r\n");
    json_decref(begins(t, "{\"action\": \"move\", \"queues\": \"*\", \"to\": \"dead\"}"));
    ended(t, 5, "done", 9, 1);
    assert_int_equal(jobs_of(t, "dead", JOB_READY), 9);
    json_decref(begins(t, "{\"action\": \"pause\", \"queues\": \"d*\", \"pause_seconds\": 60}"));
    ended(t, 6, "done", 2, 0);
    says(t->v, "watch dead\r\n", "WATCHING 3\r\n");
    says(t->v, "reserve-with-timeout 0\r\n", "TIMED_OUT\r\n");
    json_decref(begins(t, "{\"action\": \"resume\", \"queue\": \"dead\"}"));
    ended(t, 7, "done", 1, 0);
    says(t->v, "reserve-with-timeout 0\r\n", "RESERVED 2 5\r\nhello\r\n");
    json_decref(begins(t, "{\"action\": \"resume\", \"queues\": \"*\", \"dry_run\": true}"));
    ended(t, 8, "done", 1, 0);
}

static void a_filter_selects_jobs(void **state)
{
    static const struct {
        const char *filter;
        unsigned touched;
    } rows[] = {
        {"{}", 4},
        {"{\"states\": []}", 4},
        {"{\"states\": [\"delayed\", \"buried\"]}", 1},
        {"{\"min_priority\": 2, \"max_priority\": 3}", 2},
        {"{\"min_bytes\": 3}", 2},
        {"{\"max_bytes\": 2}", 2},
        {"{\"contains\": \"ell\"}", 1},
        {"{\"contains_base64\": \"ZWxs\"}", 1},
        {"{\"min_age_seconds\": 5}", 2},
        {"{\"max_age_seconds\": 5, \"min_bytes\": 5}", 1},
    };
    struct admin *t = *state;
    char document[200];

    says(t->w, "use q\r\n", "USING q\r\n");
    says(t->w, "put 1 0 60 1\r\na\r\n", "INSERTED 1\r\n");
    says(t->w, "put 2 9 60 2\r\nab\r\n", "INSERTED 2\r\n");
    rig_advance(t->rig, SECONDS(6));
    says(t->w, "put 3 0 60 3\r\nabc\r\n", "INSERTED 3\r\n");
    says(t->w, "put 4 0 60 5\r\nhello\r\n", "INSERTED 4\r\n");
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        (void)snprintf(document, sizeof document,
                       "{\"action\": \"delete\", \"queue\": \"q\", \"dry_run\": true,"
                       "\"filter\": %s}",
                       rows[i].filter);
        json_decref(begins(t, document));
        ended(t, i + 1, "done", rows[i].touched, 0);
    }
}

static void an_invalid_plan_is_refused(void **state)
{
    static const char both[] = "{\"action\": \"delete\", \"queue\": \"q\", \"filter\": "
                               "{\"contains\": \"a\", \"contains_base64\": \"YQ==\"}}";
    static const char *const wrong[] = {
        "{\"queue\": \"q\"}",
        "{\"action\": \"paint\", \"queue\": \"q\"}",
        "{\"action\": \"delete\"}",
        "{\"action\": \"delete\", \"queue\": \"q\", \"queues\": \"*\"}",
        "{\"action\": \"delete\", \"queue\": \"\"}",
        "{\"action\": \"delete\", \"queue\": \"q\", \"colour\": 1}",
        "{\"action\": \"delete\", \"queue\": \"q\", \"priority\": 1}",
        "{\"action\": \"delete\", \"queue\": \"q\", \"to\": \"r\"}",
        "{\"action\": \"delete\", \"queue\": \"q\", \"max\": -1}",
        "{\"action\": \"delete\", \"queue\": \"q\", \"dry_run\": 1}",
        "{\"action\": \"move\", \"queue\": \"q\"}",
        "{\"action\": \"move\", \"queue\": \"q\", \"to\": \"\"}",
        "{\"action\": \"move\", \"queue\": \"q\", \"to\": \"r\", \"back\": true}",
        "{\"action\": \"kick\", \"queue\": \"q\", \"back\": true}",
        "{\"action\": \"change\", \"queue\": \"q\"}",
        "{\"action\": \"pause\", \"queue\": \"q\"}",
        "{\"action\": \"pause\", \"queue\": \"q\", \"pause_seconds\": 0}",
        "{\"action\":\"pause\",\"queue\":\"q\",\"pause_seconds\":1,\"filter\":{\"min_bytes\":1}}",
        "{\"action\": \"delete\", \"queue\": \"q\", \"filter\": []}",
        "{\"action\": \"delete\", \"queue\": \"q\", \"filter\": {\"states\": \"ready\"}}",
        "{\"action\": \"delete\", \"queue\": \"q\", \"filter\": {\"states\": [\"lost\"]}}",
        "{\"action\": \"delete\", \"queue\": \"q\", \"filter\": {\"size\": 1}}",
        "{\"action\": \"delete\", \"queue\": \"q\", \"filter\": {\"contains_base64\": \"a\"}}",
        both,
    };
    struct admin *t = *state;

    put_many(t, "q", 1);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        asks(t->a, BEGINS(wrong[i]), 400);
    }
    asks(t->a, BEGINS("{\"action\": \"delete\", \"queue\": \"none\"}"), 404);
    asks(t->a, BEGINS("{\"action\": \"resume\", \"queue\": \"none\"}"), 404);
    asks(t->a, SEES("/api/v1/operations/1"), 404);
    asks(t->a, SEES("/api/v1/operations?x=1"), 400);
    assert_int_equal(jobs_of(t, "q", JOB_READY), 1);
}

static void the_search_text_for_bodies_is_limited(void **state)
{
    char most[4097], document[8192];
    struct admin *t = *state;

    memset(most, 'a', sizeof most - 1);
    most[sizeof most - 1] = '\0';
    put_many(t, "q", 1);
    (void)snprintf(document, sizeof document,
                   "{\"action\":\"delete\",\"queue\":\"q\",\"filter\":{\"contains\":\"%s\"}}",
                   most);
    asks(t->a, BEGINS(document), 202);
    (void)snprintf(document, sizeof document,
                   "{\"action\":\"delete\",\"queue\":\"q\",\"filter\":{\"contains\":\"%sa\"}}",
                   most);
    body_is(asks(t->a, BEGINS(document), 400),
            "{\"error\": \"filter: contains is longer than 4096 bytes\"}\n");
    // This many base64 digits are 4101 bytes.
    memset(most, 'Y', sizeof most - 1);
    (void)snprintf(document, sizeof document,
                   "{\"action\":\"delete\",\"queue\":\"q\",\"filter\":"
                   "{\"contains_base64\":\"%s%.1372s\"}}",
                   most, most);
    asks(t->a, BEGINS(document), 400);
    assert_int_equal(jobs_of(t, "q", JOB_READY), 1);
}

static void an_operation_is_cancelled(void **state)
{
    struct admin *t = *state;
    json_t *document;
    uint64_t left;

    t->settings.idle_timeout = 0;
    put_many(t, "q", MANY);
    t->store_room = 40;
    json_decref(begins(t, "{\"action\": \"move\", \"queue\": \"q\", \"to\": \"r\"}"));
    document = tells(t->a, admin_change("DELETE", "/api/v1/operations/1", ""), 200);
    assert_string_equal(text_at(document, "state"), "cancelled");
    json_decref(document);
    t->store_room = RECORD_QUOTA_PLENTY;
    left = jobs_of(t, "q", JOB_READY);
    rig_advance(t->rig, SECONDS(100));
    assert_int_equal(jobs_of(t, "q", JOB_READY), left);
    ended(t, 1, "cancelled", (unsigned)(MANY - left), 0);
    asks(t->a, admin_change("DELETE", "/api/v1/operations/1", ""), 200);
    asks(t->a, admin_change("DELETE", "/api/v1/operations/2", ""), 404);
}

static void an_operation_continues_when_the_store_has_room_again(void **state)
{
    struct admin *t = *state;
    json_t *document;

    t->settings.idle_timeout = 0;
    put_many(t, "q", 100);
    t->store_room = 10;
    json_decref(begins(t, "{\"action\": \"move\", \"queue\": \"q\", \"to\": \"r\"}"));
    assert_int_equal(jobs_of(t, "r", JOB_READY), 10);
    rig_advance(t->rig, SECONDS(30));
    document = shown(t, 1);
    assert_string_equal(text_at(document, "state"), "running");
    json_decref(document);
    t->store_room = 20;
    rig_advance(t->rig, SECONDS(50));
    assert_int_equal(jobs_of(t, "r", JOB_READY), 30);
    rig_advance(t->rig, SECONDS(70));
    document = shown(t, 1);
    assert_string_equal(text_at(document, "state"), "failed");
    assert_string_equal(text_at(document, "error"), "the store has no room");
    assert_int_equal(number_at(document, "skipped/refused"), 1);
    json_decref(document);
    ended(t, 1, "failed", 30, 0);
}

static void an_operation_fails_if_its_target_cannot_exist(void **state)
{
    struct admin *t = *state;

    put_many(t, "q", 10);
    broker_set_max_queues(rig_broker(t->rig), 1);
    json_decref(begins(t, "{\"action\": \"move\", \"queue\": \"q\", \"to\": \"r\"}"));
    ended(t, 1, "failed", 0, 0);
}

static void the_number_of_running_operations_is_limited(void **state)
{
    struct admin *t = *state;
    json_t *document;

    put_many(t, "q", MANY);
    t->store_room = 0;
    for (unsigned i = 0; i < OPERATIONS_RUNNING; i++) {
        json_decref(begins(t, "{\"action\": \"move\", \"queue\": \"q\", \"to\": \"r\"}"));
    }
    asks(t->a, BEGINS("{\"action\": \"move\", \"queue\": \"q\", \"to\": \"r\"}"), 503);
    t->store_room = RECORD_QUOTA_PLENTY;
    rig_advance(t->rig, SECONDS(2));
    assert_int_equal(jobs_of(t, "r", JOB_READY), MANY);
    document = tells(t->a, SEES("/api/v1/operations"), 200);
    assert_int_equal(json_array_size(admin_at(document, "operations")), OPERATIONS_RUNNING);
    assert_int_equal(number_at(document, "operations/0/id"), OPERATIONS_RUNNING);
    json_decref(document);
}

static void ended_operations_are_kept_for_a_while(void **state)
{
    struct admin *t = *state;
    json_t *document;

    t->settings.idle_timeout = 0;
    put_many(t, "q", 1);
    for (unsigned i = 0; i < OPERATIONS_ENDED + 8; i++) {
        json_decref(begins(t, "{\"action\": \"kick\", \"queue\": \"q\"}"));
    }
    document = tells(t->a, SEES("/api/v1/operations"), 200);
    assert_int_equal(json_array_size(admin_at(document, "operations")), OPERATIONS_ENDED);
    json_decref(document);
    asks(t->a, SEES("/api/v1/operations/1"), 404);
    rig_advance(t->rig, OPERATIONS_KEPT_FOR + SECONDS(1));
    document = tells(t->a, SEES("/api/v1/operations"), 200);
    assert_int_equal(json_array_size(admin_at(document, "operations")), 0);
    json_decref(document);
}

static void operations_have_the_rights_of_their_caller(void **state)
{
    struct admin *t = *state;
    struct wire_callers *callers = rig_callers(t->rig);
    json_t *document;

    put_many(t, "a", 1);
    put_many(t, "seen", 1);
    put_many(t, "hidden", 1);
    callers->default_grants = GRANTS({MAY_OBSERVE | MAY_OPERATE, "a"}, {MAY_OBSERVE, "seen"});
    callers->identified = true;
    assert_false(peer_grant(t->a, callers->default_grants));
    asks(t->a, BEGINS("{\"action\": \"delete\", \"queue\": \"seen\"}"), 403);
    asks(t->a, BEGINS("{\"action\": \"delete\", \"queue\": \"hidden\"}"), 403);
    asks(t->a, BEGINS("{\"action\": \"move\", \"queue\": \"a\", \"to\": \"seen\"}"), 403);
    document = begins(t, "{\"action\": \"delete\", \"queues\": \"*\"}");
    assert_int_equal(number_at(document, "touched"), 1);
    assert_int_equal(number_at(document, "skipped/forbidden"), 1);
    assert_int_equal(number_at(document, "looked_at"), 2);
    json_decref(document);
    document = begins(t, "{\"action\": \"pause\", \"queues\": \"*\", \"pause_seconds\": 9}");
    assert_int_equal(number_at(document, "touched"), 0);
    assert_int_equal(number_at(document, "skipped/forbidden"), 1);
    json_decref(document);
    assert_int_equal(jobs_of(t, "hidden", JOB_READY), 1);
}

static void a_stream_shows_the_progress_of_operations(void **state)
{
    struct admin *t = *state;
    struct events *events;

    put_many(t, "q", 100);
    json_decref(begins(t, "{\"action\": \"kick\", \"queue\": \"q\"}"));
    events = events_open(t->b, "/api/v1/events");
    assert_int_equal(events_count(events, "operation"), 0);
    t->store_room = 10;
    json_decref(begins(t, "{\"action\": \"move\", \"queue\": \"q\", \"to\": \"r\"}"));
    rig_advance(t->rig, SECONDS(1));
    events_next(events, "operation");
    assert_int_equal(number_at(events->data, "id"), 2);
    assert_string_equal(text_at(events->data, "state"), "running");
    assert_int_equal(number_at(events->data, "touched"), 10);
    t->store_room = RECORD_QUOTA_PLENTY;
    rig_advance(t->rig, SECONDS(2));
    do {
        events_next(events, "operation");
    } while (strcmp(text_at(events->data, "state"), "running") == 0);
    assert_string_equal(text_at(events->data, "state"), "done");
    assert_int_equal(number_at(events->data, "touched"), 100);
    rig_advance(t->rig, SECONDS(5));
    assert_int_equal(events_count(events, "operation"), 0);
    events_close(events);
}

static void changes_of_an_operation_are_shown_when_they_are_durable(void **state)
{
    struct admin *t = *state;

    put_many(t, "q", 3);
    rig_hold_store(t->rig);
    peer_send(t->a, BEGINS("{\"action\": \"bury\", \"queue\": \"q\"}"));
    rig_run(t->rig);
    assert_int_equal(jobs_of(t, "q", JOB_BURIED), 3);
    assert_int_equal(peer_hear(t->a).len, 0);
    peer_send(t->b, SEES("/api/v1/operations/1"));
    rig_run(t->rig);
    assert_int_equal(peer_hear(t->b).len, 0);
    rig_reach(t->rig);
    assert_non_null(strstr(peer_hear(t->a).ptr, "\"done\""));
    assert_non_null(strstr(peer_hear(t->b).ptr, "\"done\""));
}

static void operations_of_others_are_not_shown(void **state)
{
    struct admin *t = *state;
    struct wire_callers *callers = rig_callers(t->rig);
    json_t *document;

    put_many(t, "a", 1);
    json_decref(begins(t, "{\"action\": \"kick\", \"queue\": \"a\"}"));
    callers->default_grants = GRANTS({MAY_OBSERVE | MAY_OPERATE, "*"});
    callers->identified = true;
    assert_false(peer_grant(t->a, callers->default_grants));
    json_decref(begins(t, "{\"action\": \"kick\", \"queue\": \"a\"}"));
    document = tells(t->a, SEES("/api/v1/operations"), 200);
    assert_int_equal(json_array_size(admin_at(document, "operations")), 1);
    assert_int_equal(number_at(document, "operations/0/id"), 2);
    json_decref(document);
    asks(t->a, SEES("/api/v1/operations/1"), 404);
    asks(t->a, admin_change("DELETE", "/api/v1/operations/1", ""), 404);
}

// The reload creates new grants.
static void an_operation_belongs_to_its_caller_after_a_reload_of_the_rules(void **state)
{
    struct admin *t = *state;
    struct wire_callers *callers = rig_callers(t->rig);
    struct grants *before = GRANTS({MAY_OBSERVE | MAY_OPERATE, "a"});

    put_many(t, "a", 1);
    callers->default_grants = before;
    callers->identified = true;
    assert_false(peer_grant(t->a, before));
    json_decref(tells(t->a, BEGINS("{\"action\": \"bury\", \"queue\": \"a\"}"), 202));
    callers->default_grants = GRANTS({MAY_OBSERVE | MAY_OPERATE, "a"});
    assert_false(peer_grant(t->a, callers->default_grants));
    grants_unref(before);
    asks(t->a, SEES("/api/v1/operations/1"), 200);
    asks(t->a, admin_change("DELETE", "/api/v1/operations/1", ""), 200);
    before = callers->default_grants;
    callers->default_grants = GRANTS({MAY_OBSERVE | MAY_OPERATE, "b"});
    assert_false(peer_grant(t->a, callers->default_grants));
    grants_unref(before);
    asks(t->a, SEES("/api/v1/operations/1"), 404);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ADMIN(a_queue_is_cleared_in_the_background),
        ADMIN(a_queue_is_cleared_although_memory_is_short),
        ADMIN(a_dry_run_only_counts),
        ADMIN(dead_letters_are_moved_back_to_their_queues),
        ADMIN(each_action_changes_all_matching_jobs),
        ADMIN(a_filter_selects_jobs),
        ADMIN(an_invalid_plan_is_refused),
        ADMIN(the_search_text_for_bodies_is_limited),
        ADMIN(an_operation_is_cancelled),
        ADMIN(an_operation_continues_when_the_store_has_room_again),
        ADMIN(an_operation_fails_if_its_target_cannot_exist),
        ADMIN(the_number_of_running_operations_is_limited),
        ADMIN(ended_operations_are_kept_for_a_while),
        ADMIN(operations_have_the_rights_of_their_caller),
        ADMIN(operations_of_others_are_not_shown),
        ADMIN(an_operation_belongs_to_its_caller_after_a_reload_of_the_rules),
        ADMIN(a_stream_shows_the_progress_of_operations),
        ADMIN(changes_of_an_operation_are_shown_when_they_are_durable),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
