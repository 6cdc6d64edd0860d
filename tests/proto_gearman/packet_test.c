/* SPDX-License-Identifier: MIT */

// The framing of packets, valid and hostile, before they are carried out.

#include "tests/proto_gearman/wire_gear.h"

#include <stdio.h>
#include <string.h>

#define NOT_EXPECTED RES(ERROR, "INVALID_COMMAND", "Command not expected")
#define NOT_A_REQUEST RES(ERROR, "INVALID_MAGIC", "Request magic expected")
#define TOO_FEW RES(ERROR, "INVALID_ARGUMENT", "The packet has too few arguments")
#define PING REQ(ECHO_REQ, "ping")
#define PONG RES(ECHO_RES, "ping")

static void echo_returns_what_was_sent(void **state)
{
    struct gear *t = *state;
    struct slice binary = SLICE("a\0\0b\xff\0");

    gear_says(t->a, REQ(ECHO_REQ, "hello"), RES(ECHO_RES, "hello"));
    gear_says(t->a, REQ(ECHO_REQ), RES(ECHO_RES));
    gear_says(t->a, gear_raw("REQ", 16, 6, binary), gear_raw("RES", 17, 6, binary));
    gear_says(t->a, REQ(ECHO_REQ, gear_run('x', 5000000)), RES(ECHO_RES, gear_run('x', 5000000)));
}

static void packets_in_a_row_are_answered_in_their_order(void **state)
{
    struct gear *t = *state;

    gear_says(t->a, MANY(REQ(ECHO_REQ, "1"), REQ(SUBMIT_JOB_BG, "f", "", "x"), REQ(GRAB_JOB), PING),
              MANY(RES(ECHO_RES, "1"), RES(JOB_CREATED, H(1)), RES(NO_JOB), PONG));
}

static void a_type_that_no_peer_may_send_is_refused(void **state)
{
    static const uint32_t types[] = {
        0,   5,   6,     8,          10,         11,         17,         19,
        20,  27,  31,    40,         42,         43,         44,         99,
        101, 255, 0x107, 0x7fffffff, 0x80000000, 0x80000007, 0xfffffff9, 0xffffffff};
    struct gear *t = *state;

    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        gear_says(t->a, MANY(gear_raw("REQ", types[i], 0, NOTHING), PING),
                  MANY(NOT_EXPECTED, PONG));
    }
}

static void the_body_of_a_refused_type_is_skipped(void **state)
{
    static const uint32_t types[] = {0, 5, 6, 43, 0x80000000, 0xffffffff};
    struct gear *t = *state;

    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        gear_says(
            t->a,
            MANY(gear_raw("REQ", types[i], 24, SLICE("\0REQ\0\0\0\20\0\0\0\0getpid\nabcde")), PING),
            MANY(NOT_EXPECTED, PONG));
    }
}

static void a_packet_with_the_magic_of_a_response_is_refused_and_skipped(void **state)
{
    struct gear *t = *state;

    gear_says(t->a, MANY(RES(ECHO_REQ, "hello"), PING), MANY(NOT_A_REQUEST, PONG));
    gear_says(t->a, MANY(RES(JOB_CREATED, H(1)), RES(NO_JOB), PING),
              MANY(NOT_A_REQUEST, NOT_A_REQUEST, PONG));
    gear_says(t->a, MANY(gear_raw("RES", 0xffffffff, 3, SLICE("abc")), PING),
              MANY(NOT_A_REQUEST, PONG));
}

static void any_other_magic_is_refused_and_ends_the_connection(void **state)
{
    static const char *const magics[] = {"REX", "RE\xff", "req", "FOO", "\1\2\3"};
    struct gear *t = *state;

    for (size_t i = 0; i < sizeof magics / sizeof *magics; i++) {
        struct peer *peer = peer_new(t->rig);

        gear_says(peer, PING, PONG);
        gear_says(peer, MANY(gear_raw(magics[i], 16, 0, NOTHING), PING), NOT_A_REQUEST);
        assert_true(peer_closed(peer));
        peer_free(peer);
    }
    gear_says(t->a, MANY(SLICE("\0\0\0\0\0\0\0\0\0\0\0\0"), PING), NOT_A_REQUEST);
    assert_true(peer_closed(t->a));
}

static void every_packet_with_too_few_arguments_is_refused(void **state)
{
    struct gear *t = *state;
    const struct slice packets[] = {
        REQ(SUBMIT_JOB),
        REQ(SUBMIT_JOB, "f"),
        REQ(SUBMIT_JOB, "f", "u"),
        REQ(SUBMIT_JOB_BG, "f", "u"),
        REQ(SUBMIT_JOB_HIGH, "f", "u"),
        REQ(SUBMIT_JOB_HIGH_BG, "f", "u"),
        REQ(SUBMIT_JOB_LOW, "f", "u"),
        REQ(SUBMIT_JOB_LOW_BG, "f", "u"),
        REQ(SUBMIT_JOB_EPOCH, "f", "u", "0"),
        REQ(SUBMIT_JOB_SCHED, "f", "u", "*", "*", "*", "*", "*"),
        REQ(SUBMIT_REDUCE_JOB, "f", "u", "r"),
        REQ(SUBMIT_REDUCE_JOB_BACKGROUND, "f", "u", "r"),
        REQ(WORK_STATUS, H(1), "1"),
        REQ(WORK_STATUS),
        REQ(CAN_DO_TIMEOUT, "f"),
    };

    for (size_t i = 0; i < sizeof packets / sizeof *packets; i++) {
        gear_says(t->a, MANY(packets[i], PING), MANY(TOO_FEW, PONG));
    }
    assert_null(broker_queue_find(rig_broker(t->rig), SLICE("f")));
}

// Perl's Gearman::Worker sends this for a function that returns nothing.
static void a_report_that_is_only_a_handle_has_no_data(void **state)
{
    struct gear *t = *state;

    gear_says(t->a, REQ(OPTION_REQ, "exceptions"), RES(OPTION_RES, "exceptions"));
    gear_submits(t->a, REQ(SUBMIT_JOB, "f", "", "x"));
    gear_submits(t->a, REQ(SUBMIT_JOB, "f", "", "x"));
    gear_says(t->b, REQ(CAN_DO, "f"), NOTHING);
    gear_grabs(t->b, "f", "x");
    gear_grabs(t->b, "f", "x");
    gear_says(t->b, MANY(REQ(WORK_DATA, H(1)), REQ(WORK_WARNING, H(1)), REQ(WORK_COMPLETE, H(1))),
              NOTHING);
    gear_hears(t->a, MANY(RES(WORK_DATA, H(1), ""), RES(WORK_WARNING, H(1), ""),
                          RES(WORK_COMPLETE, H(1), "")));
    gear_says(t->b, REQ(WORK_EXCEPTION, H(2)), NOTHING);
    gear_hears(t->a, RES(WORK_EXCEPTION, H(2), ""));
}

static void a_body_that_no_argument_claims_is_ignored(void **state)
{
    struct gear *t = *state;

    gear_says(t->a, MANY(REQ(GRAB_JOB, "what", "is", "this"), PING), MANY(RES(NO_JOB), PONG));
    gear_says(t->a, MANY(REQ(PRE_SLEEP, "x"), REQ(ALL_YOURS, "x"), REQ(RESET_ABILITIES, "x"), PING),
              PONG);
}

static void the_last_argument_without_data_ends_at_a_nul(void **state)
{
    struct gear *t = *state;

    gear_submits(t->a, REQ(SUBMIT_JOB, "f", "u", "x"));
    gear_says(t->b, REQ(CAN_DO, "f", "and more"), NOTHING);
    gear_grabs(t->b, "f", "x");
    gear_says(t->b, REQ(WORK_STATUS, H(1), "1", "2", "3"), NOTHING);
    gear_hears(t->a, RES(WORK_STATUS, H(1), "1", "2"));
    gear_says(t->a, REQ(GET_STATUS, H(1), ""), RES(STATUS_RES, H(1), "1", "1", "1", "2"));
    gear_says(t->a, REQ(GET_STATUS_UNIQUE, "u", ""),
              RES(STATUS_RES_UNIQUE, "u", "1", "1", "1", "2", "1"));
    gear_says(t->a, REQ(OPTION_REQ, "exceptions", ""), RES(OPTION_RES, "exceptions"));
    gear_says(t->b, REQ(WORK_FAIL, H(1), ""), NOTHING);
    gear_hears(t->a, RES(WORK_FAIL, H(1)));
    gear_says(t->b, MANY(REQ(CANT_DO, "f", ""), REQ(GRAB_JOB)), RES(NO_JOB));
}

static void arguments_of_any_length_and_of_any_bytes_are_found(void **state)
{
    static const char bytes[] = {'a', '\1', '\x7f', '\x80', '\x81', '\xff'};
    const size_t longest = 20;
    struct gear *t = *state;
    uint64_t id = 0;

    for (size_t i = 0; i < sizeof bytes; i++) {
        for (size_t len = 1; len <= longest; len++) {
            const char *function = gear_run(bytes[i], len);
            const char *unique = gear_run(bytes[i], longest - len);
            const char *data = gear_run(bytes[i], len % 9);
            const char *handle = gear_handle(++id);

            gear_says(t->b, REQ(CAN_DO, function), NOTHING);
            gear_says(t->a, REQ(SUBMIT_JOB_BG, function, unique, data), RES(JOB_CREATED, handle));
            gear_says(t->b, REQ(GRAB_JOB_UNIQ),
                      RES(JOB_ASSIGN_UNIQ, handle, function, unique, data));
            gear_says(t->b, REQ(WORK_COMPLETE, handle, data), NOTHING);
        }
    }
}

static void arguments_before_the_data_have_a_limit(void **state)
{
    struct gear *t = *state;

    gear_fails(t->a, REQ(SUBMIT_JOB, gear_run('f', 9000), "u", "x"), "ARGUMENT_TOO_LARGE");
    gear_fails(t->b, REQ(SUBMIT_JOB, "f", gear_run('u', 9000), "x"), "ARGUMENT_TOO_LARGE");
    gear_fails(t->c, REQ(WORK_DATA, gear_run('h', 100000), "x"), "ARGUMENT_TOO_LARGE");
    gear_says(t->c, PING, PONG);
}

static void a_long_argument_without_an_end_is_refused_before_it_is_complete(void **state)
{
    struct gear *t = *state;
    struct slice packet = REQ(SUBMIT_JOB, gear_run('f', 100000), "u", "x");

    gear_says(t->a, slice_of(packet.ptr, 8000), NOTHING);
    gear_fails(t->a, slice_of(packet.ptr + 8000, 10000), "ARGUMENT_TOO_LARGE");
    gear_says(t->a, MANY(slice_from(packet, 18000), PING), PONG);
}

static void a_packet_may_end_with_its_header(void **state)
{
    struct gear *t = *state;
    static const uint32_t types[] = {1, 2, 14, 15, 22, 26, 41};

    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        struct slice heard = peer_ask(t->a, MANY(gear_raw("REQ", types[i], 0, NOTHING), PING));

        assert_true(heard.len >= PONG.len);
        assert_memory_equal(heard.ptr + heard.len - PONG.len, PONG.ptr, PONG.len);
    }
}

static void text_and_packets_may_be_mixed(void **state)
{
    struct gear *t = *state;

    gear_says(t->a, MANY(PING, SLICE("getpid\n"), PING, SLICE("getpid\r\n")),
              MANY(PONG, SLICE("OK 4242\n"), PONG, SLICE("OK 4242\n")));
    gear_says(t->b, MANY(SLICE("getpid\n"), PING), MANY(SLICE("OK 4242\n"), PONG));
    gear_says(t->b, MANY(SLICE("get"), NOTHING), NOTHING);
    gear_says(t->b, MANY(SLICE("pid\n"), PING), MANY(SLICE("OK 4242\n"), PONG));
}

static int with_a_small_budget(void **state)
{
    return gear_setup_with(state, (struct rig_options){.budget = 8}, GEAR_DEFAULTS);
}

static void output_is_split_into_packets_and_text(void **state)
{
    struct slice packet = RES(WORK_COMPLETE, H(1), "result");

    (void)state;
    for (size_t seen = 0; seen < packet.len; seen++) {
        assert_int_equal(gearman_frontend.message_len(slice_of(packet.ptr, seen)),
                         seen < 12 ? 0 : packet.len);
    }
    assert_int_equal(gearman_frontend.message_len(MANY(packet, RES(NOOP))), packet.len);
    assert_int_equal(gearman_frontend.message_len(MANY(SLICE("OK\r\n"), packet)), 4);
    assert_int_equal(gearman_frontend.message_len(SLICE("f\t0\t0\t0\n.\n")), 10);
}

static void a_flood_of_packets_does_not_hold_up_other_peers(void **state)
{
    struct gear *t = *state;

    for (int i = 0; i < 100; i++) {
        peer_send(t->a, i % 2 ? PING : SLICE("getpid\n"));
    }
    for (int turn = 1; turn <= 3; turn++) {
        peer_send(t->b, PING);
        rig_feed(t->rig);
        gear_hears(t->b, PONG);
        gear_hears(t->a, MANY(SLICE("OK 4242\n"), PONG, SLICE("OK 4242\n"), PONG,
                              SLICE("OK 4242\n"), PONG, SLICE("OK 4242\n"), PONG));
    }
}

// A feed has room for eight packets, but not for eight that each search hundreds of functions.
static void a_grab_over_many_functions_counts_for_several_packets(void **state)
{
    struct gear *t = *state;
    unsigned long before;
    char name[16];

    for (int i = 0; i < 2 * BROKER_SLICE; i++) {
        (void)snprintf(name, sizeof name, "f%d", i);
        gear_submits(t->b, REQ(SUBMIT_JOB_BG, name, "", ""));
        (void)snprintf(name, sizeof name, "g%d", i);
        gear_says(t->a, REQ(CAN_DO, name), NOTHING);
    }
    before = rig_feeds(t->rig);
    for (int i = 0; i < 8; i++) {
        peer_send(t->a, REQ(GRAB_JOB));
    }
    rig_run(t->rig);
    assert_true(rig_feeds(t->rig) - before >= 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        GEAR(echo_returns_what_was_sent),
        GEAR(packets_in_a_row_are_answered_in_their_order),
        GEAR(a_type_that_no_peer_may_send_is_refused),
        GEAR(the_body_of_a_refused_type_is_skipped),
        GEAR(a_packet_with_the_magic_of_a_response_is_refused_and_skipped),
        GEAR(any_other_magic_is_refused_and_ends_the_connection),
        GEAR(every_packet_with_too_few_arguments_is_refused),
        GEAR(a_report_that_is_only_a_handle_has_no_data),
        GEAR(a_body_that_no_argument_claims_is_ignored),
        GEAR(the_last_argument_without_data_ends_at_a_nul),
        GEAR(arguments_of_any_length_and_of_any_bytes_are_found),
        GEAR(arguments_before_the_data_have_a_limit),
        GEAR(a_long_argument_without_an_end_is_refused_before_it_is_complete),
        GEAR(a_packet_may_end_with_its_header),
        GEAR(text_and_packets_may_be_mixed),
        GEAR(output_is_split_into_packets_and_text),
        cmocka_unit_test_setup_teardown(a_flood_of_packets_does_not_hold_up_other_peers,
                                        with_a_small_budget, gear_teardown),
        cmocka_unit_test_setup_teardown(a_grab_over_many_functions_counts_for_several_packets,
                                        with_a_small_budget, gear_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
