/* SPDX-License-Identifier: MIT */

// The event sources of the broker.

#include "tests/admin/wire_admin.h"
#include "tests/admin/wire_events.h"
#include "tests/proto_common/wire_callers.h"
#include "tests/support/broker_check.h"

#include <stdio.h>
#include <string.h>

#define GET_EVENTS "/api/v1/events"
#define SAID_MAX 300

// The peer sends a beanstalk line with this name in it.
static void says(struct peer *peer, const char *line, const char *name)
{
    char said[SAID_MAX];
    int len = snprintf(said, sizeof said, "%s %s\r\n", line, name);

    assert_true(len > 0 && len < SAID_MAX);
    (void)peer_ask(peer, slice_of(said, (size_t)len));
}

static void puts_jobs(struct peer *peer, const char *tube, unsigned count)
{
    says(peer, "use", tube);
    for (unsigned i = 0; i < count; i++) {
        (void)peer_ask(peer, SLICE("put 1 0 60 1\r\nx\r\n"));
    }
}

//
// One queue
//

static void a_queue_is_shown_when_it_changes(void **state)
{
    struct admin *t = *state;
    struct events *events;

    puts_jobs(t->w, "mail", 2);
    events = events_open(t->a, GET_EVENTS "?queue=mail");
    events_next(events, "queue");
    assert_string_equal(text_at(events->data, "name"), "mail");
    assert_int_equal(number_at(events->data, "jobs/ready"), 2);
    assert_non_null(admin_at(events->data, "wait"));
    puts_jobs(t->w, "mail", 1);
    rig_advance(t->rig, SECONDS(1));
    events_next(events, "queue");
    assert_int_equal(number_at(events->data, "jobs/ready"), 3);
    events_close(events);
}

static void a_queue_that_does_not_change_is_not_shown_again(void **state)
{
    struct admin *t = *state;
    struct events *events;

    says(t->w, "watch", "mail");
    events = events_open(t->a, GET_EVENTS "?queue=mail");
    assert_int_equal(events_count(events, "queue"), 1);
    rig_advance(t->rig, SECONDS(10));
    assert_int_equal(events_count(events, "queue"), 0);
    events_close(events);
}

static void a_removed_queue_is_gone_until_it_is_created_again(void **state)
{
    struct admin *t = *state;
    struct events *events;

    says(t->w, "watch", "mail/$");
    events = events_open(t->a, GET_EVENTS "?queue=mail/%24");
    assert_int_equal(events_count(events, "queue"), 1);
    says(t->w, "ignore", "mail/$");
    rig_advance(t->rig, SECONDS(2));
    events_next(events, "gone");
    assert_string_equal(text_at(events->data, "name"), "mail/$");
    assert_string_equal(text_at(events->data, "path"), "mail%2F%24");
    assert_int_equal(events_count(events, "gone"), 0);
    says(t->w, "watch", "mail/$");
    rig_advance(t->rig, SECONDS(1));
    events_next(events, "queue");
    assert_int_equal(events_count(events, "gone"), 0);
    events_close(events);
}

static void a_queue_that_does_not_exist_is_gone(void **state)
{
    struct admin *t = *state;

    struct events *events = events_open(t->a, GET_EVENTS "?queue=mail");

    assert_int_equal(events_count(events, "gone"), 1);
    puts_jobs(t->w, "mail", 1);
    rig_advance(t->rig, SECONDS(1));
    assert_int_equal(events_count(events, "queue"), 1);
    events_close(events);
}

static void events_of_a_queue_require_the_right_to_observe_it(void **state)
{
    struct admin *t = *state;
    struct events *events;

    puts_jobs(t->w, "mail", 1);
    puts_jobs(t->w, "post", 1);
    peer_may(t->a, {MAY_OBSERVE, "mail"});
    knows_token(t->rig, "alpha", {MAY_OBSERVE, "mail"});
    asks(t->a, http_get(GET_EVENTS "?queue=post", "Authorization: Bearer alpha\r\n"), 403);
    asks(t->a, http_get(GET_EVENTS "?queue=none", "Authorization: Bearer alpha\r\n"), 403);
    rig_callers(t->rig)->default_grants = GRANTS({MAY_OBSERVE, "mail"});
    events = events_open(t->a, GET_EVENTS "?queue=mail");
    assert_int_equal(events_count(events, "queue"), 1);
    peer_may(t->a, {MAY_OBSERVE, "post"});
    rig_advance(t->rig, SECONDS(1));
    assert_int_equal(events_count(events, "gone"), 1);
    events_close(events);
}

//
// A list of queues
//

static void a_list_has_the_requested_queues(void **state)
{
    struct admin *t = *state;
    struct events *events;

    puts_jobs(t->w, "one", 1);
    puts_jobs(t->w, "two", 2);
    puts_jobs(t->w, "three", 3);
    events = events_open(t->a, GET_EVENTS "?queues=2&sort=-ready&with=ready");
    events_next(events, "queues");
    assert_int_equal(json_array_size(admin_at(events->data, "queues")), 2);
    assert_string_equal(text_at(events->data, "queues/0/name"), "three");
    assert_string_equal(text_at(events->data, "queues/1/name"), "two");
    assert_int_equal(number_at(events->data, "matched"), 3);
    assert_int_equal(number_at(events->data, "total"), 4);
    assert_true(json_is_string(admin_at(events->data, "next")));
    puts_jobs(t->w, "one", 9);
    rig_advance(t->rig, SECONDS(1));
    events_next(events, "queues");
    assert_string_equal(text_at(events->data, "queues/0/name"), "one");
    assert_int_equal(number_at(events->data, "queues/0/jobs/ready"), 10);
    assert_string_equal(text_at(events->data, "queues/1/name"), "three");
    events_close(events);
}

// The event equals the reply to a request for the same page.
static void a_list_is_the_page_of_the_same_query(void **state)
{
    struct admin *t = *state;
    struct events *events;
    json_t *page;

    for (int i = 0; i < 30; i++) {
        char name[20];

        (void)snprintf(name, sizeof name, "tube-%d", i * 7 % 30);
        says(t->w, "watch", name);
    }
    events = events_open(t->a, GET_EVENTS "?queues=20&search=tube");
    page = tells(t->b, SEES("/api/v1/queues?limit=20&search=tube"), 200);
    events_next(events, "queues");
    assert_true(json_equal(events->data, page));
    assert_int_equal(json_array_size(admin_at(page, "queues")), 20);
    json_decref(page);
    events_close(events);
}

static void a_list_that_does_not_change_is_not_shown_again(void **state)
{
    struct admin *t = *state;
    struct events *events;

    says(t->w, "watch", "mail");
    events = events_open(t->a, GET_EVENTS "?queues=200");
    assert_int_equal(events_count(events, "queues"), 1);
    rig_advance(t->rig, SECONDS(10));
    assert_int_equal(events_count(events, "queues"), 0);
    says(t->w, "ignore", "mail");
    rig_advance(t->rig, SECONDS(1));
    assert_int_equal(events_count(events, "queues"), 1);
    events_close(events);
}

// Queues are removed and created during the walk and during the writing.
static void queues_may_be_removed_while_a_list_is_made(void **state)
{
    struct admin *t = *state;
    struct events *events;
    char name[20];

    for (int i = 0; i < 1000; i++) {
        (void)snprintf(name, sizeof name, "t%d", i);
        says(t->w, "watch", name);
    }
    events = events_open(t->a, GET_EVENTS "?queues=200");
    assert_int_equal(events_count(events, "queues"), 1);
    for (int i = 0; i < 1000; i++) {
        (void)snprintf(name, sizeof name, "t%d", i * 7 % 1000);
        says(t->w, "ignore", name);
        rig_advance(t->rig, NSEC_PER_SEC / 10);
    }
    assert_true(events_count(events, "queues") > 90);
    assert_int_equal(number_at(events->data, "total"), 1);
    assert_int_equal(check_retained_queues(rig_broker(t->rig)), 0);
    events_close(events);
}

static void a_stream_that_ends_within_a_round_frees_everything(void **state)
{
    struct admin *t = *state;
    char name[20];

    for (int i = 0; i < 1000; i++) {
        (void)snprintf(name, sizeof name, "t%d", i);
        says(t->w, "watch", name);
    }
    for (unsigned turns = 1; turns < 40; turns++) {
        struct peer *peer = peer_new(t->rig);

        peer_send(peer, SEES(GET_EVENTS "?queues=200"));
        for (unsigned turn = 0; turn < turns; turn++) {
            rig_feed(t->rig);
        }
        peer_free(peer);
    }
    peer_free(t->w);
    rig_run(t->rig);
    assert_int_equal(check_retained_queues(rig_broker(t->rig)), 0);
}

static void a_list_has_only_what_its_caller_may_observe(void **state)
{
    struct admin *t = *state;
    struct events *events;

    puts_jobs(t->w, "mail", 1);
    puts_jobs(t->w, "post", 1);
    rig_callers(t->rig)->default_grants = GRANTS({MAY_OBSERVE, "mail"});
    peer_may(t->a, {MAY_OBSERVE, "mail"});
    events = events_open(t->a, GET_EVENTS "?queues=10");
    events_next(events, "queues");
    assert_int_equal(number_at(events->data, "total"), 1);
    assert_string_equal(text_at(events->data, "queues/0/name"), "mail");
    events_close(events);
}

static void an_invalid_event_query_is_refused(void **state)
{
    static const char *const wrong[] = {
        GET_EVENTS "?queue=%",         GET_EVENTS "?tube=mail",
        GET_EVENTS "?queues=0",        GET_EVENTS "?queues=201",
        GET_EVENTS "?queues=x",        GET_EVENTS "?queues=1&sort=size",
        GET_EVENTS "?queues=1&with=x", GET_EVENTS "?queues=1&name=[",
        GET_EVENTS "?cursor=1-",
    };
    struct admin *t = *state;

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        asks(t->a, SEES(wrong[i]), 400);
    }
}

//
// Operations
//

#define BEGINS(document) admin_change("POST", "/api/v1/operations", (document))
#define CLEARS_MAIL BEGINS("{\"action\": \"delete\", \"queue\": \"mail\"}")

static void an_operation_is_sent_when_it_progresses(void **state)
{
    struct admin *t = *state;
    struct events *events;

    puts_jobs(t->w, "mail", 200);
    events = events_open(t->a, GET_EVENTS);
    assert_int_equal(events_count(events, "operation"), 0);
    json_decref(tells(t->b, CLEARS_MAIL, 202));
    rig_advance(t->rig, SECONDS(1));
    events_next(events, "operation");
    assert_int_equal(number_at(events->data, "id"), 1);
    assert_int_equal(number_at(events->data, "touched"), 200);
    assert_string_equal(text_at(events->data, "state"), "done");
    rig_advance(t->rig, SECONDS(10));
    assert_int_equal(events_count(events, "operation"), 0);
    events_close(events);
}

// The changes of an operation may not be durable yet.
static void an_operation_is_sent_when_its_changes_are_durable(void **state)
{
    struct admin *t = *state;
    struct events *events;
    size_t waiting;

    puts_jobs(t->w, "mail", 5);
    events = events_open(t->a, GET_EVENTS);
    rig_hold_store(t->rig);
    peer_send(t->b, CLEARS_MAIL);
    rig_advance(t->rig, SECONDS(1));
    assert_int_equal(events_count(events, "operation"), 0);
    // No further output is added while it waits.
    waiting = peer_unread(t->a);
    rig_advance(t->rig, SECONDS(100));
    assert_int_equal(peer_unread(t->a), waiting);
    rig_reach(t->rig);
    assert_int_equal(events_count(events, "operation"), 1);
    events_close(events);
}

static void operations_are_sent_to_callers_who_may_see_them(void **state)
{
    struct admin *t = *state;
    struct events *events;

    puts_jobs(t->w, "mail", 1);
    rig_callers(t->rig)->default_grants = GRANTS({MAY_OBSERVE, "*"});
    peer_may(t->a, {MAY_OBSERVE, "*"});
    events = events_open(t->a, GET_EVENTS);
    json_decref(tells(t->b, CLEARS_MAIL, 202));
    rig_advance(t->rig, SECONDS(1));
    assert_int_equal(events_count(events, "operation"), 0);
    events_close(events);
}

// A slice in each turn.
static int setup_turns(void **state)
{
    return admin_setup_with(state, (struct rig_options){.budget = 1}, ADMIN_DEFAULTS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ADMIN(a_queue_is_shown_when_it_changes),
        ADMIN(a_queue_that_does_not_change_is_not_shown_again),
        ADMIN(a_removed_queue_is_gone_until_it_is_created_again),
        ADMIN(a_queue_that_does_not_exist_is_gone),
        ADMIN(a_list_has_the_requested_queues),
        ADMIN(a_list_is_the_page_of_the_same_query),
        ADMIN(a_list_that_does_not_change_is_not_shown_again),
        cmocka_unit_test_setup_teardown(queues_may_be_removed_while_a_list_is_made, setup_turns,
                                        admin_teardown),
        cmocka_unit_test_setup_teardown(a_stream_that_ends_within_a_round_frees_everything,
                                        setup_turns, admin_teardown),
        ADMIN(a_list_has_only_what_its_caller_may_observe),
        ADMIN(an_invalid_event_query_is_refused),
        ADMIN(an_operation_is_sent_when_it_progresses),
        ADMIN(an_operation_is_sent_when_its_changes_are_durable),
        ADMIN(operations_are_sent_to_callers_who_may_see_them),
        ADMIN(events_of_a_queue_require_the_right_to_observe_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
