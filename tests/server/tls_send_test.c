/* SPDX-License-Identifier: MIT */
// Sending on a connection with TLS: the records, and peers that do not read.
#include "server/transport/tls_private.h"
#include "tests/support/with_cmocka.h"
#include "tests/server/tls_bed.h"

#include <errno.h>
#include <openssl/err.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { RECORD_MAX = 16384, LONG = 200 * 1024, PARTS = 128 };

// How many records of data the client has received.
static unsigned records;

static void count_records(int writing, int version, int type, const void *bytes, size_t len,
                          SSL *ssl, void *context)
{
    (void)version;
    (void)len;
    (void)ssl;
    (void)context;
    if (!writing && type == SSL3_RT_HEADER &&
        *(const unsigned char *)bytes == SSL3_RT_APPLICATION_DATA) {
        records++;
    }
}

static void connect_counting(struct tls_link *link, struct tls_bed *bed)
{
    // OpenSSL 3.5 gives a callback that is set later to the records behind the next keys only.
    SSL_CTX_set_msg_callback(bed->client_context, count_records);
    tls_link_connect(link, bed);
    records = 0;
}

// The client receives `len` bytes, or as many as have come; returns how many.
static size_t hear_all(const struct tls_link *link, char *bytes, size_t len)
{
    size_t all = 0;

    while (all < len) {
        int got = SSL_read(link->client, bytes + all, (int)(len - all));

        if (got <= 0) {
            assert_int_equal(SSL_get_error(link->client, got), SSL_ERROR_WANT_READ);
            break;
        }
        all += (size_t)got;
    }
    return all;
}

static char *make_bytes(size_t len)
{
    char *bytes = malloc(len);

    assert_non_null(bytes);
    for (size_t i = 0; i < len; i++) {
        bytes[i] = (char)(i * 7 + i / 251);
    }
    return bytes;
}

static void small_answers_are_one_record(void **state)
{
    struct tls_link link;
    struct iovec parts[PARTS];
    struct sent sent;
    char heard[PARTS * 10];

    connect_counting(&link, *state);
    for (int i = 0; i < PARTS; i++) {
        parts[i] = (struct iovec){.iov_base = "INSERTED\r\n", .iov_len = 10};
    }
    sent = transport_tls.send(link.fd, &link.own, parts, PARTS, sizeof heard);
    assert_int_equal(sent.result, TRANSFER_BYTES);
    assert_int_equal(sent.len, sizeof heard);
    assert_int_equal(hear_all(&link, heard, sizeof heard), sizeof heard);
    assert_memory_equal(heard + 10, "INSERTED\r\n", 10);
    assert_int_equal(records, 1);
    tls_link_close(&link);
}

// A message is its first byte's digit long, all in all; nothing is known before two bytes are seen.
static size_t digits_len(struct slice start)
{
    return start.len < 2 ? 0 : (size_t)(*start.ptr - '0');
}

static void connect_by_message(struct tls_link *link, struct tls_bed *bed)
{
    bed->service.message_len = digits_len;
    connect_counting(link, bed);
}

static void a_message_that_begins_a_record_has_it_to_itself(void **state)
{
    struct tls_link link;
    const struct iovec parts[] = {{"3ab5", 4}, {"c", 1}, {"", 0}, {"def2g", 5}, {"4hij", 4}};
    char heard[15];

    connect_by_message(&link, *state);
    assert_int_equal(transport_tls.send(link.fd, &link.own, parts, 5, 14).len, 14);
    assert_int_equal(hear_all(&link, heard, 15), 14);
    assert_memory_equal(heard, "3ab5cdef2g4hij", 14);
    assert_int_equal(records, 4);
    tls_link_close(&link);
}

static void messages_have_records_of_their_own_wherever_they_are_cut(void **state)
{
    static const char all[] = "3ab5cdef2g4hij9klmnopqr";
    enum { LEN = sizeof all - 1, MESSAGES = 5 };

    for (size_t cut = 1; cut < LEN; cut++) {
        bool between = cut == 3 || cut == 8 || cut == 10 || cut == 14;
        struct tls_link link;
        char heard[LEN + 1];

        connect_by_message(&link, *state);
        assert_int_equal(tls_link_send(&link, all, cut).len, cut);
        assert_int_equal(tls_link_send(&link, all + cut, LEN - cut).len, LEN - cut);
        assert_int_equal(hear_all(&link, heard, sizeof heard), LEN);
        assert_memory_equal(heard, all, LEN);
        assert_int_equal(records, MESSAGES + !between);
        tls_link_close(&link);
    }
}

static void much_is_sent_in_full_records(void **state)
{
    struct tls_link link;
    char *bytes = make_bytes(3 * RECORD_MAX);
    char *heard = malloc(3 * RECORD_MAX);
    const struct iovec parts[] = {{bytes, 10}, {bytes + 10, 2 * RECORD_MAX}, {bytes, 5}};

    connect_counting(&link, *state);
    assert_int_equal(transport_tls.send(link.fd, &link.own, parts, 3, 2 * RECORD_MAX + 15).len,
                     2 * RECORD_MAX + 15);
    assert_int_equal(hear_all(&link, heard, 2 * RECORD_MAX + 15), 2 * RECORD_MAX + 15);
    assert_memory_equal(heard, bytes, 2 * RECORD_MAX + 10);
    assert_memory_equal(heard + 2 * RECORD_MAX + 10, bytes, 5);
    assert_int_equal(records, 3);
    tls_link_close(&link);
    free(heard);
    free(bytes);
}

// The parts may be other ones each time, but never fewer bytes.
static struct sent send_from(struct tls_link *link, char *bytes, size_t len)
{
    struct iovec parts[3];
    size_t first = len / 3;
    size_t second = len - first > 100 ? 100 : len - first;
    unsigned count = 0;

    if (first > 0) {
        parts[count++] = (struct iovec){bytes, first};
    }
    if (second > 0) {
        parts[count++] = (struct iovec){bytes + first, second};
    }
    if (len > first + second) {
        parts[count++] = (struct iovec){bytes + first + second, len - first - second};
    }
    return transport_tls.send(link->fd, &link->own, parts, count, len);
}

static void a_peer_that_reads_slowly_gets_every_byte_in_order(void **state)
{
    struct tls_link link;
    char *bytes = make_bytes(LONG);
    char *heard = malloc(LONG);
    size_t sent_len = 0;
    size_t heard_len = 0;
    unsigned times_full = 0;
    int little = 4096;

    tls_link_connect(&link, *state);
    assert_int_equal(setsockopt(link.fd, SOL_SOCKET, SO_SNDBUF, &little, sizeof little), 0);
    while (sent_len < LONG) {
        struct sent sent = send_from(&link, bytes + sent_len, LONG - sent_len);

        assert_int_not_equal(sent.result, TRANSFER_FAILED);
        assert_int_equal(sent.result == TRANSFER_BYTES, sent.len > 0);
        assert_false(sent.needs_input);
        assert_true(sent.full || sent.len == LONG - sent_len);
        sent_len += sent.len;
        times_full += sent.full;
        heard_len += hear_all(&link, heard + heard_len, 3000);
    }
    assert_true(times_full > 10);
    // The bytes reported as sent have left.
    heard_len += hear_all(&link, heard + heard_len, LONG - heard_len);
    assert_int_equal(heard_len, LONG);
    assert_memory_equal(heard, bytes, LONG);
    tls_link_close(&link);
    free(heard);
    free(bytes);
}

// Fills the socket with bytes outside TLS, which the peer removes before it continues.
static size_t stuff(const struct tls_link *link)
{
    char filler[512] = "";
    size_t all = 0;
    ssize_t some;

    while ((some = write(link->fd, filler, sizeof filler)) > 0) {
        all += (size_t)some;
    }
    return all;
}

static void unstuff(const struct tls_link *link, size_t left)
{
    char filler[512];

    while (left > 0) {
        ssize_t some = read(link->peer, filler, left < sizeof filler ? left : sizeof filler);

        assert_true(some > 0);
        left -= (size_t)some;
    }
}

static void waiting_output_may_grow(void **state)
{
    struct tls_link link;
    size_t stuffed;
    char heard[16];

    tls_link_connect(&link, *state);
    stuffed = stuff(&link);
    for (size_t len = 3; len < 6; len++) {
        struct sent sent = tls_link_send(&link, "abcdefgh", len);

        assert_int_equal(sent.result, TRANSFER_NONE);
        assert_true(sent.full);
    }
    unstuff(&link, stuffed);
    assert_int_equal(tls_link_send(&link, "abcdefgh", 8).len, 8);
    assert_int_equal(tls_link_send(&link, "ij", 2).len, 2);
    assert_int_equal(hear_all(&link, heard, 10), 10);
    assert_memory_equal(heard, "abcdefghij", 10);
    tls_link_close(&link);
}

static void fill_socket(struct tls_link *link)
{
    static char block[RECORD_MAX];
    int little = 4096;

    assert_int_equal(setsockopt(link->fd, SOL_SOCKET, SO_SNDBUF, &little, sizeof little), 0);
    while (!tls_link_send(link, block, sizeof block).full) {
    }
}

static void a_full_socket_does_not_stop_receiving(void **state)
{
    struct tls_link link;
    char heard[16];

    tls_link_connect(&link, *state);
    fill_socket(&link);
    tls_link_say(&link, "more", 4);
    assert_int_equal(tls_link_receive(&link, heard, sizeof heard).len, 4);
    // Nor does a request for new keys, which is answered behind the record that is on its way.
    assert_int_equal(SSL_key_update(link.client, SSL_KEY_UPDATE_REQUESTED), 1);
    assert_int_equal(SSL_do_handshake(link.client), 1);
    tls_link_say(&link, "again", 5);
    assert_int_equal(tls_link_receive(&link, heard, sizeof heard).len, 5);
    tls_link_close(&link);
}

static void new_keys_are_answered_behind_a_record_that_is_on_its_way(void **state)
{
    struct tls_link link;
    char *bytes = make_bytes(2 * RECORD_MAX);
    char *heard = malloc(LONG);
    char none[8];
    struct sent sent;
    size_t sent_len = 0;
    size_t heard_len = 0;
    int little = 4096;

    tls_link_connect(&link, *state);
    assert_int_equal(setsockopt(link.fd, SOL_SOCKET, SO_SNDBUF, &little, sizeof little), 0);
    do {
        sent = tls_link_send(&link, bytes, RECORD_MAX);
        sent_len += sent.len;
    } while (!sent.full);
    assert_int_equal(SSL_key_update(link.client, SSL_KEY_UPDATE_REQUESTED), 1);
    assert_int_equal(SSL_do_handshake(link.client), 1);
    assert_int_equal(tls_link_receive(&link, none, sizeof none).result, TRANSFER_NONE);
    for (int i = 0; i < 3;) {
        heard_len += hear_all(&link, heard, LONG);
        sent = tls_link_send(&link, bytes, RECORD_MAX);
        sent_len += sent.len;
        i += sent.result == TRANSFER_BYTES;
    }
    heard_len += hear_all(&link, heard, LONG);
    assert_int_equal(heard_len, sent_len);
    tls_link_close(&link);
    free(heard);
    free(bytes);
}

static void close_notify_is_sent_when_there_is_room(void **state)
{
    struct tls_link link;
    char *heard = malloc(4 * LONG);
    char filler[512] = "";
    int little = 4096;

    tls_link_connect(&link, *state);
    assert_int_equal(setsockopt(link.fd, SOL_SOCKET, SO_SNDBUF, &little, sizeof little), 0);
    // Whole records only: nothing waits but the end.
    while (write(link.fd, filler, sizeof filler) > 0) {
    }
    assert_false(transport_tls.shut(link.fd, &link.own));
    assert_false(transport_tls.shut(link.fd, &link.own));
    while (read(link.peer, heard, 4 * LONG) > 0) {
    }
    assert_true(transport_tls.shut(link.fd, &link.own));
    assert_true(transport_tls.shut(link.fd, &link.own));
    ERR_clear_error();
    assert_int_equal(SSL_read(link.client, heard, 16), 0);
    assert_int_equal(SSL_get_error(link.client, 0), SSL_ERROR_ZERO_RETURN);
    // And behind it the end of the stream.
    assert_int_equal(read(link.peer, heard, 16), 0);
    tls_link_close(&link);
    free(heard);
}

static void a_closed_connection_sends_close_notify(void **state)
{
    struct tls_link link;
    char heard[16];

    tls_link_connect(&link, *state);
    assert_int_equal(tls_link_send(&link, "bye", 3).len, 3);
    transport_tls.close(link.fd, &link.own);
    link.fd = -1;
    tls_link_hear(&link, "bye");
    assert_int_equal(SSL_read(link.client, heard, sizeof heard), 0);
    assert_int_equal(SSL_get_error(link.client, 0), SSL_ERROR_ZERO_RETURN);
    tls_link_close(&link);
}

// The peer must be able to tell that the output was cut.
static void a_record_that_was_cut_is_not_a_clean_end(void **state)
{
    struct tls_link link;
    char *heard = malloc(LONG);
    int got;

    tls_link_connect(&link, *state);
    fill_socket(&link);
    transport_tls.close(link.fd, &link.own);
    link.fd = -1;
    ERR_clear_error();
    while ((got = SSL_read(link.client, heard, LONG)) > 0) {
    }
    assert_int_equal(SSL_get_error(link.client, got), SSL_ERROR_SSL);
    assert_int_equal(tls_link_client_reason(), SSL_R_UNEXPECTED_EOF_WHILE_READING);
    tls_link_close(&link);
    free(heard);
}

static void a_peer_that_has_gone_is_a_loss(void **state)
{
    struct tls_link link;
    struct sent sent;

    tls_link_connect(&link, *state);
    (void)close(link.peer);
    link.peer = -1;
    sent = tls_link_send(&link, "x", 1);
    assert_int_equal(sent.result, TRANSFER_FAILED);
    assert_int_equal(sent.error, EPIPE);
    assert_int_equal(tls_link_send(&link, "x", 1).result, TRANSFER_FAILED);
    tls_link_close(&link);
}

static void a_peer_that_has_gone_is_a_loss_for_several_records_too(void **state)
{
    static char block[2 * RECORD_MAX];
    struct tls_link link;
    struct sent sent;

    tls_link_connect(&link, *state);
    (void)close(link.peer);
    link.peer = -1;
    sent = tls_link_send(&link, block, sizeof block);
    assert_int_equal(sent.result, TRANSFER_FAILED);
    assert_int_equal(sent.error, EPIPE);
    tls_link_close(&link);
}

// Sets the flag that OpenSSL sets on the socket's BIO when the kernel encrypts from then on. Here
// the kernel does not encrypt.
static void pretend_that_the_kernel_encrypts(const struct tls_link *link)
{
    BIO_set_flags(SSL_get_wbio(tls_conn_of(&link->own)->ssl), 0x4000);
}

static void where_the_kernel_encrypts_it_is_handed_the_bytes(void **state)
{
    struct tls_link link;
    const struct iovec parts[] = {{"INSERTED ", 9}, {"1\r\n", 3}};
    struct sent sent;
    char wire[64];

    tls_link_connect(&link, *state);
    pretend_that_the_kernel_encrypts(&link);
    sent = transport_tls.send(link.fd, &link.own, parts, 2, 12);
    assert_int_equal(sent.result, TRANSFER_BYTES);
    assert_int_equal(sent.len, 12);
    assert_int_equal(read(link.peer, wire, sizeof wire), 12);
    assert_memory_equal(wire, "INSERTED 1\r\n", 12);
    tls_link_close(&link);
}

// OpenSSL would change its keys, and not those of the kernel.
static void the_kernels_keys_are_not_changed(void **state)
{
    static const int kinds[] = {SSL_KEY_UPDATE_NOT_REQUESTED, SSL_KEY_UPDATE_REQUESTED};
    static const enum transfer results[] = {TRANSFER_BYTES, TRANSFER_FAILED};

    for (int i = 0; i < 2; i++) {
        struct tls_link link;
        char heard[16];

        tls_link_connect(&link, *state);
        pretend_that_the_kernel_encrypts(&link);
        assert_int_equal(SSL_key_update(link.client, kinds[i]), 1);
        assert_int_equal(SSL_do_handshake(link.client), 1);
        tls_link_say(&link, "behind", 6);
        assert_int_equal(tls_link_receive(&link, heard, sizeof heard).result, results[i]);
        tls_link_close(&link);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, tls_bed_setup, tls_bed_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(small_answers_are_one_record),
        TEST(a_message_that_begins_a_record_has_it_to_itself),
        TEST(messages_have_records_of_their_own_wherever_they_are_cut),
        TEST(much_is_sent_in_full_records),
        TEST(a_peer_that_reads_slowly_gets_every_byte_in_order),
        TEST(waiting_output_may_grow),
        TEST(a_full_socket_does_not_stop_receiving),
        TEST(new_keys_are_answered_behind_a_record_that_is_on_its_way),
        TEST(close_notify_is_sent_when_there_is_room),
        TEST(a_closed_connection_sends_close_notify),
        TEST(a_record_that_was_cut_is_not_a_clean_end),
        TEST(a_peer_that_has_gone_is_a_loss),
        TEST(a_peer_that_has_gone_is_a_loss_for_several_records_too),
        TEST(where_the_kernel_encrypts_it_is_handed_the_bytes),
        TEST(the_kernels_keys_are_not_changed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
