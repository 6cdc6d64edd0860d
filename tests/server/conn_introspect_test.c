/* SPDX-License-Identifier: MIT */
// Introspection of connections, here those of Gearman: by number, and by session.
#include "server/conn/conn.h"

#include "proto_gearman/gearman.h"

#include "tests/proto_common/wire_host.h"
#include "tests/server/access_bed.h"
#include "tests/support/with_cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define CLIENTS 20

struct show {
    struct access_bed *access;
    struct gear_options options;
    void *shared;
    int clients[CLIENTS];
};

static int setup(void **state)
{
    static struct show show;
    struct bed *bed;

    assert_int_equal(access_bed_setup((void **)&show.access), 0);
    bed = &show.access->bed;
    show.options = (struct gear_options){
        .max_job_size = 65536, .max_unread = 65536, .job_retries = -1, .handle_prefix = (char *)""};
    show.shared = calloc(1, gearman_frontend.shared_size);
    assert_int_equal(gearman_frontend.start(show.shared, bed->broker, &show.options, &wire_facts),
                     STATUS_OK);
    bed->service.frontend = &gearman_frontend;
    bed->service.shared = show.shared;
    for (unsigned i = 0; i < CLIENTS; i++) {
        show.clients[i] = bed_connect_tcp(bed);
    }
    *state = &show;
    return 0;
}

static int teardown(void **state)
{
    struct show *show = *state;
    struct bed *bed = &show->access->bed;

    for (unsigned i = 0; i < CLIENTS; i++) {
        (void)close(show->clients[i]);
    }
    bed_turns(bed, 4);
    assert_int_equal(bed->loop.turn.members, 0);
    gearman_frontend.stop(show->shared);
    free(show->shared);
    return access_bed_teardown((void **)&show->access);
}

static struct introspect_connection shown(const struct show *show, uint64_t number)
{
    struct introspect_connection connection;

    assert_true(conn_introspect_find(&show->access->bed.loop.turn, number, &connection));
    return connection;
}

static void connections_are_shown_in_the_order_in_which_they_came(void **state)
{
    const struct show *show = *state;
    const struct turn *turn = &show->access->bed.loop.turn;
    struct introspect_connection connection;
    uint64_t after = 0;

    for (uint64_t number = 1; number <= CLIENTS; number++) {
        assert_true(conn_introspect_next(turn, &after, &connection));
        assert_int_equal(connection.number, number);
        assert_int_equal(after, number);
        assert_string_equal(connection.protocol, "gearman");
        assert_false(connection.tls);
    }
    assert_false(conn_introspect_next(turn, &after, &connection));
    assert_int_equal(after, CLIENTS);
    assert_false(conn_introspect_find(turn, CLIENTS + 1, &connection));
}

static void connection_of_a_session_is_found(void **state)
{
    const struct show *show = *state;
    const struct turn *turn = &show->access->bed.loop.turn;
    struct session *elsewhere;

    for (uint64_t number = 1; number <= CLIENTS; number++) {
        assert_int_equal(conn_introspect_of_session(turn, shown(show, number).session), number);
    }
    assert_int_equal(broker_session_open(show->access->bed.broker, &(struct session_ops){0}, NULL,
                                         CHOICE_OLDEST, &elsewhere),
                     STATUS_OK);
    assert_int_equal(conn_introspect_of_session(turn, elsewhere), 0);
    broker_session_close(elsewhere);
}

static void bytes_and_the_name_of_a_client_are_shown(void **state)
{
    static const char set_id[] = "\0REQ\0\0\0\x16\0\0\0\x05"
                                 "clerk";
    struct show *show = *state;
    struct bed *bed = &show->access->bed;
    struct introspect_connection connection;

    assert_null(shown(show, 3).client_id);
    assert_int_equal(send(show->clients[2], set_id, sizeof set_id - 1, 0), sizeof set_id - 1);
    bed_turns(bed, 2);
    bed_send(bed, show->clients[2], "version\n");
    bed_turns(bed, 2);
    connection = shown(show, 3);
    assert_string_equal(connection.client_id, "clerk");
    assert_int_equal(connection.received, sizeof set_id - 1 + 8);
    assert_int_equal(connection.sent, strlen("OK 0.1.0\n"));
    assert_int_equal(connection.unread, 0);
    assert_int_equal(connection.held, 0);
    assert_int_equal(bed->counters.received, connection.received);
    assert_int_equal(bed->counters.sent, connection.sent);
    assert_int_equal(bed->counters.open, CLIENTS);
    assert_int_equal(bed->counters.accepted, CLIENTS);
    assert_int_equal(gearman_frontend.commands(show->shared), 2);
}

static void moment_and_peer_are_shown(void **state)
{
    struct show *show = *state;
    struct bed *bed = &show->access->bed;
    struct introspect_connection connection;
    nsec_t came_at;
    int local;

    bed_clock.mono += 90 * NSEC_PER_SEC;
    bed_turns(bed, 1);
    came_at = broker_now(bed->broker).mono;
    local = bed_connect(bed);
    connection = shown(show, CLIENTS + 1);
    assert_string_equal(connection.peer, "unix");
    assert_in_range(came_at - connection.connected_at, 0, NSEC_PER_SEC - 1);
    assert_memory_equal(shown(show, 1).peer, "127.0.0.1:", 10);
    (void)close(local);
    bed_turns(bed, 2);
}

static void caller_is_shown_as_rules_know_it(void **state)
{
    struct show *show = *state;

    assert_string_equal(shown(show, 1).caller, "");
    access_bed_rule(show->access, "net:127.0.0.0/8 work * here\n");
    bed_turns(&show->access->bed, 2);
    assert_string_equal(shown(show, 1).caller, "here");
}

static void refusals_are_counted_by_kind(void **state)
{
    static const char unknown[] = "\0REQ\0\0\0\x63\0\0\0\0";
    struct show *show = *state;
    struct bed *bed = &show->access->bed;

    assert_int_equal(send(show->clients[0], unknown, sizeof unknown - 1, 0), sizeof unknown - 1);
    bed_turns(bed, 2);
    assert_int_equal(bed->counters.refusals[REFUSAL_BAD], 1);
    assert_int_equal(bed->counters.refusals[REFUSAL_FORBIDDEN], 0);
}

#define SHOW_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        SHOW_TEST(connections_are_shown_in_the_order_in_which_they_came),
        SHOW_TEST(connection_of_a_session_is_found),
        SHOW_TEST(bytes_and_the_name_of_a_client_are_shown),
        SHOW_TEST(moment_and_peer_are_shown),
        SHOW_TEST(caller_is_shown_as_rules_know_it),
        SHOW_TEST(refusals_are_counted_by_kind),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
