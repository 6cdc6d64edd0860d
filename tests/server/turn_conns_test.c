/* SPDX-License-Identifier: MIT */
// In which order connections are served: who asks for little, and is sent little, before the
// others, and none of them for ever.
#include "tests/server/server_bed.h"
#include "tests/server/server_cmocka.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MANY = 10, MUCH = 100000 };

// A clock that goes on whenever it is looked at.
static nsec_t looks_last_for;

static struct instant ticking_now(void)
{
    bed_clock.mono += looks_last_for;
    return bed_clock;
}

struct crowd {
    struct bed bed;
    int clients[MANY];
    int quick;
    struct conn *conns[MANY];
    struct conn *quick_conn;
};

static int crowd_setup(void **state)
{
    struct crowd *crowd = calloc(1, sizeof *crowd);

    looks_last_for = 0;
    bed_init(&crowd->bed, ticking_now);
    for (int i = 0; i < MANY; i++) {
        crowd->clients[i] = bed_connect(&crowd->bed);
        crowd->conns[i] = bed_latest(&crowd->bed);
    }
    crowd->quick = bed_connect(&crowd->bed);
    crowd->quick_conn = bed_latest(&crowd->bed);
    bed_turns(&crowd->bed, 2);
    *state = crowd;
    return 0;
}

static int crowd_teardown(void **state)
{
    struct crowd *crowd = *state;

    looks_last_for = 0;
    for (int i = 0; i < MANY; i++) {
        (void)close(crowd->clients[i]);
    }
    (void)close(crowd->quick);
    bed_close(&crowd->bed);
    free(crowd);
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

static int served(const struct crowd *crowd)
{
    int count = 0;

    for (int i = 0; i < MANY; i++) {
        count += has_received(crowd->clients[i]);
    }
    return count;
}

// All but the quick one have asked for what is dear, and ask again.
static void all_are_dear(struct crowd *crowd, const char *then)
{
    for (int i = 0; i < MANY; i++) {
        bed_send(&crowd->bed, crowd->clients[i], "dear\n");
        bed_expect(&crowd->bed, crowd->clients[i], "dear\n");
        assert_true(conn_is_expensive(crowd->conns[i]));
    }
    bed_turns(&crowd->bed, 2);
    for (int i = 0; i < MANY; i++) {
        say(crowd->clients[i], then);
    }
}

static void quick_one_is_fed_before_all_that_are_dear(void **state)
{
    struct crowd *crowd = *state;

    all_are_dear(crowd, "dear\n");
    say(crowd->quick, "quick\n");
    crowd->bed.front.fed_first = NULL;
    bed_turn(&crowd->bed, false);
    assert_ptr_equal(crowd->bed.front.fed_first, crowd->quick_conn->frontend_state);
    assert_int_equal(served(crowd), MANY);
}

static void turn_feeds_dear_ones_for_so_long_and_one_at_least(void **state)
{
    struct crowd *crowd = *state;

    all_are_dear(crowd, "dear\n");
    // Those that are ready are found out in a turn that feeds one of them.
    looks_last_for = TURN_EXPENSIVE_FOR;
    for (int turns = 1; turns <= MANY; turns++) {
        bed_turn(&crowd->bed, false);
        assert_in_range(served(crowd), 1, turns);
    }
    for (int turns = 0; turns < 10 * MANY && served(crowd) < MANY; turns++) {
        bed_turn(&crowd->bed, false);
    }
    assert_int_equal(served(crowd), MANY);
}

static void dear_ones_are_fed_however_long_the_others_take(void **state)
{
    struct crowd *crowd = *state;

    all_are_dear(crowd, "dear\n");
    for (int turns = 0; turns < 10 * MANY && served(crowd) < MANY; turns++) {
        say(crowd->quick, "quick\n");
        looks_last_for = TURN_INPUT_FOR;
        bed_turn(&crowd->bed, false);
        looks_last_for = 0;
    }
    assert_int_equal(served(crowd), MANY);
}

static void dear_one_is_like_others_after_some_cheap_feeds(void **state)
{
    struct crowd *crowd = *state;

    all_are_dear(crowd, "line\n");
    for (int i = 1; i <= CONN_EXPENSIVE_FEEDS; i++) {
        bed_turns(&crowd->bed, 2);
        assert_int_equal(conn_is_expensive(crowd->conns[0]), i < CONN_EXPENSIVE_FEEDS);
        say(crowd->clients[0], "line\n");
    }
}

static void who_sends_much_at_once_is_dear(void **state)
{
    struct crowd *crowd = *state;
    char *line = malloc(CONN_SMALL_MAX + 128);

    memset(line, '\n', CONN_SMALL_MAX + 1);
    line[CONN_SMALL_MAX + 1] = '\0';
    say(crowd->clients[0], line);
    bed_turn(&crowd->bed, false);
    assert_true(conn_is_expensive(crowd->conns[0]));
    free(line);
}

static void who_is_answered_at_length_is_dear(void **state)
{
    struct crowd *crowd = *state;

    say(crowd->clients[0], "big 16384\n");
    say(crowd->quick, "big 16383\n");
    bed_turn(&crowd->bed, false);
    assert_true(conn_is_expensive(crowd->conns[0]));
    assert_false(conn_is_expensive(crowd->quick_conn));
}

// Has the connection send so much at the end of the next turn.
static void stage(struct conn *conn, size_t len)
{
    struct blob *blob = blob_new(len);

    assert_non_null(blob);
    memset(blob->bytes, 'x', len);
    output_blob(&conn->wire.out, blob);
    blob_unref(blob);
    conn_touch(conn);
}

static void stage_all(struct crowd *crowd)
{
    for (int i = 0; i < MANY; i++) {
        stage(crowd->conns[i], MUCH);
    }
}

static void little_is_sent_before_much(void **state)
{
    struct crowd *crowd = *state;

    stage_all(crowd);
    stage(crowd->quick_conn, 1);
    looks_last_for = TURN_BULKY_FOR;
    bed_turn(&crowd->bed, false);
    assert_true(has_received(crowd->quick));
    assert_int_equal(served(crowd), 1);
}

static void much_is_sent_however_much_there_is_of_little(void **state)
{
    struct crowd *crowd = *state;

    stage_all(crowd);
    looks_last_for = TURN_OUTPUT_FOR;
    for (int turns = 1; turns <= MANY; turns++) {
        stage(crowd->quick_conn, 1);
        bed_turn(&crowd->bed, false);
        assert_int_equal(served(crowd), turns);
    }
}

static void much_that_waits_for_a_peer_keeps_nobody_waiting(void **state)
{
    struct crowd *crowd = *state;

    stage_all(crowd);
    for (int i = 0; i < MANY; i++) {
        crowd->conns[i]->wire.out.stalled = true;
    }
    bed_turn(&crowd->bed, false);
    assert_true(list_empty(&crowd->bed.loop.turn.bulky));
    assert_int_equal(served(crowd), 0);
}

// Nothing would ever end the sleep of a loop that waits here.
static void loop_does_not_sleep_while_some_wait_behind_others(void **state)
{
    struct crowd *crowd = *state;

    all_are_dear(crowd, "dear\n");
    // All wait among the dear ones.
    looks_last_for = TURN_EXPENSIVE_FOR;
    bed_turns(&crowd->bed, MANY / 2);
    assert_false(list_empty(&crowd->bed.loop.turn.expensive));
    while (served(crowd) < MANY) {
        bed_turn(&crowd->bed, true);
    }
    for (int i = 0; i < MANY; i++) {
        bed_expect(&crowd->bed, crowd->clients[i], "dear\n");
    }
    stage_all(crowd);
    while (served(crowd) < MANY) {
        bed_turn(&crowd->bed, true);
    }
}

static void those_that_wait_behind_others_can_be_closed(void **state)
{
    struct crowd *crowd = *state;

    all_are_dear(crowd, "dear\n");
    looks_last_for = TURN_OUTPUT_FOR;
    bed_turns(&crowd->bed, 3);
    stage_all(crowd);
    bed_turns(&crowd->bed, 3);
    loop_close_all(&crowd->bed.loop);
    assert_true(list_empty(&crowd->bed.loop.turn.expensive));
    assert_true(list_empty(&crowd->bed.loop.turn.bulky));
    assert_int_equal(crowd->bed.front.open, 0);
}

#define CROWD_TEST(name) cmocka_unit_test_setup_teardown(name, crowd_setup, crowd_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CROWD_TEST(quick_one_is_fed_before_all_that_are_dear),
        CROWD_TEST(turn_feeds_dear_ones_for_so_long_and_one_at_least),
        CROWD_TEST(dear_ones_are_fed_however_long_the_others_take),
        CROWD_TEST(dear_one_is_like_others_after_some_cheap_feeds),
        CROWD_TEST(who_sends_much_at_once_is_dear),
        CROWD_TEST(who_is_answered_at_length_is_dear),
        CROWD_TEST(little_is_sent_before_much),
        CROWD_TEST(much_is_sent_however_much_there_is_of_little),
        CROWD_TEST(much_that_waits_for_a_peer_keeps_nobody_waiting),
        CROWD_TEST(loop_does_not_sleep_while_some_wait_behind_others),
        CROWD_TEST(those_that_wait_behind_others_can_be_closed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
