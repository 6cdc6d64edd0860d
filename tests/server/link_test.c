/* SPDX-License-Identifier: MIT */
// Connections whose sockets belong to an I/O thread: what is handed over and when, how sockets come
// and go back, and how they end. The test makes the rounds of the threads itself.
#include "server/io/io_private.h"

#include "tests/server/server_bed.h"
#include "tests/support/with_cmocka.h"
#include "tests/support/nth_alloc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MANY_TURNS = 500 };

static struct io *io_of(const struct bed *bed)
{
    return bed->loop.turn.io;
}

static int link_setup(void **state)
{
    struct bed *bed = malloc(sizeof *bed);

    nth_alloc_fail(0);
    bed_init(bed, bed_now);
    *state = bed;
    return 0;
}

// Nothing is open any more; the sanitizer finds leaks.
static int link_teardown(void **state)
{
    struct bed *bed = *state;

    nth_alloc_fail(0);
    bed_close(bed);
    free(bed);
    return 0;
}

static void thread_rounds(const struct bed *bed)
{
    for (unsigned i = 0; i < io_of(bed)->count; i++) {
        (void)io_thread_round(&io_of(bed)->threads[i], false);
    }
}

static void core_turn(struct bed *bed)
{
    loop_turn(&bed->loop, false);
}

// A client whose connection is served by a thread.
static int connect_remote(struct bed *bed)
{
    int client = bed_connect(bed);

    bed_turns(bed, 2);
    assert_true(bed_latest(bed)->remote);
    return client;
}

static struct io_link *link_of(struct bed *bed)
{
    assert_true(bed_latest(bed)->remote);
    return bed_latest(bed)->link;
}

static void spread(const struct bed *bed, bool on)
{
    io_of(bed)->spread.on = on;
}

static void send_text(int client, const char *text)
{
    assert_int_equal(send(client, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

// Receives what the client can receive now; returns its length.
static size_t receive_all(int client)
{
    static char bytes[65536];
    size_t len = 0;
    ssize_t got;

    while ((got = recv(client, bytes, sizeof bytes, 0)) > 0) {
        len += (size_t)got;
    }
    return len;
}

// Turns pass until the client has received this much.
static void receive(struct bed *bed, int client, size_t len)
{
    size_t got = 0;

    for (unsigned turns = 0; turns < MANY_TURNS && got < len; turns++) {
        got += receive_all(client);
        bed_turns(bed, 1);
    }
    assert_int_equal(got, len);
}

// This many links are to be closed when their output was sent.
static unsigned lingering(const struct bed *bed)
{
    unsigned count = 0;

    for (unsigned i = 0; i < io_of(bed)->count; i++) {
        list_each (node, &io_of(bed)->threads[i].unread) {
            count++;
        }
    }
    return count;
}

// The threads check links whose peers have not read everything.
static void look_at_unread(struct bed *bed)
{
    for (unsigned i = 0; i < io_of(bed)->count; i++) {
        event_active(&io_of(bed)->threads[i].unread_timer, EV_TIMEOUT, 0);
    }
    bed_turns(bed, 1);
}

static void input_is_handed_over_once_until_it_is_taken(void **state)
{
    struct bed *bed = *state;
    int client = connect_remote(bed);
    const struct io_link *link = link_of(bed);

    send_text(client, "one\n");
    thread_rounds(bed);
    assert_true(link->socket.lent);
    send_text(client, "two\n");
    for (unsigned i = 0; i < 5; i++) {
        thread_rounds(bed);
    }
    core_turn(bed);
    thread_rounds(bed);
    bed_expect(bed, client, "one\n");
    bed_expect(bed, client, "two\n");
    assert_false(link->socket.lent);
    (void)close(client);
}

static void blocked_connection_keeps_no_more_than_its_share_and_one_piece(void **state)
{
    struct bed *bed = *state;
    int client = connect_remote(bed);
    char line[101];
    unsigned sent = 0;
    size_t kept;

    (void)snprintf(line, sizeof line, "%099d\n", 7);
    send_text(client, "block\n");
    for (unsigned idle = 0; idle < 5; idle++) {
        bed_turns(bed, 1);
        while (send(client, line, 100, MSG_NOSIGNAL) == 100) {
            idle = 0;
            sent++;
        }
    }
    kept = backlog_len(&bed_latest(bed)->input) + backlog_len(&link_of(bed)->side.kept);
    assert_in_range(kept, CONN_INPUT_MAX, CONN_INPUT_MAX + CONN_READ_MAX);
    assert_in_range(sent, kept / 100 + 1, 1000000);
    bed_unblock(&bed->front);
    bed_expect(bed, client, "unblocked\n");
    for (; sent > 0; sent--) {
        bed_expect(bed, client, line);
    }
    (void)close(client);
}

static void output_on_its_way_is_bounded_by_the_window(void **state)
{
    struct bed *bed = *state;
    int client = connect_remote(bed);
    struct io_link *link = link_of(bed);
    size_t got;

    send_text(client, "big 3000000\nafter\n");
    bed_turns(bed, 20);
    assert_int_equal(link->side.window_used, LINK_WINDOW);
    assert_int_equal(backlog_len(&link->socket.backlog), LINK_WINDOW);
    for (got = 0; got < 3000000 + 1; got += receive_all(client)) {
        bed_turns(bed, 1);
        assert_in_range(link->side.window_used, 0, LINK_WINDOW);
        assert_in_range(backlog_len(&link->socket.backlog), 0, LINK_WINDOW);
    }
    assert_in_range(got, 3000001, 3000007);
    bed_turns(bed, 5);
    receive(bed, client, 3000007 - got);
    assert_int_equal(backlog_len(&link->socket.backlog), 0);
    (void)close(client);
}

// Room is told when half of the window is free, and not for each byte.
static void room_is_reported_if_it_is_wanted(void **state)
{
    struct bed *bed = *state;
    int client = connect_remote(bed);
    const struct io_link *link = link_of(bed);

    send_text(client, "big 30000\n");
    bed_turns(bed, 2);
    receive(bed, client, 30001);
    bed_turns(bed, 5);
    // The core has not asked.
    assert_int_equal(link->side.window_used, 30001);
    send_text(client, "next\n");
    bed_expect(bed, client, "next\n");
    // The amount sent is told together with the input.
    assert_int_equal(link->side.window_used, 5);
    (void)close(client);
}

static void input_before_the_end_is_answered_before_the_end(void **state)
{
    struct bed *bed = *state;
    int client = connect_remote(bed);

    send_text(client, "one\ntwo\n");
    assert_int_equal(shutdown(client, SHUT_WR), 0);
    bed_expect(bed, client, "one\ntwo\n");
    bed_expect_end(bed, client);
    bed_turns(bed, 2);
    assert_int_equal(bed->loop.turn.open, 0);
}

static void end_behind_a_blocked_command_waits_for_its_answer(void **state)
{
    struct bed *bed = *state;
    int client = connect_remote(bed);

    send_text(client, "block\n");
    bed_turns(bed, 2);
    send_text(client, "after\n");
    assert_int_equal(shutdown(client, SHUT_WR), 0);
    // The front-end unblocks when it is told of the end.
    bed_expect(bed, client, "unblocked\nafter\n");
    bed_expect_end(bed, client);
    assert_int_equal(bed->front.eofs, 1);
}

static void reset_ends_a_connection_that_is_read(void **state)
{
    struct bed *bed = *state;
    int client = bed_connect_tcp(bed);

    bed_turns(bed, 2);
    assert_true(bed_latest(bed)->remote);
    reset_client(client);
    bed_turns(bed, 3);
    assert_int_equal(bed->front.open, 0);
    assert_int_equal(bed->loop.turn.open, 0);
}

// The thread has found the reset while the connection was still busy with what came first.
static void input_before_a_reset_is_handled(void **state)
{
    struct bed *bed = *state;
    int client = bed_connect_tcp(bed);

    bed_turns(bed, 2);
    assert_true(bed_latest(bed)->remote);
    send_text(client, "again\nagain\nagain\nagain\nagain\nagain\nagain\nagain\n");
    thread_rounds(bed);
    core_turn(bed);
    reset_client(client);
    thread_rounds(bed);
    assert_in_range(bed->front.feeds, 1, 4);
    bed_turns(bed, 20);
    // One for each, and one for the last one's answer.
    assert_int_equal(bed->front.feeds, 9);
    assert_int_equal(bed->front.open, 0);
    assert_int_equal(bed->loop.turn.open, 0);
}

static void reset_ends_a_connection_that_is_not_read(void **state)
{
    struct bed *bed = *state;
    int client = bed_connect_tcp(bed);

    bed_send(bed, client, "block\n");
    for (unsigned i = 0; i < 3; i++) {
        char bytes[65536];

        memset(bytes, 'x', sizeof bytes);
        (void)send(client, bytes, sizeof bytes, MSG_NOSIGNAL);
        bed_turns(bed, 3);
    }
    assert_true(link_of(bed)->socket.held);
    reset_client(client);
    bed_turns(bed, 5);
    assert_int_equal(bed->front.open, 0);
    assert_int_equal(bed->loop.turn.open, 0);
}

// The connection has finished, and its peer has not read everything.
static int leave_output_behind(struct bed *bed)
{
    int client = connect_remote(bed);
    const int small = 4096;
    const struct io_link *link = link_of(bed);

    assert_int_equal(setsockopt(link->fd, SOL_SOCKET, SO_SNDBUF, &small, sizeof small), 0);
    send_text(client, "big 100000\nquit\n");
    bed_turns(bed, 3);
    assert_int_equal(bed->front.open, 0);
    assert_int_equal(lingering(bed), 1);
    assert_int_equal(bed->loop.turn.open, 1);
    return client;
}

static void output_of_a_closed_connection_still_leaves(void **state)
{
    struct bed *bed = *state;
    int client = leave_output_behind(bed);

    receive(bed, client, 100001);
    bed_expect_end(bed, client);
    bed_turns(bed, 1);
    assert_int_equal(bed->loop.turn.open, 0);
    assert_int_equal(lingering(bed), 0);
}

static void closed_connection_whose_peer_takes_nothing_is_dropped_after_a_while(void **state)
{
    struct bed *bed = *state;
    int client = leave_output_behind(bed);

    io_set_limits(io_of(bed), &(struct io_limits){.unread_for = 1});
    look_at_unread(bed);
    assert_int_equal(lingering(bed), 1);
    look_at_unread(bed);
    assert_int_equal(lingering(bed), 0);
    assert_int_equal(bed->loop.turn.open, 0);
    (void)close(client);
}

static void closed_connection_whose_peer_takes_something_is_not_dropped(void **state)
{
    struct bed *bed = *state;
    int client = leave_output_behind(bed);

    io_set_limits(io_of(bed), &(struct io_limits){.unread_for = 1});
    look_at_unread(bed);
    assert_in_range(receive_all(client), 1, 100000);
    bed_turns(bed, 1);
    look_at_unread(bed);
    assert_int_equal(lingering(bed), 1);
    (void)close(client);
}

static void without_a_limit_closed_connections_linger(void **state)
{
    struct bed *bed = *state;
    int client = leave_output_behind(bed);

    io_set_limits(io_of(bed), &(struct io_limits){.unread_for = 0});
    look_at_unread(bed);
    look_at_unread(bed);
    look_at_unread(bed);
    assert_int_equal(lingering(bed), 1);
    (void)close(client);
}

// The teardown ends the threads.
static void nothing_lingers_when_the_threads_end(void **state)
{
    (void)leave_output_behind(*state);
}

static void connection_comes_back_when_the_load_has_gone(void **state)
{
    struct bed *bed = *state;
    int client = connect_remote(bed);

    spread(bed, false);
    send_text(client, "one\n");
    bed_expect(bed, client, "one\n");
    bed_turns(bed, 2);
    assert_false(bed_latest(bed)->remote);
    send_text(client, "two\n");
    bed_expect(bed, client, "two\n");
    assert_int_equal(bed->loop.turn.open, 1);
    (void)close(client);
    bed_turns(bed, 3);
    assert_int_equal(bed->loop.turn.open, 0);
}

// The thread has read input of which the core does not know yet when it is asked for the socket.
static void connection_with_input_on_its_way_stays(void **state)
{
    struct bed *bed = *state;
    int client = connect_remote(bed);

    send_text(client, "one\n");
    bed_turns(bed, 1);
    spread(bed, false);
    conn_touch(bed_latest(bed));
    core_turn(bed);
    send_text(client, "two\n");
    // It reads before it executes the order.
    thread_rounds(bed);
    assert_true(bed_latest(bed)->remote);
    bed_expect(bed, client, "one\ntwo\n");
    // With its next news, it is asked for again.
    send_text(client, "three\n");
    bed_expect(bed, client, "three\n");
    bed_turns(bed, 3);
    assert_false(bed_latest(bed)->remote);
    (void)close(client);
}

// A socket that cannot come back now is not asked for again and again meanwhile.
static void connection_with_output_under_way_stays_and_no_thread_is_busy(void **state)
{
    struct bed *bed = *state;
    int client = connect_remote(bed);
    unsigned events;

    send_text(client, "big 1000000\n");
    bed_turns(bed, 10);
    spread(bed, false);
    conn_touch(bed_latest(bed));
    bed_turns(bed, 5);
    assert_true(bed_latest(bed)->remote);
    events = 0;
    for (unsigned i = 0; i < 10; i++) {
        bed_turns(bed, 1);
        events += bed->loop.turn.events;
    }
    assert_int_equal(events, 0);
    receive(bed, client, 1000001);
    send_text(client, "after\n");
    bed_expect(bed, client, "after\n");
    bed_turns(bed, 3);
    assert_false(bed_latest(bed)->remote);
    (void)close(client);
}

// Asks for the socket, and has the thread give it back, which the core does not know yet.
static int give_back(struct bed *bed)
{
    int client = connect_remote(bed);
    struct io_link *link = link_of(bed);

    spread(bed, false);
    conn_touch(bed_latest(bed));
    core_turn(bed);
    thread_rounds(bed);
    assert_false(list_linked(&link->socket.all));
    assert_true(bed_latest(bed)->remote);
    return client;
}

static void connection_may_end_while_it_is_given_back(void **state)
{
    struct bed *bed = *state;
    int client = give_back(bed);

    conn_break(bed_latest(bed), "test");
    conn_close(bed_latest(bed));
    bed_expect_end(bed, client);
    bed_turns(bed, 2);
    assert_int_equal(bed->loop.turn.open, 0);
}

// The teardown does it.
static void threads_may_end_while_a_connection_is_given_back(void **state)
{
    (void)close(give_back(*state));
}

static void output_during_the_return_of_a_connection_is_sent_afterwards(void **state)
{
    struct bed *bed = *state;
    int client = give_back(bed);

    output_write(&bed_latest(bed)->wire.out, SLICE("said\n"));
    wire_shut(&bed_latest(bed)->wire);
    conn_touch(bed_latest(bed));
    core_turn(bed);
    bed_expect(bed, client, "said\n");
    assert_false(bed_latest(bed)->remote);
    bed_expect_end(bed, client);
}

static void output_may_end_while_a_connection_is_returned(void **state)
{
    struct bed *bed = *state;
    int client = connect_remote(bed);

    spread(bed, false);
    conn_touch(bed_latest(bed));
    core_turn(bed);
    wire_shut(&bed_latest(bed)->wire);
    core_turn(bed);
    bed_turns(bed, 2);
    assert_false(bed_latest(bed)->remote);
    bed_expect_end(bed, client);
}

// The last turn had more to do than it could do.
static void threads_end_after_a_turn_that_was_spent(void **state)
{
    struct bed *bed = *state;
    int client = connect_remote(bed);

    send_text(client, "one\n");
    thread_rounds(bed);
    bed->loop.turn.spent = true;
    (void)close(client);
}

#define LINK_TEST(f) cmocka_unit_test_setup_teardown(f, link_setup, link_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        LINK_TEST(input_is_handed_over_once_until_it_is_taken),
        LINK_TEST(blocked_connection_keeps_no_more_than_its_share_and_one_piece),
        LINK_TEST(output_on_its_way_is_bounded_by_the_window),
        LINK_TEST(room_is_reported_if_it_is_wanted),
        LINK_TEST(input_before_the_end_is_answered_before_the_end),
        LINK_TEST(end_behind_a_blocked_command_waits_for_its_answer),
        LINK_TEST(reset_ends_a_connection_that_is_read),
        LINK_TEST(input_before_a_reset_is_handled),
        LINK_TEST(reset_ends_a_connection_that_is_not_read),
        LINK_TEST(output_of_a_closed_connection_still_leaves),
        LINK_TEST(closed_connection_whose_peer_takes_nothing_is_dropped_after_a_while),
        LINK_TEST(closed_connection_whose_peer_takes_something_is_not_dropped),
        LINK_TEST(without_a_limit_closed_connections_linger),
        LINK_TEST(nothing_lingers_when_the_threads_end),
        LINK_TEST(connection_comes_back_when_the_load_has_gone),
        LINK_TEST(connection_with_input_on_its_way_stays),
        LINK_TEST(connection_with_output_under_way_stays_and_no_thread_is_busy),
        LINK_TEST(connection_may_end_while_it_is_given_back),
        LINK_TEST(threads_may_end_while_a_connection_is_given_back),
        LINK_TEST(output_during_the_return_of_a_connection_is_sent_afterwards),
        LINK_TEST(output_may_end_while_a_connection_is_returned),
        LINK_TEST(threads_end_after_a_turn_that_was_spent),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
