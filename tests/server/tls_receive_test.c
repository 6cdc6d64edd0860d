/* SPDX-License-Identifier: MIT */
// Receiving on a connection with TLS, and the events before it can receive more.
#include "tests/support/with_cmocka.h"
#include "tests/server/tls_bed.h"

#include <errno.h>
#include <openssl/err.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { RECORD_MAX = 16384, LONG = 64 * 1024, SMALL_RECORDS = 200 };

// One receive finds this, of `len` bytes at most.
static void expect_bytes(struct tls_link *link, size_t len, const char *bytes, bool drained)
{
    char heard[LONG];
    struct received received = tls_link_receive(link, heard, len);

    assert_int_equal(received.result, TRANSFER_BYTES);
    assert_int_equal(received.len, strlen(bytes));
    assert_memory_equal(heard, bytes, strlen(bytes));
    assert_int_equal(received.drained, drained);
    assert_false(received.needs_room);
}

static void expect_result(struct tls_link *link, enum transfer result, bool drained)
{
    char heard[LONG];
    struct received received = tls_link_receive(link, heard, sizeof heard);

    assert_int_equal(received.result, result);
    assert_int_equal(received.drained, drained);
    assert_false(received.needs_room);
}

static void expect_lost(struct tls_link *link, int error)
{
    char heard[64];

    for (int i = 0; i < 2; i++) {
        struct received received = tls_link_receive(link, heard, sizeof heard);
        struct sent sent = tls_link_send(link, "x", 1);

        assert_int_equal(received.result, TRANSFER_FAILED);
        assert_int_equal(received.error, error);
        assert_int_equal(sent.result, TRANSFER_FAILED);
        assert_int_equal(sent.error, error);
        assert_int_equal(transport_tls.error(link->fd, &link->own), error);
    }
}

static void the_bytes_of_one_read_are_received_by_one_call(void **state)
{
    struct tls_link link;

    tls_link_connect(&link, *state);
    expect_result(&link, TRANSFER_NONE, true);
    tls_link_say(&link, "one ", 4);
    tls_link_say(&link, "two ", 4);
    tls_link_say(&link, "three", 5);
    expect_bytes(&link, LONG, "one two three", true);
    expect_result(&link, TRANSFER_NONE, true);
    tls_link_close(&link);
}

static void a_connection_that_keeps_bytes_is_not_drained(void **state)
{
    struct tls_link link;

    tls_link_connect(&link, *state);
    tls_link_say(&link, "abcdef", 6);
    tls_link_say(&link, "ghi", 3);
    expect_bytes(&link, 4, "abcd", false);
    expect_bytes(&link, 2, "ef", false);
    expect_bytes(&link, LONG, "ghi", true);
    tls_link_close(&link);
}

static void parts_are_filled_in_order(void **state)
{
    struct tls_link link;
    char first[3];
    char second[2];
    char third[16];
    const struct iovec parts[] = {{first, sizeof first}, {second, 2}, {third, sizeof third}};
    struct received received;

    tls_link_connect(&link, *state);
    tls_link_say(&link, "abcd", 4);
    tls_link_say(&link, "efgh", 4);
    received = transport_tls.receive(link.fd, &link.own, parts, 3, 21);
    assert_int_equal(received.len, 8);
    assert_memory_equal(first, "abc", 3);
    assert_memory_equal(second, "de", 2);
    assert_memory_equal(third, "fgh", 3);
    tls_link_close(&link);
}

static void a_record_of_which_a_part_has_come_waits_for_the_rest(void **state)
{
    struct tls_link link;
    int between[2];
    char record[128];
    ssize_t len;

    tls_link_connect(&link, *state);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, between), 0);
    assert_int_equal(SSL_set_fd(link.client, between[0]), 1);
    tls_link_say(&link, "hello", 5);
    len = read(between[1], record, sizeof record);
    for (ssize_t i = 0; i < len; i++) {
        expect_result(&link, TRANSFER_NONE, true);
        assert_int_equal(write(link.peer, record + i, 1), 1);
    }
    expect_bytes(&link, LONG, "hello", true);
    (void)close(between[0]);
    (void)close(between[1]);
    tls_link_close(&link);
}

// The event for the part is the one for the end, too, where both have come before it: there will be
// no other.
static void an_end_behind_a_part_of_a_record_is_found_at_once(void **state)
{
    struct tls_link link;

    tls_link_connect(&link, *state);
    assert_int_equal(write(link.peer, "\x17\x03\x03", 3), 3);
    assert_int_equal(shutdown(link.peer, SHUT_WR), 0);
    expect_lost(&link, ECONNRESET);
    tls_link_close(&link);
}

static void input_with_the_end_of_the_handshake_is_received(void **state)
{
    struct tls_link link;

    tls_link_open(&link, *state);
    while (SSL_do_handshake(link.client) != 1) {
        (void)transport_tls.handshake(link.fd, &link.own, &link.why);
    }
    tls_link_say(&link, "put", 3);
    assert_int_equal(transport_tls.handshake(link.fd, &link.own, &link.why), HANDSHAKE_DONE);
    expect_bytes(&link, LONG, "put", true);
    tls_link_close(&link);
}

// The number of records is so large that one call could take long.
static void small_records_are_received_by_several_calls(void **state)
{
    struct tls_link link;
    char heard[LONG];
    size_t all = 0;
    unsigned calls = 0;
    struct received received;

    tls_link_connect(&link, *state);
    for (int i = 0; i < SMALL_RECORDS; i++) {
        tls_link_say(&link, "x", 1);
    }
    do {
        received = tls_link_receive(&link, heard, sizeof heard);
        assert_int_equal(received.result, TRANSFER_BYTES);
        assert_true(received.len <= 128);
        all += received.len;
        calls++;
    } while (!received.drained);
    assert_int_equal(all, SMALL_RECORDS);
    assert_int_equal(calls, 2);
    tls_link_close(&link);
}

static void input_of_several_reads_is_not_forgotten(void **state)
{
    struct tls_link link;
    static char block[RECORD_MAX];
    char heard[LONG];
    struct received received;
    size_t all = 0;

    tls_link_connect(&link, *state);
    for (int i = 0; i < 3; i++) {
        tls_link_say(&link, block, sizeof block);
    }
    do {
        received = tls_link_receive(&link, heard, sizeof heard);
        all += received.len;
    } while (!received.drained);
    assert_int_equal(all, 3 * RECORD_MAX);
    tls_link_close(&link);
}

static void one_call_takes_little_more_than_it_was_asked_for(void **state)
{
    struct tls_link link;
    static char block[RECORD_MAX];
    char heard[LONG];
    int left;

    tls_link_connect(&link, *state);
    for (int i = 0; i < 6; i++) {
        tls_link_say(&link, block, sizeof block);
    }
    assert_int_equal(tls_link_receive(&link, heard, 4096).len, 4096);
    left = (int)recv(link.fd, heard, sizeof heard, MSG_PEEK);
    assert_true(left >= 3 * RECORD_MAX);
    tls_link_close(&link);
}

static void close_notify_is_the_end_and_answers_can_still_be_sent(void **state)
{
    struct tls_link link;

    tls_link_connect(&link, *state);
    tls_link_say(&link, "last", 4);
    assert_int_equal(SSL_shutdown(link.client), 0);
    expect_bytes(&link, LONG, "last", false);
    expect_result(&link, TRANSFER_END, true);
    expect_result(&link, TRANSFER_END, true);
    assert_int_equal(tls_link_send(&link, "answer", 6).len, 6);
    tls_link_hear(&link, "answer");
    assert_true(transport_tls.shut(link.fd, &link.own));
    assert_int_equal(SSL_shutdown(link.client), 1);
    tls_link_close(&link);
}

static void an_end_without_close_notify_is_a_loss(void **state)
{
    struct tls_link link;

    tls_link_connect(&link, *state);
    tls_link_say(&link, "last", 4);
    assert_int_equal(shutdown(link.peer, SHUT_WR), 0);
    expect_bytes(&link, LONG, "last", true);
    expect_lost(&link, ECONNRESET);
    tls_link_close(&link);
}

// It is not found before what came in front of it has been handed on, and can be answered.
static void input_before_an_end_without_close_notify_can_be_answered(void **state)
{
    static char bytes[2 * RECORD_MAX];

    for (size_t len = RECORD_MAX; len < RECORD_MAX + 500; len += 7) {
        struct tls_link link;
        struct received received;
        struct sent sent;

        tls_link_connect(&link, *state);
        tls_link_say(&link, bytes, len);
        assert_int_equal(shutdown(link.peer, SHUT_WR), 0);
        received = tls_link_receive(&link, bytes, sizeof bytes);
        assert_int_equal(received.result, TRANSFER_BYTES);
        assert_int_equal(received.len, len);
        sent = tls_link_send(&link, "answer", 6);
        assert_int_equal(sent.result, TRANSFER_BYTES);
        tls_link_hear(&link, "answer");
        expect_lost(&link, ECONNRESET);
        tls_link_close(&link);
    }
}

static void a_damaged_record_is_a_loss_with_an_alert(void **state)
{
    static const char damaged[] = "\x17\x03\x03\x00\x15.....................";
    struct tls_link link;
    char heard[16];

    tls_link_connect(&link, *state);
    assert_int_equal(write(link.peer, damaged, sizeof damaged - 1), sizeof damaged - 1);
    expect_lost(&link, EPROTO);
    ERR_clear_error();
    assert_true(SSL_read(link.client, heard, sizeof heard) <= 0);
    assert_int_equal(tls_link_client_reason(), SSL_R_SSLV3_ALERT_BAD_RECORD_MAC);
    tls_link_close(&link);
}

static void plain_text_behind_the_handshake_is_a_loss(void **state)
{
    struct tls_link link;

    tls_link_connect(&link, *state);
    assert_int_equal(write(link.peer, "stats\r\n", 7), 7);
    expect_lost(&link, EPROTO);
    tls_link_close(&link);
}

static void use_tls_1_2(struct tls_bed *bed)
{
    (void)SSL_CTX_set_max_proto_version(bed->client_context, TLS1_2_VERSION);
}

static void another_handshake_is_refused(void **state)
{
    struct tls_link link;

    use_tls_1_2(*state);
    tls_link_connect(&link, *state);
    assert_int_equal(SSL_renegotiate(link.client), 1);
    (void)SSL_do_handshake(link.client);
    expect_lost(&link, EPROTO);
    tls_link_close(&link);
}

static void update_key(const struct tls_link *link, int kind)
{
    assert_int_equal(SSL_key_update(link->client, kind), 1);
    assert_int_equal(SSL_do_handshake(link->client), 1);
}

static void keys_are_updated_in_both_directions(void **state)
{
    struct tls_link link;

    tls_link_connect(&link, *state);
    update_key(&link, SSL_KEY_UPDATE_REQUESTED);
    tls_link_say(&link, "behind", 6);
    expect_bytes(&link, LONG, "behind", true);
    assert_int_equal(tls_link_send(&link, "answer", 6).len, 6);
    tls_link_hear(&link, "answer");
    tls_link_close(&link);
}

// Sends `times` requests for new keys to one call, which has this result.
static void ask_for_keys(struct tls_bed *bed, int times, enum transfer result)
{
    struct tls_link link;
    char heard[64];

    tls_link_connect(&link, bed);
    for (int i = 0; i < times; i++) {
        update_key(&link, SSL_KEY_UPDATE_NOT_REQUESTED);
    }
    tls_link_say(&link, "behind", 6);
    assert_int_equal(tls_link_receive(&link, heard, sizeof heard).result, result);
    if (result == TRANSFER_FAILED) {
        expect_lost(&link, EPROTO);
    }
    tls_link_close(&link);
}

static void a_flood_of_new_keys_is_a_loss(void **state)
{
    ask_for_keys(*state, 16, TRANSFER_BYTES);
    ask_for_keys(*state, 17, TRANSFER_FAILED);
}

static void input_after_a_flood_of_new_keys_is_not_read(void **state)
{
    struct tls_link link;
    char heard[64];
    static const char damaged[] = "\x17\x03\x03\x00\x15.....................";

    tls_link_connect(&link, *state);
    for (int i = 0; i < 17; i++) {
        update_key(&link, SSL_KEY_UPDATE_NOT_REQUESTED);
    }
    // One more record may have been decrypted.
    tls_link_say(&link, "behind", 6);
    assert_int_equal(write(link.peer, damaged, sizeof damaged - 1), sizeof damaged - 1);
    assert_int_equal(tls_link_receive(&link, heard, sizeof heard).result, TRANSFER_FAILED);
    // No alert was sent for the damaged record.
    assert_int_equal(SSL_read(link.client, heard, sizeof heard), -1);
    assert_int_equal(SSL_get_error(link.client, -1), SSL_ERROR_WANT_READ);
    // Nor is its end a clean one.
    transport_tls.close(link.fd, &link.own);
    link.fd = -1;
    ERR_clear_error();
    assert_true(SSL_read(link.client, heard, sizeof heard) <= 0);
    assert_int_equal(tls_link_client_reason(), SSL_R_UNEXPECTED_EOF_WHILE_READING);
    tls_link_close(&link);
}

// The answers to requests for new keys find no room.
static void receiving_waits_for_room_where_it_has_to_answer(void **state)
{
    struct tls_link link;
    char filler[512] = "";
    char heard[64];
    struct received received;

    tls_link_connect(&link, *state);
    while (write(link.fd, filler, sizeof filler) > 0) {
    }
    update_key(&link, SSL_KEY_UPDATE_REQUESTED);
    update_key(&link, SSL_KEY_UPDATE_REQUESTED);
    tls_link_say(&link, "behind", 6);
    for (int i = 0; i < 2; i++) {
        received = tls_link_receive(&link, heard, sizeof heard);
        assert_int_equal(received.result, TRANSFER_NONE);
        assert_true(received.needs_room);
        assert_true(received.drained);
    }
    while (read(link.peer, filler, sizeof filler) == sizeof filler) {
    }
    expect_bytes(&link, LONG, "behind", true);
    tls_link_close(&link);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, tls_bed_setup, tls_bed_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_bytes_of_one_read_are_received_by_one_call),
        TEST(a_connection_that_keeps_bytes_is_not_drained),
        TEST(parts_are_filled_in_order),
        TEST(a_record_of_which_a_part_has_come_waits_for_the_rest),
        TEST(an_end_behind_a_part_of_a_record_is_found_at_once),
        TEST(input_with_the_end_of_the_handshake_is_received),
        TEST(small_records_are_received_by_several_calls),
        TEST(input_of_several_reads_is_not_forgotten),
        TEST(one_call_takes_little_more_than_it_was_asked_for),
        TEST(close_notify_is_the_end_and_answers_can_still_be_sent),
        TEST(an_end_without_close_notify_is_a_loss),
        TEST(input_before_an_end_without_close_notify_can_be_answered),
        TEST(a_damaged_record_is_a_loss_with_an_alert),
        TEST(plain_text_behind_the_handshake_is_a_loss),
        TEST(another_handshake_is_refused),
        TEST(keys_are_updated_in_both_directions),
        TEST(a_flood_of_new_keys_is_a_loss),
        TEST(input_after_a_flood_of_new_keys_is_not_read),
        TEST(receiving_waits_for_room_where_it_has_to_answer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
