/* SPDX-License-Identifier: MIT */
// The lists of connections and workers, and one connection.
#include "tests/admin/wire_admin.h"
#include "tests/proto_common/wire_callers.h"

#include <stdio.h>
#include <string.h>

enum { MANY = 3000 };

// All clients of the rig are connections of the process.
static void shows_all_peers(struct admin *t)
{
    (void)wire_introspect_add_peer(&t->introspect, t->a);
    (void)wire_introspect_add_peer(&t->introspect, t->b);
    (void)wire_introspect_add_peer(&t->introspect, t->w);
    (void)wire_introspect_add_peer(&t->introspect, t->v);
}

static void may_only_observe(struct admin *t, const char *queues)
{
    rig_callers(t->rig)->default_grants = GRANTS({MAY_OBSERVE, queues});
    assert_false(peer_grant(t->a, rig_callers(t->rig)->default_grants));
}

// The numbers of the connections in the reply, separated by blanks.
static void shows(struct admin *t, const char *target, const char *numbers)
{
    json_t *document = tells(t->a, SEES(target), 200);
    char shown[400] = "";
    json_t *connection;
    size_t i;

    json_array_foreach(json_object_get(document, "connections"), i, connection)
    {
        (void)snprintf(shown + strlen(shown), sizeof shown - strlen(shown), "%s%.0f", i ? " " : "",
                       number_at(connection, "id"));
    }
    assert_string_equal(shown, numbers);
    json_decref(document);
}

static void connection_is_shown_with_its_identity_and_its_activity(void **state)
{
    struct admin *t = *state;
    struct introspect_connection *worker;
    json_t *document;

    shows_all_peers(t);
    worker = &t->introspect.connections[2];
    worker->tls = true;
    worker->received = 11;
    worker->sent = 12;
    worker->unread = 13;
    worker->held = 14;
    (void)snprintf(worker->caller, sizeof worker->caller, "clerk");
    worker->client_id = "w\xff";
    peer_ask(t->w, SLICE("put 0 0 60 1\r\na\r\nwatch mail\r\nreserve\r\nreserve\r\n"));
    document = tells(t->a, SEES("/api/v1/connections"), 200);
    assert_int_equal(json_array_size(admin_at(document, "connections")), 4);
    assert_true(json_is_null(admin_at(document, "next")));
    assert_int_equal(number_at(document, "total"), 11 + 12 + 13);
    assert_string_equal(text_at(document, "connections/0/protocol"), "admin");
    assert_true(json_is_null(admin_at(document, "connections/0/caller")));
    assert_true(json_is_null(admin_at(document, "connections/0/client_id")));
    assert_string_equal(text_at(document, "connections/2/protocol"), "beanstalk");
    assert_string_equal(text_at(document, "connections/2/peer"), "127.0.0.1:50000");
    assert_string_equal(text_at(document, "connections/2/caller"), "clerk");
    assert_string_equal(text_at(document, "connections/2/client_id"), "w\xef\xbf\xbd");
    assert_true(json_is_true(admin_at(document, "connections/2/tls")));
    assert_int_equal(number_at(document, "connections/2/connected_seconds"), 10);
    assert_true(json_is_true(admin_at(document, "connections/2/worker")));
    assert_true(json_is_true(admin_at(document, "connections/2/producer")));
    assert_true(json_is_true(admin_at(document, "connections/2/waiting")));
    assert_int_equal(number_at(document, "connections/2/subscriptions"), 2);
    assert_int_equal(number_at(document, "connections/2/jobs_held"), 1);
    assert_int_equal(number_at(document, "connections/2/received_bytes"), 11);
    assert_int_equal(number_at(document, "connections/2/sent_bytes"), 12);
    assert_int_equal(number_at(document, "connections/2/unread_bytes"), 13);
    assert_int_equal(number_at(document, "connections/2/kept_bytes"), 14);
    assert_true(json_is_false(admin_at(document, "connections/3/worker")));
    json_decref(document);
}

static void one_connection_shows_its_queues_and_its_held_jobs(void **state)
{
    struct admin *t = *state;
    json_t *document;

    shows_all_peers(t);
    peer_ask(t->v, SLICE("use mail\r\nput 0 0 60 1\r\na\r\nput 0 0 60 1\r\nb\r\n"));
    peer_ask(t->w, SLICE("watch mail\r\nreserve\r\nreserve\r\n"));
    document = tells(t->a, SEES("/api/v1/connections/3"), 200);
    assert_int_equal(json_array_size(admin_at(document, "queues")), 2);
    assert_string_equal(text_at(document, "queues/1"), "mail");
    assert_int_equal(json_array_size(admin_at(document, "jobs")), 2);
    assert_int_equal(number_at(document, "jobs/0/id"), 1);
    assert_int_equal(number_at(document, "jobs/0/holder"), 3);
    assert_string_equal(text_at(document, "jobs/1/queue"), "mail");
    json_decref(document);
    json_decref(tells(t->a, SEES("/api/v1/connections/5"), 404));
    json_decref(tells(t->a, SEES("/api/v1/connections/0"), 404));
    json_decref(tells(t->a, SEES("/api/v1/connections/x"), 404));
}

static void pages_of_connections_continue_when_clients_disconnect(void **state)
{
    struct admin *t = *state;
    json_t *document;

    for (uint64_t number = 10; number < 15; number++) {
        (void)wire_introspect_add(&t->introspect, number);
    }
    document = tells(t->a, SEES("/api/v1/connections?limit=2"), 200);
    assert_string_equal(text_at(document, "next"), "11");
    json_decref(document);
    wire_introspect_remove(&t->introspect, 11);
    shows(t, "/api/v1/connections?limit=2&cursor=11", "12 13");
    shows(t, "/api/v1/connections?limit=2&cursor=13", "14");
    document = tells(t->a, SEES("/api/v1/connections?limit=4"), 200);
    assert_true(json_is_null(admin_at(document, "next")));
    json_decref(document);
}

static void connections_are_filtered_by_protocol(void **state)
{
    struct admin *t = *state;
    json_t *document;

    (void)wire_introspect_add(&t->introspect, 1);
    wire_introspect_add(&t->introspect, 2)->protocol = "gearman";
    (void)wire_introspect_add(&t->introspect, 3);
    shows(t, "/api/v1/connections?protocol=beanstalk", "1 3");
    document = tells(t->a, SEES("/api/v1/connections?protocol=gearman"), 200);
    assert_int_equal(number_at(document, "total"), 12);
    json_decref(document);
    // No matching connection follows.
    document = tells(t->a, SEES("/api/v1/connections?protocol=gearman&limit=1"), 200);
    assert_true(json_is_null(admin_at(document, "next")));
    json_decref(document);
    json_decref(tells(t->a, SEES("/api/v1/connections?protocol=gopher"), 400));
}

static void workers_are_sessions_that_asked_for_jobs_or_subscribe_to_a_queue(void **state)
{
    struct admin *t = *state;

    shows_all_peers(t);
    peer_ask(t->w, SLICE("watch mail\r\nreserve-with-timeout 0\r\n"));
    peer_ask(t->v, SLICE("watch post\r\n"));
    shows(t, "/api/v1/workers", "3");
    shows(t, "/api/v1/workers?queue=mail", "3");
    shows(t, "/api/v1/workers?queue=default", "3 4");
    shows(t, "/api/v1/workers?queue=other", "");
    json_decref(tells(t->a, SEES("/api/v1/workers?queue="), 400));
}

static void the_list_requires_the_right_to_observe_every_queue(void **state)
{
    struct admin *t = *state;
    json_t *document;

    shows_all_peers(t);
    peer_ask(t->v, SLICE("use mail\r\nput 0 0 60 1\r\na\r\nuse post\r\nput 0 0 60 1\r\nb\r\n"));
    peer_ask(t->w, SLICE("watch mail\r\nwatch post\r\nreserve\r\nreserve\r\n"));
    may_only_observe(t, "mail");
    json_decref(tells(t->a, SEES("/api/v1/connections"), 403));
    json_decref(tells(t->a, SEES("/api/v1/workers"), 403));
    json_decref(tells(t->a, SEES("/api/v1/workers?queue=post"), 403));
    shows(t, "/api/v1/workers?queue=mail", "3");
    document = tells(t->a, SEES("/api/v1/connections/3"), 200);
    assert_int_equal(json_array_size(admin_at(document, "queues")), 1);
    assert_int_equal(json_array_size(admin_at(document, "jobs")), 1);
    assert_string_equal(text_at(document, "jobs/0/queue"), "mail");
    json_decref(document);
    json_decref(tells(t->a, SEES("/api/v1/connections/4"), 404));
}

static void an_invalid_query_for_connections_is_refused(void **state)
{
    struct admin *t = *state;

    json_decref(tells(t->a, SEES("/api/v1/connections?limit=0"), 400));
    json_decref(tells(t->a, SEES("/api/v1/connections?limit=1001"), 400));
    json_decref(tells(t->a, SEES("/api/v1/connections?cursor=x"), 400));
    json_decref(tells(t->a, SEES("/api/v1/connections?queue=x"), 400));
    json_decref(tells(t->a, SEES("/api/v1/workers?protocol=http"), 400));
    json_decref(tells(t->a, SEES("/api/v1/connections/1?body=1"), 400));
}

static int setup_in_slices(void **state)
{
    return admin_setup_with(state, (struct rig_options){.budget = 1}, ADMIN_DEFAULTS);
}

// Other connections have their turns meanwhile.
static void many_connections_are_visited_in_slices(void **state)
{
    struct admin *t = *state;

    for (uint64_t number = 1; number <= MANY; number++) {
        wire_introspect_add(&t->introspect, number)->protocol = number < MANY ? "gearman" : "http";
    }
    peer_send(t->a, SEES("/api/v1/connections?protocol=http"));
    rig_feed(t->rig);
    assert_in_range(t->introspect.steps, 0, BROKER_SLICE);
    rig_run(t->rig);
    assert_int_equal(t->introspect.steps, MANY + 1);
    assert_non_null(strstr(peer_hear(t->a).ptr, "{\"id\":3000,"));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        ADMIN(connection_is_shown_with_its_identity_and_its_activity),
        ADMIN(one_connection_shows_its_queues_and_its_held_jobs),
        ADMIN(pages_of_connections_continue_when_clients_disconnect),
        ADMIN(connections_are_filtered_by_protocol),
        ADMIN(workers_are_sessions_that_asked_for_jobs_or_subscribe_to_a_queue),
        ADMIN(the_list_requires_the_right_to_observe_every_queue),
        ADMIN(an_invalid_query_for_connections_is_refused),
        cmocka_unit_test_setup_teardown(many_connections_are_visited_in_slices, setup_in_slices,
                                        admin_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
