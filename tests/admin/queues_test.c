/* SPDX-License-Identifier: MIT */

// Lists of queues, and one queue.

#include "core/policy.h"
#include "tests/admin/wire_admin.h"
#include "tests/proto_beanstalk/wire_bean.h"
#include "tests/proto_common/wire_callers.h"
#include "tests/proto_common/wire_host_private.h"
#include "tests/support/broker_check.h"
#include "tests/support/policies.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MANY = 3000 };

// A peer of beanstalk puts a job to the tube.
static void puts_to(struct peer *peer, const char *tube, const char *options)
{
    char line[700];

    (void)snprintf(line, sizeof line, "use %s\r\n", tube);
    (void)peer_ask(peer, slice_str(line));
    (void)snprintf(line, sizeof line, "put %s 1\r\nx\r\n", options);
    assert_memory_equal(peer_ask(peer, slice_str(line)).ptr, "INSERTED", 8);
}

// The names in the list, separated by blanks.
static void shows(struct admin *t, const char *query, const char *names)
{
    char target[400], shown[600] = "";
    json_t *document;
    size_t i;
    json_t *queue;

    (void)snprintf(target, sizeof target, "/api/v1/queues?%s", query);
    document = tells(t->a, SEES(target), 200);
    json_array_foreach(json_object_get(document, "queues"), i, queue)
    {
        (void)snprintf(shown + strlen(shown), sizeof shown - strlen(shown), "%s%s", i ? " " : "",
                       text_at(queue, "name"));
    }
    assert_string_equal(shown, names);
    json_decref(document);
}

// All pages of the list.
static void pages_show(struct admin *t, const char *query, const char *names)
{
    char target[1600], shown[600] = "", cursor[1200] = "";

    do {
        json_t *document, *queue;
        size_t i;

        (void)snprintf(target, sizeof target, "/api/v1/queues?limit=2&%s%s%s", query,
                       *cursor ? "&cursor=" : "", cursor);
        document = tells(t->a, SEES(target), 200);
        json_array_foreach(json_object_get(document, "queues"), i, queue)
        {
            (void)snprintf(shown + strlen(shown), sizeof shown - strlen(shown), "%s%s",
                           *shown ? " " : "", text_at(queue, "name"));
        }
        (void)snprintf(cursor, sizeof cursor, "%s",
                       json_is_null(admin_at(document, "next")) ? "" : text_at(document, "next"));
        json_decref(document);
    } while (*cursor);
    assert_string_equal(shown, names);
}

// a: 1 ready; b: 3 ready; c: 2 ready, 1 delayed; d: 2 ready. `default` is that of each connection.
static void some_queues(struct admin *t)
{
    static const struct {
        const char *tube, *options;
    } jobs[] = {{"a", "0 0 60"}, {"b", "0 0 60"}, {"b", "5000 0 60"},
                {"b", "9 0 60"}, {"c", "0 0 60"}, {"c", "0 0 60"},
                {"c", "0 9 60"}, {"d", "0 0 60"}, {"d", "0 0 60"}};

    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
        puts_to(t->w, jobs[i].tube, jobs[i].options);
    }
}

static void a_queue_shows_its_jobs_and_counters(void **state)
{
    struct admin *t = *state;
    json_t *document;

    broker_observe(rig_broker(t->rig), true);
    some_queues(t);
    rig_advance(t->rig, SECONDS(7));
    says(t->v, "watch b\r\n", "WATCHING 2\r\n");
    says(t->v, "reserve\r\n", "RESERVED 2 1\r\nx\r\n");
    rig_advance(t->rig, SECONDS(2));
    says(t->v, "delete 2\r\n", "DELETED\r\n");
    says(t->v, "reserve\r\n", "RESERVED 4 1\r\nx\r\n");
    says(t->v, "bury 4 1\r\n", "BURIED\r\n");
    document = tells(t->a, SEES("/api/v1/queues/b"), 200);
    assert_string_equal(text_at(document, "name"), "b");
    assert_string_equal(text_at(document, "path"), "b");
    assert_int_equal(number_at(document, "jobs/ready"), 1);
    assert_int_equal(number_at(document, "jobs/buried"), 1);
    assert_int_equal(number_at(document, "bands/normal"), 1);
    assert_int_equal(number_at(document, "totals/submitted"), 3);
    assert_int_equal(number_at(document, "totals/completed"), 1);
    assert_int_equal(number_at(document, "totals/buried"), 1);
    assert_int_equal(number_at(document, "workers"), 1);
    assert_true(number_at(document, "oldest_ready_seconds") > 8.99);
    assert_int_equal(number_at(document, "wait/count"), 2);
    assert_int_equal(number_at(document, "run/count"), 2);
    assert_true(number_at(document, "run/sum_seconds") == 2.0);
    assert_int_equal(json_array_size(admin_at(document, "run/buckets")), 2);
    assert_true(number_at(document, "run/buckets/0/le_seconds") == 0.0001);
    assert_true(json_is_false(admin_at(document, "paused")));
    json_decref(document);
}

static void a_queue_without_measured_times_has_no_distributions(void **state)
{
    struct admin *t = *state;
    json_t *document = tells(t->a, SEES("/api/v1/queues/default"), 200);

    assert_true(json_is_null(admin_at(document, "wait")) &&
                json_is_null(admin_at(document, "run")));
    assert_true(json_is_null(admin_at(document, "oldest_ready_seconds")));
    json_decref(document);
    asks(t->a, SEES("/api/v1/queues/none"), 404);
    asks(t->a, SEES("/api/v1/queues/default?x=1"), 400);
}

static void a_queue_shows_why_it_is_closed(void **state)
{
    const struct policy_rule rule = {.glob = SLICE("c"),
                                     .spec = {.max_running = 1, .rate_interval_for = SECONDS(90)}};
    struct admin *t = *state;
    json_t *document;

    assert_int_equal(STATUS_OK, set_policies(rig_broker(t->rig), &rule, 1));
    says(t->w, "use c\r\nput 0 0 9 3\r\nabc\r\nwatch c\r\nreserve\r\n",
         "USING c\r\nINSERTED 1\r\nWATCHING 2\r\nRESERVED 1 3\r\nabc\r\n");
    document = tells(t->a, SEES("/api/v1/queues/c"), 200);
    assert_int_equal(json_array_size(admin_at(document, "closed")), 2);
    assert_true(number_at(document, "rate_left_seconds") == 90.0);
    assert_int_equal(number_at(document, "bytes"), 3);
    assert_true(json_is_false(admin_at(document, "paused")));
    json_decref(document);
}

static void a_queue_shows_its_pause(void **state)
{
    struct admin *t = *state;
    json_t *document;

    some_queues(t);
    says(t->w, "pause-tube c 30\r\n", "PAUSED\r\n");
    rig_advance(t->rig, SECONDS(10));
    document = tells(t->a, SEES("/api/v1/queues/c"), 200);
    assert_true(json_is_true(admin_at(document, "paused")));
    assert_true(number_at(document, "pause_left_seconds") == 20.0);
    json_decref(document);
    shows(t, "with=paused", "c");
}

// The name appears as text, and as it is in paths.
static void a_name_of_any_bytes_is_shown_and_found(void **state)
{
    static const char name[] = {'a', '/', (char)0xff, (char)0xc3, (char)0xa4, ' '};
    struct admin *t = *state;
    struct queue *queue;
    json_t *document;

    assert_int_equal(broker_queue_hold(rig_broker(t->rig), slice_of(name, sizeof name), &queue),
                     STATUS_OK);
    document = tells(t->a, SEES("/api/v1/queues/a%2F%FF%C3%A4%20"), 200);
    assert_string_equal(text_at(document, "name"), "a/\xef\xbf\xbd\xc3\xa4 ");
    assert_string_equal(text_at(document, "path"), "a%2F%FF%C3%A4%20");
    json_decref(document);
    pages_show(t, "sort=-name", "default a/\xef\xbf\xbd\xc3\xa4 ");
    broker_queue_drop(rig_broker(t->rig), queue);
}

// HTTP clients treat such a name as a path step, escaped or not.
static void names_that_look_like_path_steps_are_shown_and_found(void **state)
{
    static const char *const names[] = {".", ".."};
    static const char *const targets[] = {"/api/v1/queues/%00.", "/api/v1/queues/%00.."};
    struct admin *t = *state;

    for (size_t i = 0; i < 2; i++) {
        struct queue *queue;
        json_t *document;

        assert_int_equal(broker_queue_hold(rig_broker(t->rig), slice_str(names[i]), &queue),
                         STATUS_OK);
        document = tells(t->a, http_get(targets[i], ""), 200);
        assert_string_equal(text_at(document, "name"), names[i]);
        assert_string_equal(text_at(document, "path"), targets[i] + strlen("/api/v1/queues/"));
        json_decref(document);
        broker_queue_drop(rig_broker(t->rig), queue);
    }
    asks(t->a, SEES("/api/v1/queues/%00..."), 404);
    asks(t->a, SEES("/api/v1/queues/%00"), 404);
}

static void queues_are_sorted_by_any_column_either_way(void **state)
{
    struct admin *t = *state;

    some_queues(t);
    shows(t, "", "a b c d default");
    shows(t, "sort=-name", "default d c b a");
    shows(t, "sort=-ready", "b d c a default");
    shows(t, "sort=ready", "default a c d b");
    shows(t, "sort=-submitted", "c b d a default");
    shows(t, "sort=-delayed&limit=1", "c");
    shows(t, "sort=-workers&limit=1", "default");
    asks(t->a, SEES("/api/v1/queues?sort=colour"), 400);
    asks(t->a, SEES("/api/v1/queues?sort="), 400);
}

static void queues_are_sorted_by_the_age_of_their_oldest_ready_job(void **state)
{
    struct admin *t = *state;

    for (const char *tube = "c\0b\0a\0"; *tube; tube += 2) {
        puts_to(t->w, tube, "0 0 60");
        rig_advance(t->rig, SECONDS(1));
    }
    shows(t, "sort=-oldest_ready_seconds", "c b a default");
    shows(t, "sort=oldest_ready_seconds", "default a b c");
}

static void pages_continue_after_their_cursor(void **state)
{
    struct admin *t = *state;

    some_queues(t);
    pages_show(t, "", "a b c d default");
    pages_show(t, "sort=-name", "default d c b a");
    pages_show(t, "sort=-ready", "b d c a default");
    pages_show(t, "sort=ready", "default a c d b");
    pages_show(t, "sort=oldest_ready_seconds", "default a b c d");
    shows(t, "cursor=0-62", "c d default");
    shows(t, "cursor=0-6200", "c d default");
    asks(t->a, SEES("/api/v1/queues?cursor=x"), 400);
    asks(t->a, SEES("/api/v1/queues?cursor=1-6"), 400);
    asks(t->a, SEES("/api/v1/queues?cursor=1-6g"), 400);
    asks(t->a, SEES("/api/v1/queues?limit=0"), 400);
    asks(t->a, SEES("/api/v1/queues?limit=1001"), 400);
}

// Time alone does not change the order of ages.
static void pages_sorted_by_age_are_stable_over_time(void **state)
{
    struct admin *t = *state;
    json_t *document;
    char query[200];

    for (const char *tube = "c\0b\0a\0"; *tube; tube += 2) {
        puts_to(t->w, tube, "0 0 60");
        rig_advance(t->rig, SECONDS(1));
    }
    document = tells(t->a, SEES("/api/v1/queues?sort=-oldest_ready_seconds&limit=1"), 200);
    (void)snprintf(query, sizeof query, "sort=-oldest_ready_seconds&cursor=%s",
                   text_at(document, "next"));
    json_decref(document);
    rig_advance(t->rig, SECONDS(50));
    shows(t, query, "b a default");
}

static void queues_are_filtered(void **state)
{
    struct admin *t = *state;
    json_t *document;

    some_queues(t);
    shows(t, "search=fau", "default");
    shows(t, "search=fauf", "");
    shows(t, "name=[a-c]", "a b c");
    shows(t, "name=d*", "d default");
    shows(t, "with=delayed", "c");
    shows(t, "with=unworked,delayed", "c");
    shows(t, "with=worked", "default");
    shows(t, "with=ready&search=c", "c");
    shows(t, "with=waiting", "");
    asks(t->a, SEES("/api/v1/queues?name=[a"), 400);
    asks(t->a, SEES("/api/v1/queues?with=ready,happy"), 400);
    asks(t->a, SEES("/api/v1/queues?with="), 400);
    document = tells(t->a, SEES("/api/v1/queues?with=ready&limit=1"), 200);
    assert_int_equal(number_at(document, "total"), 5);
    assert_int_equal(number_at(document, "matched"), 4);
    json_decref(document);
}

static void a_queue_that_the_caller_may_not_observe_is_hidden(void **state)
{
    struct admin *t = *state;
    json_t *document;

    some_queues(t);
    knows_token(t->rig, "operator", {MAY_OPERATE, "*"});
    rig_callers(t->rig)->default_grants = GRANTS({MAY_OBSERVE, "b"}, {MAY_OPERATE, "*"});
    assert_false(peer_grant(t->a, rig_callers(t->rig)->default_grants));
    shows(t, "", "b");
    document = tells(t->a, SEES("/api/v1/queues"), 200);
    assert_int_equal(number_at(document, "total"), 1);
    json_decref(document);
    document = tells(t->a, SEES("/api/v1/queues/b"), 200);
    json_decref(document);
    asks(t->a, SEES("/api/v1/queues/c"), 403);
    asks(t->a, SEES("/api/v1/queues/none"), 403);
    asks(t->a, SEES("/api/v1/queues/c/jobs"), 403);
    asks(t->a, http_get("/api/v1/queues", "Authorization: Bearer operator\r\n"), 403);
}

//
// Very many
//

static int setup_many(void **state)
{
    int result = admin_setup_with(state, (struct rig_options){.unchecked = true, .budget = 1},
                                  ADMIN_DEFAULTS);
    struct admin *t = *state;

    for (int i = 0; i < MANY; i++) {
        struct queue *queue;
        char name[20];

        (void)snprintf(name, sizeof name, "q%d", i);
        assert_int_equal(broker_queue_hold(rig_broker(t->rig), slice_str(name), &queue), STATUS_OK);
        broker_queue_keep(rig_broker(t->rig), queue, true);
        broker_queue_drop(rig_broker(t->rig), queue);
    }
    return result;
}

static void drop(struct admin *t, const char *name)
{
    broker_queue_keep(rig_broker(t->rig), broker_queue_find(rig_broker(t->rig), slice_str(name)),
                      false);
}

static void many_queues_are_listed_in_slices(void **state)
{
    struct admin *t = *state;
    unsigned long feeds = rig_feeds(t->rig);
    json_t *document = tells(t->a, SEES("/api/v1/queues?limit=1000&sort=-name"), 200);

    assert_true(rig_feeds(t->rig) - feeds > MANY / 128 + 1000 / 4);
    assert_int_equal(number_at(document, "total"), MANY + 1);
    assert_int_equal(json_array_size(admin_at(document, "queues")), 1000);
    assert_string_equal(text_at(document, "queues/0/name"), "q999");
    assert_string_equal(text_at(document, "queues/999/name"), "q2799");
    json_decref(document);
}

// Queues may be removed between the slices; the remaining ones are shown.
static void queues_removed_while_the_list_is_made_are_left_out(void **state)
{
    struct admin *t = *state;
    json_t *document;
    json_error_t error;
    const struct http_answer *answer;

    peer_send(t->a, SEES("/api/v1/queues?limit=2"));
    for (int i = 0; i < 5; i++) {
        rig_feed(t->rig);
    }
    drop(t, "q1");
    rig_run(t->rig);
    answer = answered(t->a, 200);
    document = json_loadb(answer->body.ptr, answer->body.len, 0, &error);
    assert_non_null(document);
    assert_string_equal(text_at(document, "queues/0/name"), "default");
    assert_string_equal(text_at(document, "queues/1/name"), "q0");
    json_decref(document);
    document = tells(t->a, SEES("/api/v1/queues?limit=2&cursor=0-7130"), 200);
    assert_string_equal(text_at(document, "queues/0/name"), "q10");
    json_decref(document);
}

static void many_removed_queues_are_skipped_in_slices(void **state)
{
    struct admin *t = *state;
    struct broker *broker = rig_broker(t->rig);
    struct queue_snapshot older;
    unsigned long feeds;
    json_t *document;
    char name[16];

    queue_snapshot_begin(broker, &older);
    for (int i = 0; i < MANY; i++) {
        (void)snprintf(name, sizeof name, "q%d", i);
        drop(t, name);
    }
    assert_int_equal(broker_queue_create(broker, NULL, SLICE("behind")), STATUS_OK);
    feeds = rig_feeds(t->rig);
    document = tells(t->a, SEES("/api/v1/queues?limit=2"), 200);
    assert_true(rig_feeds(t->rig) - feeds > MANY / (8 * BROKER_SLICE));
    assert_int_equal(number_at(document, "total"), 2);
    assert_string_equal(text_at(document, "queues/0/name"), "behind");
    json_decref(document);
    queue_snapshot_end(broker, &older);
}

static void an_unread_list_is_freed_with_its_connection(void **state)
{
    struct admin *t = *state;

    peer_send(t->a, SEES("/api/v1/queues?limit=1000"));
    for (int i = 0; i < 3; i++) {
        rig_feed(t->rig);
    }
    assert_true(peer_holds(t->a) > 1000 * 16);
    peer_free(t->a);
    drop(t, "q7");
    rig_run(t->rig);
    assert_int_equal(check_retained_queues(rig_broker(t->rig)), 0);
}

#define MANY_QUEUES(test) cmocka_unit_test_setup_teardown(test, setup_many, admin_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ADMIN(a_queue_shows_its_jobs_and_counters),
        ADMIN(a_queue_without_measured_times_has_no_distributions),
        ADMIN(a_queue_shows_why_it_is_closed),
        ADMIN(a_queue_shows_its_pause),
        ADMIN(a_name_of_any_bytes_is_shown_and_found),
        ADMIN(names_that_look_like_path_steps_are_shown_and_found),
        ADMIN(queues_are_sorted_by_any_column_either_way),
        ADMIN(queues_are_sorted_by_the_age_of_their_oldest_ready_job),
        ADMIN(pages_continue_after_their_cursor),
        ADMIN(pages_sorted_by_age_are_stable_over_time),
        ADMIN(queues_are_filtered),
        ADMIN(a_queue_that_the_caller_may_not_observe_is_hidden),
        MANY_QUEUES(many_queues_are_listed_in_slices),
        MANY_QUEUES(queues_removed_while_the_list_is_made_are_left_out),
        MANY_QUEUES(many_removed_queues_are_skipped_in_slices),
        MANY_QUEUES(an_unread_list_is_freed_with_its_connection),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
