/* SPDX-License-Identifier: MIT */
// One connection: its input in pieces of any size, its output, its end.
#include "proto_common/unread.h"
#include "tests/server/server_bed.h"
#include "tests/support/with_cmocka.h"
#include "tests/support/nth_alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int conn_setup(void **state)
{
    struct bed *bed = malloc(sizeof *bed);

    nth_alloc_fail(0);
    bed_init(bed, bed_now);
    *state = bed;
    return 0;
}

static int conn_teardown(void **state)
{
    struct bed *bed = *state;

    nth_alloc_fail(0);
    bed_close(bed);
    free(bed);
    return 0;
}

// `count` times the line, with its number in place of a #; to be freed.
static char *repeat(const char *line, unsigned count)
{
    char *text = calloc(count, strlen(line) + 12);
    char *end = text;

    for (unsigned i = 0; i < count; i++) {
        const char *mark = strchr(line, '#');

        if (mark) {
            end += sprintf(end, "%.*s%u%s", (int)(mark - line), line, i, mark + 1);
        } else {
            end += sprintf(end, "%s", line);
        }
    }
    return text;
}

static void command_is_answered_in_the_turn_that_reads_it(void **state)
{
    struct bed *bed = *state;
    int client = bed_connect(bed);
    char reply[16];

    assert_int_equal(send(client, "hello\n", 6, 0), 6);
    bed_turns(bed, 1);
    assert_int_equal(recv(client, reply, sizeof reply, 0), 6);
    assert_memory_equal(reply, "hello\n", 6);
    (void)close(client);
}

static void command_may_come_in_pieces_of_any_size(void **state)
{
    static const char input[] = "one\ntake 5\nabcdethree\nfour\n";
    struct bed *bed = *state;

    for (size_t first = 0; first < sizeof input; first++) {
        for (size_t second = first; second < sizeof input; second++) {
            char part[sizeof input];
            int client = bed_connect(bed);

            (void)snprintf(part, sizeof part, "%.*s", (int)first, input);
            bed_send(bed, client, part);
            (void)snprintf(part, sizeof part, "%.*s", (int)(second - first), input + first);
            bed_send(bed, client, part);
            bed_send(bed, client, input + second);
            bed_expect(bed, client, "one\ntook abcde\nthree\nfour\n");
            (void)close(client);
            bed_turns(bed, 1);
        }
    }
    assert_int_equal(bed->front.open, 0);
}

static void idle_connection_keeps_no_input_buffer(void **state)
{
    struct bed *bed = *state;
    int client = bed_connect(bed);

    bed_send(bed, client, "hal");
    assert_int_equal(backlog_len(&bed_latest(bed)->input), 3);
    bed_send(bed, client, "lo\n");
    bed_expect(bed, client, "hallo\n");
    assert_null(bed_latest(bed)->input.bytes);
    assert_null(bed_latest(bed)->wire.out.head);
    (void)close(client);
}

static void pipelined_commands_are_answered_in_order_with_any_budget(void **state)
{
    struct bed *bed = *state;
    int client = bed_connect(bed);
    char *text = repeat("number #\n", 5000);

    bed_send(bed, client, text);
    bed_expect(bed, client, text);
    assert_int_equal(bed->front.most, CONN_COMMANDS_MAX);
    free(text);
    (void)close(client);
}

static void connection_that_wants_another_turn_gets_it(void **state)
{
    struct bed *bed = *state;
    int client = bed_connect(bed);

    bed_send(bed, client, "again\nafter\n");
    bed_expect(bed, client, "again\nafter\n");
    (void)close(client);
}

static void large_body_is_received_in_its_place(void **state)
{
    struct bed *bed = *state;
    int client = bed_connect(bed);
    char *body = repeat("0123456789", 30000);
    char *reply = calloc(1, strlen(body) + 32);

    bed_send(bed, client, "take 300000\n");
    assert_non_null(bed_latest(bed)->into);
    bed_send(bed, client, body);
    bed_send(bed, client, "after\n");
    (void)sprintf(reply, "took %s\nafter\n", body);
    bed_expect(bed, client, reply);
    assert_in_range(bed->front.fills, 1, 1000);
    free(body);
    free(reply);
    (void)close(client);
}

static void input_after_a_body_in_the_same_read_is_fed_too(void **state)
{
    struct bed *bed = *state;
    int client = bed_connect(bed);

    bed_send(bed, client, "take 4\n");
    bed_send(bed, client, "abcdblock\nafter\n");
    bed_expect(bed, client, "took abcd\n");
    bed_unblock(&bed->front);
    bed_expect(bed, client, "unblocked\nafter\n");
    assert_int_equal(bed->front.fills, 1);
    (void)close(client);
}

static void blocked_connection_keeps_its_input_until_it_is_woken(void **state)
{
    struct bed *bed = *state;
    int client = bed_connect(bed);

    bed_send(bed, client, "block\nfirst\n");
    bed_send(bed, client, "second\n");
    bed_expect_silence(bed, client);
    bed_unblock(&bed->front);
    bed_expect(bed, client, "unblocked\nfirst\nsecond\n");
    (void)close(client);
}

static void input_of_more_than_one_read_needs_no_more_to_be_read_on(void **state)
{
    struct bed *bed = *state;
    int client = bed_connect(bed);
    char *lines = repeat("a line of 16 b.\n", CONN_READ_MAX / 16 + 4);

    assert_int_equal(send(client, lines, strlen(lines), 0), strlen(lines));
    bed_expect(bed, client, lines);
    free(lines);
    (void)close(client);
}

// Sends whole lines until the socket is full; returns their number.
static unsigned stuff(struct bed *bed, int client)
{
    unsigned count = 0;

    for (int idle = 0; idle < 3; idle++) {
        char line[32];
        int len = sprintf(line, "number %09u\n", count);

        while (send(client, line, (size_t)len, 0) == len) {
            idle = 0;
            count++;
            len = sprintf(line, "number %09u\n", count);
        }
        bed_turns(bed, 2);
    }
    return count;
}

static void blocked_connection_is_read_up_to_a_cap_and_loses_nothing(void **state)
{
    struct bed *bed = *state;
    int client = bed_connect(bed);
    unsigned count;

    bed_send(bed, client, "block\n");
    count = stuff(bed, client);
    assert_int_equal(backlog_len(&bed_latest(bed)->input), CONN_INPUT_MAX);
    bed_unblock(&bed->front);
    bed_expect(bed, client, "unblocked\n");
    for (unsigned i = 0; i < count; i++) {
        char line[32];

        (void)sprintf(line, "number %09u\n", i);
        bed_expect(bed, client, line);
    }
    (void)close(client);
}

static void full_blocked_connection_still_notices_that_its_peer_has_gone(void **state)
{
    struct bed *bed = *state;
    int client = bed_connect(bed);

    bed->front.eof_means_gone = true;
    bed_send(bed, client, "block\n");
    (void)stuff(bed, client);
    (void)close(client);
    bed_turns(bed, 3);
    assert_int_equal(bed->front.open, 0);
}

static void full_blocked_connection_notices_a_half_close_once(void **state)
{
    struct bed *bed = *state;
    int client = bed_connect(bed);
    unsigned count;

    bed_send(bed, client, "block\n");
    count = stuff(bed, client);
    assert_int_equal(shutdown(client, SHUT_WR), 0);
    bed_expect(bed, client, "unblocked\n");
    for (unsigned i = 0; i < count; i++) {
        char line[32];

        (void)sprintf(line, "number %09u\n", i);
        bed_expect(bed, client, line);
    }
    bed_expect_end(bed, client);
    assert_int_equal(bed->front.eofs, 1);
}

static void full_blocked_connection_notices_a_reset(void **state)
{
    struct bed *bed = *state;
    int client = bed_connect_tcp(bed);

    bed_send(bed, client, "block\n");
    (void)stuff(bed, client);
    reset_client(client);
    bed_turns(bed, 3);
    assert_int_equal(bed->front.open, 0);
}

static void reset_after_input_without_a_reply_is_noticed(void **state)
{
    struct bed *bed = *state;
    int client = bed_connect_tcp(bed);

    bed_turns(bed, 2);
    assert_int_equal(send(client, "block\n", 6, 0), 6);
    reset_client(client);
    bed_turns(bed, 3);
    assert_int_equal(bed->front.open, 0);
}

static void half_closed_client_gets_its_answers_and_is_closed(void **state)
{
    struct bed *bed = *state;
    int client = bed_connect(bed);

    bed_send(bed, client, "one\ntw");
    assert_int_equal(send(client, "o\nrest", 6, 0), 6);
    assert_int_equal(shutdown(client, SHUT_WR), 0);
    bed_expect(bed, client, "one\ntwo\n");
    bed_expect_end(bed, client);
    assert_int_equal(bed->front.open, 0);
}

static void half_close_ends_a_blocked_command_and_the_rest_is_answered(void **state)
{
    struct bed *bed = *state;
    int client = bed_connect(bed);

    bed_send(bed, client, "block\nafter\n");
    assert_int_equal(shutdown(client, SHUT_WR), 0);
    bed_expect(bed, client, "unblocked\nafter\n");
    bed_expect_end(bed, client);
}

static void command_that_blocks_after_a_half_close_is_waited_for_without_spinning(void **state)
{
    struct bed *bed = *state;
    int client = bed_connect(bed);

    bed_send(bed, client, "block\nblock\nafter\n");
    assert_int_equal(shutdown(client, SHUT_WR), 0);
    bed_expect(bed, client, "unblocked\n");
    bed_expect_silence(bed, client);
    assert_int_equal(bed->loop.turn.events, 0);
    assert_false(bed_latest(bed)->runs);
    bed_unblock(&bed->front);
    bed_expect(bed, client, "unblocked\nafter\n");
    bed_expect_end(bed, client);
    assert_int_equal(bed->front.eofs, 1);
}

static void half_closed_client_that_does_not_read_costs_no_wake_ups(void **state)
{
    struct bed *bed = *state;
    int client = bed_connect(bed);

    bed_send(bed, client, "big 900000\n");
    assert_int_equal(shutdown(client, SHUT_WR), 0);
    bed_turns(bed, 5);
    assert_int_equal(bed->front.eofs, 1);
    assert_int_equal(bed->loop.turn.events, 0);
    assert_true(list_empty(&bed->loop.turn.touched));
    assert_false(bed_latest(bed)->runs);
    (void)close(client);
    bed_turns(bed, 2);
    assert_int_equal(bed->front.open, 0);
}

static void end_of_input_closes_if_the_protocol_does(void **state)
{
    struct bed *bed = *state;
    int client = bed_connect(bed);

    bed->front.eof_means_gone = true;
    bed_send(bed, client, "block\n");
    assert_int_equal(shutdown(client, SHUT_WR), 0);
    bed_expect_end(bed, client);
}

static void end_that_comes_while_input_is_still_fed_comes_after_it(void **state)
{
    struct bed *bed = *state;
    int client = bed_connect(bed);
    char *lines = repeat("x\n", 5 * CONN_COMMANDS_MAX);

    bed->front.eof_means_gone = true;
    bed_send(bed, client, lines);
    assert_true(bed_latest(bed)->runs);
    assert_int_equal(shutdown(client, SHUT_WR), 0);
    bed_expect(bed, client, lines);
    bed_expect_end(bed, client);
    free(lines);
}

static void end_means_nothing_yet_while_the_peer_takes_no_output(void **state)
{
    struct bed *bed = *state;
    int client = bed_connect(bed);

    bed->front.eof_means_gone = true;
    bed_send(bed, client, "big 2000000\n");
    assert_true(bed_latest(bed)->too_much_output);
    assert_int_equal(shutdown(client, SHUT_WR), 0);
    bed_turns(bed, 5);
    assert_int_equal(bed->front.open, 1);
    (void)close(client);
    bed_turns(bed, 2);
    assert_int_equal(bed->front.open, 0);
}

static void a_connection_that_keeps_more_than_it_may_is_dropped(void **state)
{
    struct bed *bed = *state;
    int client = bed_connect(bed);
    struct wire *wire;

    bed_send(bed, client, "big 3000000\nblock\nmore\n");
    bed_turns(bed, 20);
    wire = &bed_latest(bed)->wire;
    assert_true(wire->out.stalled);
    assert_false(wire_drop_unread(wire, 0, UINT64_MAX));
    bed->loop.turn.kept_most = 4000000;
    assert_false(wire_drop_unread(wire, 0, UINT64_MAX));
    bed->loop.turn.kept_most = 2000000;
    assert_true(wire_drop_unread(wire, 0, UINT64_MAX));
    bed_turns(bed, 2);
    assert_int_equal(bed->front.open, 0);
    (void)close(client);
}

static void finished_connection_sends_its_answers_and_parses_no_more(void **state)
{
    struct bed *bed = *state;
    int client = bed_connect(bed);

    bed_send(bed, client, "one\nquit\ntwo\n");
    bed_expect(bed, client, "one\n");
    bed_expect_end(bed, client);
    assert_int_equal(bed->front.open, 0);
}

static void large_output_leaves_as_the_peer_reads(void **state)
{
    struct bed *bed = *state;
    int client = bed_connect(bed);
    char *big = repeat("B", 3000000);

    bed_send(bed, client, "big 3000000\nquit\n");
    bed_turns(bed, 3000000 / CONN_SEND_MAX + 1);
    assert_true(bed_latest(bed)->wire.out.stalled);
    bed_expect(bed, client, big);
    bed_expect(bed, client, "\n");
    bed_expect_end(bed, client);
    free(big);
}

static void peer_that_does_not_read_is_neither_read_nor_fed(void **state)
{
    struct bed *bed = *state;
    int client = bed_connect(bed);
    char *big = repeat("B", 100000);
    unsigned feeds;

    for (int i = 0; i < 20; i++) {
        assert_int_equal(send(client, "big 100000\n", 11, 0), 11);
        bed_turns(bed, 2);
    }
    assert_true(bed_latest(bed)->too_much_output);
    feeds = bed->front.feeds;
    bed_turns(bed, 5);
    assert_int_equal(bed->front.feeds, feeds);
    for (int i = 0; i < 20; i++) {
        bed_expect(bed, client, big);
        bed_expect(bed, client, "\n");
    }
    bed_send(bed, client, "after\n");
    bed_expect(bed, client, "after\n");
    free(big);
    (void)close(client);
}

static void unblocked_connection_waits_for_a_peer_that_does_not_read(void **state)
{
    struct bed *bed = *state;
    int client = bed_connect(bed);
    char *big = repeat("B", 2000000);

    bed_send(bed, client, "big 2000000\nblock\nafter\n");
    assert_true(bed_latest(bed)->too_much_output);
    bed_unblock(&bed->front);
    bed_turns(bed, 5);
    assert_int_equal(backlog_len(&bed_latest(bed)->input), 6);
    bed_expect(bed, client, big);
    bed_expect(bed, client, "\nunblocked\nafter\n");
    free(big);
    (void)close(client);
}

static void peer_that_goes_while_output_waits_is_closed(void **state)
{
    struct bed *bed = *state;
    int client = bed_connect(bed);

    bed_send(bed, client, "big 2000000\n");
    (void)close(client);
    bed_turns(bed, 2);
    assert_int_equal(bed->front.open, 0);
}

static void refused_connection_is_closed(void **state)
{
    struct bed *bed = *state;

    bed->front.refuses = true;
    bed_expect_end(bed, bed_connect(bed));
    bed->front.refuses = false;
    nth_alloc_fail(1);
    bed_expect_end(bed, bed_connect(bed));
    assert_int_equal(bed->front.open, 0);
}

static void connection_without_memory_is_closed_and_others_go_on(void **state)
{
    struct bed *bed = *state;
    int other;
    int client;

#ifndef __SANITIZE_ADDRESS__
    skip(); // kept input has a block of a slab
#endif
    other = bed_connect(bed);
    client = bed_connect(bed);
    output_pool_clear(&bed->loop.turn.pool);
    assert_int_equal(send(client, "lost\n", 5, 0), 5);
    nth_alloc_fail(1); // of the output
    bed_expect_end(bed, client);
    client = bed_connect(bed);
    assert_int_equal(send(client, "lo", 2, 0), 2);
    nth_alloc_fail(1); // of the kept input
    bed_expect_end(bed, client);
    bed_send(bed, other, "still here\n");
    bed_expect(bed, other, "still here\n");
    assert_int_equal(bed->front.open, 1);
    (void)close(other);
}

#define CONN_TEST(name) cmocka_unit_test_setup_teardown(name, conn_setup, conn_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CONN_TEST(command_is_answered_in_the_turn_that_reads_it),
        CONN_TEST(command_may_come_in_pieces_of_any_size),
        CONN_TEST(idle_connection_keeps_no_input_buffer),
        CONN_TEST(pipelined_commands_are_answered_in_order_with_any_budget),
        CONN_TEST(connection_that_wants_another_turn_gets_it),
        CONN_TEST(large_body_is_received_in_its_place),
        CONN_TEST(input_after_a_body_in_the_same_read_is_fed_too),
        CONN_TEST(blocked_connection_keeps_its_input_until_it_is_woken),
        CONN_TEST(blocked_connection_is_read_up_to_a_cap_and_loses_nothing),
        CONN_TEST(input_of_more_than_one_read_needs_no_more_to_be_read_on),
        CONN_TEST(full_blocked_connection_still_notices_that_its_peer_has_gone),
        CONN_TEST(full_blocked_connection_notices_a_half_close_once),
        CONN_TEST(full_blocked_connection_notices_a_reset),
        CONN_TEST(reset_after_input_without_a_reply_is_noticed),
        CONN_TEST(half_closed_client_gets_its_answers_and_is_closed),
        CONN_TEST(half_close_ends_a_blocked_command_and_the_rest_is_answered),
        CONN_TEST(command_that_blocks_after_a_half_close_is_waited_for_without_spinning),
        CONN_TEST(half_closed_client_that_does_not_read_costs_no_wake_ups),
        CONN_TEST(end_of_input_closes_if_the_protocol_does),
        CONN_TEST(end_that_comes_while_input_is_still_fed_comes_after_it),
        CONN_TEST(end_means_nothing_yet_while_the_peer_takes_no_output),
        CONN_TEST(finished_connection_sends_its_answers_and_parses_no_more),
        CONN_TEST(large_output_leaves_as_the_peer_reads),
        CONN_TEST(peer_that_does_not_read_is_neither_read_nor_fed),
        CONN_TEST(unblocked_connection_waits_for_a_peer_that_does_not_read),
        CONN_TEST(peer_that_goes_while_output_waits_is_closed),
        CONN_TEST(refused_connection_is_closed),
        CONN_TEST(connection_without_memory_is_closed_and_others_go_on),
        CONN_TEST(a_connection_that_keeps_more_than_it_may_is_dropped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
