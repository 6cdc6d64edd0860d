/* SPDX-License-Identifier: MIT */
// The order in which connections are served: clients with small requests, and with little output,
// before the others, and no connection is starved.
#include "tests/server/server_bed.h"
#include "tests/support/with_cmocka.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MANY = 10, MUCH = 100000 };

// A clock that advances whenever it is read.
static nsec_t looks_last_for;

static struct instant ticking_now(void)
{
    bed_clock.mono += looks_last_for;
    return bed_clock;
}

struct clients_bed {
    struct bed bed;
    int clients[MANY];
    int quick;
    struct conn *conns[MANY];
    struct conn *quick_conn;
};

static int clients_setup(void **state)
{
    struct clients_bed *clients_bed = calloc(1, sizeof *clients_bed);

    looks_last_for = 0;
    bed_init(&clients_bed->bed, ticking_now);
    for (int i = 0; i < MANY; i++) {
        clients_bed->clients[i] = bed_connect(&clients_bed->bed);
        clients_bed->conns[i] = bed_latest(&clients_bed->bed);
    }
    clients_bed->quick = bed_connect(&clients_bed->bed);
    clients_bed->quick_conn = bed_latest(&clients_bed->bed);
    bed_turns(&clients_bed->bed, 2);
    *state = clients_bed;
    return 0;
}

static int clients_teardown(void **state)
{
    struct clients_bed *clients_bed = *state;

    looks_last_for = 0;
    for (int i = 0; i < MANY; i++) {
        (void)close(clients_bed->clients[i]);
    }
    (void)close(clients_bed->quick);
    bed_close(&clients_bed->bed);
    free(clients_bed);
    return 0;
}

static void say(int client, const char *line)
{
    assert_int_equal(send(client, line, strlen(line), MSG_NOSIGNAL), strlen(line));
}

static bool has_received(int client)
{
    char byte;

    return recv(client, &byte, 1, MSG_PEEK) == 1;
}

static int served(const struct clients_bed *clients_bed)
{
    int count = 0;

    for (int i = 0; i < MANY; i++) {
        count += has_received(clients_bed->clients[i]);
    }
    return count;
}

// All but the quick client have sent an expensive command, and send another.
static void all_are_dear(struct clients_bed *clients_bed, const char *then)
{
    for (int i = 0; i < MANY; i++) {
        bed_send(&clients_bed->bed, clients_bed->clients[i], "dear\n");
        bed_expect(&clients_bed->bed, clients_bed->clients[i], "dear\n");
        assert_true(conn_is_expensive(clients_bed->conns[i]));
    }
    bed_turns(&clients_bed->bed, 2);
    for (int i = 0; i < MANY; i++) {
        say(clients_bed->clients[i], then);
    }
}

static void cheap_connection_is_fed_before_all_expensive_ones(void **state)
{
    struct clients_bed *clients_bed = *state;

    all_are_dear(clients_bed, "dear\n");
    say(clients_bed->quick, "quick\n");
    clients_bed->bed.front.fed_first = NULL;
    bed_turn(&clients_bed->bed, false);
    assert_ptr_equal(clients_bed->bed.front.fed_first, clients_bed->quick_conn->frontend_state);
    assert_int_equal(served(clients_bed), MANY);
}

static void turn_feeds_expensive_connections_for_a_bounded_time(void **state)
{
    struct clients_bed *clients_bed = *state;

    all_are_dear(clients_bed, "dear\n");
    // Ready connections are found in a turn that feeds one of them.
    looks_last_for = TURN_EXPENSIVE_FOR;
    for (int turns = 1; turns <= MANY; turns++) {
        bed_turn(&clients_bed->bed, false);
        assert_in_range(served(clients_bed), 1, turns);
    }
    for (int turns = 0; turns < 10 * MANY && served(clients_bed) < MANY; turns++) {
        bed_turn(&clients_bed->bed, false);
    }
    assert_int_equal(served(clients_bed), MANY);
}

static void expensive_connections_are_fed_however_long_the_others_take(void **state)
{
    struct clients_bed *clients_bed = *state;

    all_are_dear(clients_bed, "dear\n");
    for (int turns = 0; turns < 10 * MANY && served(clients_bed) < MANY; turns++) {
        say(clients_bed->quick, "quick\n");
        looks_last_for = TURN_INPUT_FOR;
        bed_turn(&clients_bed->bed, false);
        looks_last_for = 0;
    }
    assert_int_equal(served(clients_bed), MANY);
}

static void expensive_connection_becomes_cheap_after_some_cheap_feeds(void **state)
{
    struct clients_bed *clients_bed = *state;

    all_are_dear(clients_bed, "line\n");
    for (int i = 1; i <= CONN_EXPENSIVE_FEEDS; i++) {
        bed_turns(&clients_bed->bed, 2);
        assert_int_equal(conn_is_expensive(clients_bed->conns[0]), i < CONN_EXPENSIVE_FEEDS);
        say(clients_bed->clients[0], "line\n");
    }
}

static void client_that_sends_much_at_once_is_expensive(void **state)
{
    struct clients_bed *clients_bed = *state;
    char *line = malloc(CONN_SMALL_MAX + 128);

    memset(line, '\n', CONN_SMALL_MAX + 1);
    line[CONN_SMALL_MAX + 1] = '\0';
    say(clients_bed->clients[0], line);
    bed_turn(&clients_bed->bed, false);
    assert_true(conn_is_expensive(clients_bed->conns[0]));
    free(line);
}

static void client_with_long_replies_is_expensive(void **state)
{
    struct clients_bed *clients_bed = *state;

    say(clients_bed->clients[0], "big 16384\n");
    say(clients_bed->quick, "big 16383\n");
    bed_turn(&clients_bed->bed, false);
    assert_true(conn_is_expensive(clients_bed->conns[0]));
    assert_false(conn_is_expensive(clients_bed->quick_conn));
}

// Has the connection send this much at the end of the next turn.
static void stage(struct conn *conn, size_t len)
{
    struct blob *blob = blob_new(len);

    assert_non_null(blob);
    memset(blob->bytes, 'x', len);
    output_blob(&conn->wire.out, blob);
    blob_unref(blob);
    conn_touch(conn);
}

static void stage_all(struct clients_bed *clients_bed)
{
    for (int i = 0; i < MANY; i++) {
        stage(clients_bed->conns[i], MUCH);
    }
}

static void small_output_is_sent_before_bulky_output(void **state)
{
    struct clients_bed *clients_bed = *state;

    stage_all(clients_bed);
    stage(clients_bed->quick_conn, 1);
    looks_last_for = TURN_BULKY_FOR;
    bed_turn(&clients_bed->bed, false);
    assert_true(has_received(clients_bed->quick));
    assert_int_equal(served(clients_bed), 1);
}

static void bulky_output_is_sent_despite_much_small_output(void **state)
{
    struct clients_bed *clients_bed = *state;

    stage_all(clients_bed);
    looks_last_for = TURN_OUTPUT_FOR;
    for (int turns = 1; turns <= MANY; turns++) {
        stage(clients_bed->quick_conn, 1);
        bed_turn(&clients_bed->bed, false);
        assert_int_equal(served(clients_bed), turns);
    }
}

static void bulky_output_that_waits_for_a_peer_delays_no_other(void **state)
{
    struct clients_bed *clients_bed = *state;

    stage_all(clients_bed);
    for (int i = 0; i < MANY; i++) {
        clients_bed->conns[i]->wire.out.stalled = true;
    }
    bed_turn(&clients_bed->bed, false);
    assert_true(list_empty(&clients_bed->bed.loop.turn.bulky));
    assert_int_equal(served(clients_bed), 0);
}

// Nothing would ever end the sleep of a loop that waits here.
static void loop_does_not_sleep_while_connections_wait_for_a_turn(void **state)
{
    struct clients_bed *clients_bed = *state;

    all_are_dear(clients_bed, "dear\n");
    // All wait in the list of expensive connections.
    looks_last_for = TURN_EXPENSIVE_FOR;
    bed_turns(&clients_bed->bed, MANY / 2);
    assert_false(list_empty(&clients_bed->bed.loop.turn.expensive));
    while (served(clients_bed) < MANY) {
        bed_turn(&clients_bed->bed, true);
    }
    for (int i = 0; i < MANY; i++) {
        bed_expect(&clients_bed->bed, clients_bed->clients[i], "dear\n");
    }
    stage_all(clients_bed);
    while (served(clients_bed) < MANY) {
        bed_turn(&clients_bed->bed, true);
    }
}

static void connections_that_wait_for_a_turn_can_be_closed(void **state)
{
    struct clients_bed *clients_bed = *state;

    all_are_dear(clients_bed, "dear\n");
    looks_last_for = TURN_OUTPUT_FOR;
    bed_turns(&clients_bed->bed, 3);
    stage_all(clients_bed);
    bed_turns(&clients_bed->bed, 3);
    loop_close_all(&clients_bed->bed.loop);
    assert_true(list_empty(&clients_bed->bed.loop.turn.expensive));
    assert_true(list_empty(&clients_bed->bed.loop.turn.bulky));
    assert_int_equal(clients_bed->bed.front.open, 0);
}

#define CROWD_TEST(name) cmocka_unit_test_setup_teardown(name, clients_setup, clients_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CROWD_TEST(cheap_connection_is_fed_before_all_expensive_ones),
        CROWD_TEST(turn_feeds_expensive_connections_for_a_bounded_time),
        CROWD_TEST(expensive_connections_are_fed_however_long_the_others_take),
        CROWD_TEST(expensive_connection_becomes_cheap_after_some_cheap_feeds),
        CROWD_TEST(client_that_sends_much_at_once_is_expensive),
        CROWD_TEST(client_with_long_replies_is_expensive),
        CROWD_TEST(small_output_is_sent_before_bulky_output),
        CROWD_TEST(bulky_output_is_sent_despite_much_small_output),
        CROWD_TEST(bulky_output_that_waits_for_a_peer_delays_no_other),
        CROWD_TEST(loop_does_not_sleep_while_connections_wait_for_a_turn),
        CROWD_TEST(connections_that_wait_for_a_turn_can_be_closed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
