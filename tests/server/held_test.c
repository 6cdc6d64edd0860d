/* SPDX-License-Identifier: MIT */
// Output that waits for the store, and input that waits for it to catch up.
#include "core/base/log.h"
#include "server/process/clock.h"
#include "tests/server/server_bed.h"
#include "tests/support/with_cmocka.h"
#include "tests/support/nth_alloc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int held_setup(void **state)
{
    struct bed *bed = malloc(sizeof *bed);

    nth_alloc_fail(0);
    bed_init(bed, bed_now);
    bed_keep(bed);
    *state = bed;
    return 0;
}

static int held_teardown(void **state)
{
    struct bed *bed = *state;

    bed_close(bed);
    free(bed);
    return 0;
}

static void send_raw(int client, const char *text)
{
    assert_int_equal(send(client, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

static void reach(struct bed *bed, uint64_t position)
{
    bed->front.store.reached = position;
}

static void press(struct bed *bed, enum store_pressure pressure)
{
    bed->front.store.pressure = pressure;
    bed_turns(bed, 1);
}

// Only waiting is left to do.
static void expect_rest(struct bed *bed)
{
    bed_turns(bed, 3);
    assert_true(list_empty(&bed->loop.turn.touched));
}

static void held_answer_leaves_in_the_turn_that_reaches_its_position(void **state)
{
    struct bed *bed = *state;
    int client = bed_connect(bed);
    char reply[16];

    bed_send(bed, client, "keep a\n");
    bed_expect_silence(bed, client);
    expect_rest(bed);
    reach(bed, 1);
    bed_turns(bed, 1);
    assert_int_equal(recv(client, reply, sizeof reply, 0), 2);
    assert_memory_equal(reply, "a\n", 2);
    (void)close(client);
}

static void answers_keep_their_order_around_a_held_one(void **state)
{
    struct bed *bed = *state;
    int client = bed_connect(bed);

    bed_send(bed, client, "first\nkeep a\nlast\n");
    bed_expect(bed, client, "first\n");
    bed_expect_silence(bed, client);
    bed_send(bed, client, "more\n");
    bed_expect_silence(bed, client);
    reach(bed, 1);
    bed_expect(bed, client, "a\nlast\nmore\n");
    (void)close(client);
}

static void each_position_releases_the_output_held_for_it(void **state)
{
    struct bed *bed = *state;
    int client = bed_connect(bed);
    int other = bed_connect(bed);

    bed_send(bed, client, "keep a\nkeep b\n");
    bed_send(bed, other, "keep c\n");
    reach(bed, 1);
    bed_expect(bed, client, "a\n");
    bed_expect_silence(bed, client);
    reach(bed, 2);
    bed_expect(bed, client, "b\n");
    bed_expect_silence(bed, other);
    reach(bed, 3);
    bed_expect(bed, other, "c\n");
    (void)close(client);
    (void)close(other);
}

static void others_are_answered_while_one_is_held(void **state)
{
    struct bed *bed = *state;
    int client = bed_connect(bed);
    int other = bed_connect(bed);

    bed_send(bed, client, "keep a\n");
    bed_send(bed, other, "b\n");
    bed_expect(bed, other, "b\n");
    bed_expect_silence(bed, client);
    (void)close(client);
    (void)close(other);
}

static void turn_releases_a_bounded_number(void **state)
{
    enum { CLIENTS = 2 * TURN_CONNS_MAX + 10 };
    struct bed *bed = *state;
    int clients[CLIENTS];
    unsigned answered = 0;
    char reply[16];

    for (int i = 0; i < CLIENTS; i++) {
        clients[i] = bed_connect(bed);
        bed_send(bed, clients[i], "keep a\n");
    }
    expect_rest(bed);
    reach(bed, CLIENTS);
    for (unsigned turns = 1; turns <= 3; turns++) {
        bed_turn(bed, turns > 1); // only the store's thread ends the first sleep
        for (int i = 0; i < CLIENTS; i++) {
            answered += recv(clients[i], reply, sizeof reply, 0) == 2;
        }
        assert_int_equal(answered, turns < 3 ? turns * TURN_CONNS_MAX : CLIENTS);
    }
    for (int i = 0; i < CLIENTS; i++) {
        (void)close(clients[i]);
    }
}

static void connections_touched_while_released_are_served_once(void **state)
{
    enum { CLIENTS = TURN_CONNS_MAX + 10 };
    struct bed *bed = *state;
    int clients[CLIENTS];

    for (int i = 0; i < CLIENTS; i++) {
        clients[i] = bed_connect(bed);
        bed_send(bed, clients[i], "keep a\n");
    }
    // The last connections are released in a later turn than the one in which they are read.
    reach(bed, CLIENTS);
    for (int i = CLIENTS - 1; i >= 0; i--) {
        send_raw(clients[i], "again\n");
    }
    for (int i = 0; i < CLIENTS; i++) {
        bed_expect(bed, clients[i], "a\nagain\n");
    }
    expect_rest(bed);
    for (int i = 0; i < CLIENTS; i++) {
        (void)close(clients[i]);
    }
}

static void peer_that_goes_while_its_answer_is_held_is_closed_at_once(void **state)
{
    struct bed *bed = *state;
    int client = bed_connect(bed);

    bed->front.eof_means_gone = true;
    bed_send(bed, client, "keep a\n");
    (void)close(client);
    bed_turns(bed, 3);
    assert_int_equal(bed->front.open, 0);
    reach(bed, 1);
    bed_turns(bed, 3);
}

static void half_closed_client_gets_its_held_answer(void **state)
{
    struct bed *bed = *state;
    int client = bed_connect(bed);

    bed_send(bed, client, "keep a\n");
    assert_int_equal(shutdown(client, SHUT_WR), 0);
    bed_expect_silence(bed, client);
    expect_rest(bed);
    reach(bed, 1);
    bed_expect(bed, client, "a\n");
    bed_expect_end(bed, client);
    assert_int_equal(bed->front.open, 0);
}

static void reset_ends_a_held_answer_after_the_input_has_ended(void **state)
{
    struct bed *bed = *state;
    int client = bed_connect_tcp(bed);

    bed_send(bed, client, "keep a\n");
    assert_int_equal(shutdown(client, SHUT_WR), 0);
    bed_turns(bed, 3);
    assert_true(bed_latest(bed)->input_ended);
    reset_client(client);
    bed_turns(bed, 3);
    assert_int_equal(bed->front.open, 0);
}

static void connection_that_is_finished_ends_after_its_held_answer(void **state)
{
    struct bed *bed = *state;
    int client = bed_connect(bed);
    int other = bed_connect(bed);

    bed_send(bed, client, "keep a\nquit\n");
    bed_expect_silence(bed, client);
    bed_send(bed, other, "keep b\n");
    loop_stop_conns(&bed->loop);
    bed_turns(bed, 3);
    assert_int_equal(bed->front.open, 2);
    reach(bed, 2);
    bed_expect(bed, client, "a\n");
    bed_expect_end(bed, client);
    bed_expect(bed, other, "b\n");
    bed_expect_end(bed, other);
}

static void end_of_output_follows_the_held_reply(void **state)
{
    struct bed *bed = *state;
    int client = bed_connect(bed);

    bed_send(bed, client, "keep a\n");
    wire_shut(&bed_latest(bed)->wire);
    bed_expect_silence(bed, client);
    reach(bed, 1);
    bed_expect(bed, client, "a\n");
    bed_expect_end(bed, client);
}

static void patience_with_a_peer_does_not_run_while_its_answer_is_held(void **state)
{
    struct bed *bed = *state;
    int client = bed_connect(bed);
    int clogged = bed_connect(bed);

    bed->loop.turn.unread_for = 60 * NSEC_PER_SEC;
    bed_send(bed, client, "keep a\n");
    // This client has output to read, and does not read it.
    bed_send(bed, clogged, "big 900000\nkeep b\n");
    bed_turns(bed, 5);
    assert_true(bed->loop.turn.held.next->next == &bed->loop.turn.held);
    bed_clock.mono += 5000 * NSEC_PER_SEC;
    bed_turns(bed, 3);
    assert_int_equal(bed->front.open, 1);
    reach(bed, 2);
    bed_expect(bed, client, "a\n");
    (void)close(client);
    (void)close(clogged);
}

static void too_much_held_output_stops_the_reading_until_it_leaves(void **state)
{
    struct bed *bed = *state;
    int client = bed_connect(bed);
    char *big = malloc(2000002);

    memset(big, 'B', 2000000);
    memcpy(big + 2000000, "\n", 2);
    bed_send(bed, client, "keep a\nbig 2000000\nagain\n");
    bed_turns(bed, 3);
    send_raw(client, "late\n");
    bed_expect_silence(bed, client);
    expect_rest(bed);
    reach(bed, 1);
    bed_expect(bed, client, "a\n");
    bed_expect(bed, client, big);
    bed_expect(bed, client, "again\nlate\n");
    free(big);
    (void)close(client);
}

// A client whose submission has been answered.
static int submitter(struct bed *bed)
{
    int client = bed_connect(bed);

    bed_send(bed, client, "hand a\n");
    reach(bed, bed->front.store.given);
    bed_expect(bed, client, "a\n");
    return client;
}

static void submitters_are_not_read_while_the_store_is_behind(void **state)
{
    struct bed *bed = *state;
    int client = submitter(bed);
    int other = bed_connect(bed);

    press(bed, STORE_BEHIND);
    send_raw(client, "b\n");
    bed_send(bed, other, "keep c\n");
    reach(bed, 2);
    bed_expect(bed, other, "c\n");
    bed_expect_silence(bed, client);
    expect_rest(bed);
    press(bed, STORE_EASY);
    bed_expect(bed, client, "b\n");
    (void)close(client);
    (void)close(other);
}

static void no_connection_is_read_while_the_store_is_stuck(void **state)
{
    struct bed *bed = *state;
    int client = submitter(bed);
    int other = bed_connect(bed);
    int fresh;

    press(bed, STORE_STUCK);
    fresh = bed_connect(bed);
    send_raw(client, "a\n");
    send_raw(other, "b\n");
    send_raw(fresh, "c\n");
    bed_expect_silence(bed, other);
    bed_expect_silence(bed, fresh);
    expect_rest(bed);
    press(bed, STORE_BEHIND);
    bed_expect(bed, other, "b\n");
    bed_expect(bed, fresh, "c\n");
    bed_expect_silence(bed, client);
    press(bed, STORE_EASY);
    bed_expect(bed, client, "a\n");
    (void)close(client);
    (void)close(other);
    (void)close(fresh);
}

static void kept_input_is_fed_again_when_the_store_is_at_ease(void **state)
{
    struct bed *bed = *state;
    int again = bed_connect(bed);
    int blocked;

    // It is read before the pressure is known.
    send_raw(again, "a\nagain\nagain\nb\n");
    press(bed, STORE_STUCK);
    bed_expect(bed, again, "a\n");
    bed_expect_silence(bed, again);
    expect_rest(bed);
    press(bed, STORE_EASY);
    bed_expect(bed, again, "again\nagain\nb\n");
    blocked = bed_connect(bed);
    bed_send(bed, blocked, "block\nc\n");
    press(bed, STORE_STUCK);
    bed_unblock(&bed->front);
    bed_expect(bed, blocked, "unblocked\n");
    bed_expect_silence(bed, blocked);
    expect_rest(bed);
    press(bed, STORE_EASY);
    bed_expect(bed, blocked, "c\n");
    (void)close(again);
    (void)close(blocked);
}

static void held_submitter_goes_on_whichever_comes_first(void **state)
{
    struct bed *bed = *state;
    int client = bed_connect(bed);

    for (int reached_first = 0; reached_first < 2; reached_first++) {
        bed_send(bed, client, "hand a\n");
        press(bed, STORE_BEHIND);
        send_raw(client, "b\n");
        bed_expect_silence(bed, client);
        if (reached_first) {
            reach(bed, bed->front.store.given);
            bed_expect(bed, client, "a\n");
            bed_expect_silence(bed, client);
            press(bed, STORE_EASY);
        } else {
            press(bed, STORE_EASY);
            reach(bed, bed->front.store.given);
            bed_expect(bed, client, "a\n");
        }
        bed_expect(bed, client, "b\n");
    }
    (void)close(client);
}

static void peer_that_goes_while_it_is_not_read_is_noticed(void **state)
{
    struct bed *bed = *state;
    int client = bed_connect(bed);

    bed->front.eof_means_gone = true;
    press(bed, STORE_STUCK);
    send_raw(client, "a\n");
    bed_turns(bed, 3);
    (void)close(client);
    bed_turns(bed, 3);
    assert_int_equal(bed->front.open, 0);
}

struct seen {
    unsigned lines;
    int64_t connections;
};

static void see(void *context, enum log_level level, const char *event,
                const struct log_field *fields, size_t count)
{
    struct seen *seen = context;

    (void)level;
    if (strcmp(event, "answers_given_up") == 0) {
        assert_int_equal(count, 1);
        seen->lines++;
        seen->connections = fields[0].number;
    }
}

static void held_connections_are_closed_without_a_reply_when_the_store_gives_up(void **state)
{
    struct bed *bed = *state;
    int client = bed_connect(bed);
    int second = bed_connect(bed);
    int other = bed_connect(bed);
    struct seen seen = {0};

    log_set_sink(see, &seen, LOG_LEVEL_INFO);
    bed_send(bed, client, "hand a\n");
    bed_send(bed, second, "keep b\n");
    bed_turns(bed, 3);
    bed->front.store.gave_up = true;
    bed_expect_end(bed, client);
    bed_expect_end(bed, second);
    bed_send(bed, other, "c\n");
    bed_expect(bed, other, "c\n");
    assert_int_equal(bed->front.open, 1);
    assert_int_equal(seen.lines, 1);
    assert_int_equal(seen.connections, 2);
    log_set_sink(NULL, NULL, LOG_LEVEL_ERROR);
    (void)close(other);
}

static void store_has_its_turn_when_it_asks_for_it(void **state)
{
    struct bed bed;
    nsec_t due_at;
    int client;

    (void)state;
    bed_init(&bed, clock_now);
    bed_keep(&bed);
    client = bed_connect(&bed); // otherwise there would be nothing to wait for
    due_at = clock_now().mono + 20 * NSEC_PER_MSEC;
    bed.front.store.due_at = due_at;
    bed_turns(&bed, 1);
    while (clock_now().mono < due_at) {
        bed_turn(&bed, true);
    }
    // A moment in the past: nothing would end a sleep.
    bed.front.store.due_at = clock_now().mono;
    bed.front.store.turns = 0;
    bed_turn(&bed, true);
    bed_turn(&bed, true);
    assert_int_equal(bed.front.store.turns, 2);
    (void)close(client);
    bed_close(&bed);
}

#define HELD_TEST(name) cmocka_unit_test_setup_teardown(name, held_setup, held_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        HELD_TEST(held_answer_leaves_in_the_turn_that_reaches_its_position),
        HELD_TEST(answers_keep_their_order_around_a_held_one),
        HELD_TEST(each_position_releases_the_output_held_for_it),
        HELD_TEST(others_are_answered_while_one_is_held),
        HELD_TEST(turn_releases_a_bounded_number),
        HELD_TEST(connections_touched_while_released_are_served_once),
        HELD_TEST(peer_that_goes_while_its_answer_is_held_is_closed_at_once),
        HELD_TEST(half_closed_client_gets_its_held_answer),
        HELD_TEST(reset_ends_a_held_answer_after_the_input_has_ended),
        HELD_TEST(connection_that_is_finished_ends_after_its_held_answer),
        HELD_TEST(end_of_output_follows_the_held_reply),
        HELD_TEST(patience_with_a_peer_does_not_run_while_its_answer_is_held),
        HELD_TEST(too_much_held_output_stops_the_reading_until_it_leaves),
        HELD_TEST(submitters_are_not_read_while_the_store_is_behind),
        HELD_TEST(no_connection_is_read_while_the_store_is_stuck),
        HELD_TEST(kept_input_is_fed_again_when_the_store_is_at_ease),
        HELD_TEST(held_submitter_goes_on_whichever_comes_first),
        HELD_TEST(peer_that_goes_while_it_is_not_read_is_noticed),
        HELD_TEST(held_connections_are_closed_without_a_reply_when_the_store_gives_up),
        cmocka_unit_test(store_has_its_turn_when_it_asks_for_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
