/* SPDX-License-Identifier: MIT */
#include "server/conn/conn.h"

#include "server/conn/conn_private.h"

#include "tests/server/server_bed.h"
#include "tests/support/with_cmocka.h"

#include <unistd.h>

#define CLIENTS 100

struct party {
    struct bed bed;
    int clients[CLIENTS];
};

static int setup(void **state)
{
    static struct party party;

    bed_init(&party.bed, bed_now);
    for (unsigned i = 0; i < CLIENTS; i++) {
        party.clients[i] = bed_connect(&party.bed);
    }
    *state = &party;
    return 0;
}

static int teardown(void **state)
{
    struct party *party = *state;

    for (unsigned i = 0; i < CLIENTS; i++) {
        if (party->clients[i] >= 0) {
            (void)close(party->clients[i]);
        }
    }
    bed_close(&party->bed);
    return 0;
}

static void leave(struct party *party, unsigned client)
{
    bed_send(&party->bed, party->clients[client], "bye\n");
    (void)close(party->clients[client]);
    party->clients[client] = -1;
    bed_turns(&party->bed, 2);
}

static void connections_are_found_by_number_in_the_order_in_which_they_came(void **state)
{
    struct party *party = *state;
    const struct turn *turn = &party->bed.loop.turn;
    struct conn *conn = conn_registry_first(turn);

    assert_int_equal(turn->members, CLIENTS);
    for (uint64_t number = 1; number <= CLIENTS; number++, conn = conn_registry_next(conn)) {
        assert_int_equal(conn->wire.number, number);
        assert_ptr_equal(conn_registry_find(turn, number), conn);
        assert_ptr_equal(conn_registry_after(turn, number - 1), conn);
    }
    assert_null(conn);
    assert_null(conn_registry_find(turn, 0));
    assert_null(conn_registry_find(turn, CLIENTS + 1));
    assert_null(conn_registry_after(turn, CLIENTS));
}

static void number_of_a_closed_connection_leads_to_the_next_one(void **state)
{
    struct party *party = *state;
    const struct turn *turn = &party->bed.loop.turn;

    leave(party, 40);
    assert_int_equal(turn->members, CLIENTS - 1);
    assert_null(conn_registry_find(turn, 41));
    assert_int_equal(conn_registry_after(turn, 40)->wire.number, 42);
    assert_int_equal(conn_registry_after(turn, 41)->wire.number, 42);
}

static void walk_survives_connections_that_close_and_meets_new_ones(void **state)
{
    struct party *party = *state;
    struct turn *turn = &party->bed.loop.turn;
    struct conn *conn;
    int late;

    turn_walk_begin(turn, WALK_EVICT);
    assert_int_equal(conn_registry_walk(turn, WALK_EVICT)->wire.number, 1);
    leave(party, 1);
    late = bed_connect(&party->bed);
    for (uint64_t number = 3; number <= CLIENTS + 1; number++) {
        assert_true(turn_walks(turn, WALK_EVICT));
        conn = conn_registry_walk(turn, WALK_EVICT);
        assert_int_equal(conn->wire.number, number);
    }
    assert_false(turn_walks(turn, WALK_EVICT));
    assert_null(conn_registry_walk(turn, WALK_EVICT));
    (void)close(late);
}

#define ROSTER_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        ROSTER_TEST(connections_are_found_by_number_in_the_order_in_which_they_came),
        ROSTER_TEST(number_of_a_closed_connection_leads_to_the_next_one),
        ROSTER_TEST(walk_survives_connections_that_close_and_meets_new_ones),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
