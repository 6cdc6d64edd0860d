/* SPDX-License-Identifier: MIT */
// How a connection with TLS begins.
#include "tests/support/with_cmocka.h"
#include "tests/server/tls_bed.h"

#include <openssl/err.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void set_text(char **setting, const char *text)
{
    free(*setting);
    *setting = strdup(text);
}

static void an_older_version_than_the_least_is_refused(void **state)
{
    struct tls_bed *bed = *state;
    struct tls_link link;

    (void)SSL_CTX_set_max_proto_version(bed->client_context, TLS1_2_VERSION);
    tls_link_connect(&link, bed);
    assert_string_equal(transport_tls.protection(&link.own), "TLSv1.2");
    tls_link_close(&link);
    bed->settings.min_version = TLS_MIN_VERSION_1_3;
    tls_bed_reload(bed);
    tls_bed_expect_refused(bed, "unsupported protocol");
    bed->settings.min_version = TLS_MIN_VERSION_1_2;
    tls_bed_reload(bed);
    SSL_CTX_set_security_level(bed->client_context, 0);
    (void)SSL_CTX_set_min_proto_version(bed->client_context, TLS1_VERSION);
    (void)SSL_CTX_set_max_proto_version(bed->client_context, TLS1_1_VERSION);
    tls_bed_forget_session(bed);
    tls_bed_expect_refused(bed, "unsupported protocol");
}

static void the_ciphers_of_tls_1_2_can_be_set(void **state)
{
    struct tls_bed *bed = *state;
    struct tls_link link;

    set_text(&bed->settings.ciphers, "ECDHE-ECDSA-AES256-GCM-SHA384");
    tls_bed_reload(bed);
    (void)SSL_CTX_set_max_proto_version(bed->client_context, TLS1_2_VERSION);
    tls_link_connect(&link, bed);
    assert_string_equal(SSL_get_cipher_name(link.client), "ECDHE-ECDSA-AES256-GCM-SHA384");
    tls_link_close(&link);
    assert_int_equal(SSL_CTX_set_cipher_list(bed->client_context, "ECDHE-ECDSA-AES128-GCM-SHA256"),
                     1);
    tls_bed_forget_session(bed);
    tls_bed_expect_refused(bed, "no shared cipher");
}

static void offer(struct tls_bed *bed, const char *protocols)
{
    assert_int_equal(SSL_CTX_set_alpn_protos(bed->client_context, (const unsigned char *)protocols,
                                             (unsigned)strlen(protocols)),
                     0);
}

static void expect_protocol(struct tls_bed *bed, const char *name)
{
    struct tls_link link;
    const unsigned char *chosen;
    unsigned len;

    tls_link_connect(&link, bed);
    SSL_get0_alpn_selected(link.client, &chosen, &len);
    assert_int_equal(len, strlen(name));
    assert_memory_equal(chosen ? (const char *)chosen : "", name, len);
    tls_link_close(&link);
}

static void the_best_of_the_service_s_protocols_that_is_offered_is_chosen(void **state)
{
    struct tls_bed *bed = *state;

    bed->service.alpn = "\x08http/1.1\x08http/1.0";
    expect_protocol(bed, "");
    offer(bed, "\x02h2\x08http/1.0\x08http/1.1");
    expect_protocol(bed, "http/1.1");
    offer(bed, "\x08http/1.0");
    expect_protocol(bed, "http/1.0");
    bed->service.alpn = NULL;
    expect_protocol(bed, "");
}

static void a_client_that_offers_only_other_protocols_is_refused(void **state)
{
    struct tls_bed *bed = *state;
    struct tls_link link;

    bed->service.alpn = "\x08http/1.1\x08http/1.0";
    offer(bed, "\x02h2\x07http/1.");
    tls_link_open(&link, bed);
    tls_link_shake(&link);
    assert_int_equal(link.handshake, HANDSHAKE_FAILED);
    assert_string_equal(link.why.text, "no application protocol");
    assert_int_equal(tls_link_client_reason(), SSL_R_TLSV1_ALERT_NO_APPLICATION_PROTOCOL);
    tls_link_close(&link);
}

static void step(struct tls_link *link)
{
    link->handshake = transport_tls.handshake(link->fd, &link->own, &link->why);
}

// The peer's bytes come at once, and one by one; they end the handshake for this reason.
static void expect_no_hello(struct tls_bed *bed, const char *bytes, size_t len, const char *why)
{
    struct tls_link link;

    tls_link_open_raw(&link, bed);
    assert_int_equal(write(link.peer, bytes, len), len);
    step(&link);
    assert_int_equal(link.handshake, HANDSHAKE_FAILED);
    assert_string_equal(link.why.text, why);
    tls_link_close(&link);
    tls_link_open_raw(&link, bed);
    for (size_t i = 0; i < len && link.handshake == HANDSHAKE_NEEDS_INPUT; i++) {
        assert_int_equal(write(link.peer, bytes + i, 1), 1);
        step(&link);
    }
    assert_int_equal(link.handshake, HANDSHAKE_FAILED);
    assert_string_equal(link.why.text, why);
    tls_link_close(&link);
}

static void plain_text_ends_the_handshake_at_once(void **state)
{
    static const char *const texts[] = {"put 0 0 60 5\r\nhello\r\n", "quit\r\n",
                                        "GET / HTTP/1.1\r\n\r\n", "\r\n", "s"};

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        expect_no_hello(*state, texts[i], strlen(texts[i]), "plain text on a TLS port");
    }
    expect_no_hello(*state, "\0REQ\0\0\0\x10\0\0\0\0", 12, "plain text on a TLS port");
}

static void bytes_that_are_not_a_hello_end_the_handshake_at_once(void **state)
{
    static const char *const others[] = {
        "\xff\xff",                             // no type of a record
        "\x80\x2e\x01\x03\x01",                 // a hello as of SSL 2
        "\x16\x02\x00\x01\x00\x01\x00\x00\xfc", // a version that never was
        "\x16\x03\x01\x00\x05\x02\x01\x00\xfc", // another message
        "\x16\x03\x01\x01\x05\x01\x01\x00\x00", // so long that no client sends it
    };
    static const size_t lens[] = {2, 5, 9, 9, 9};

    for (size_t i = 0; i < sizeof lens / sizeof *lens; i++) {
        expect_no_hello(*state, others[i], lens[i], "not a TLS hello");
    }
    // The length of the hello would be in the next record.
    expect_no_hello(*state, "\x16\x03\x01\x00\x03\x01\x00\x01\xfc", 9, "not a TLS hello");
    expect_no_hello(*state, "\0QEQ", 4, "not a TLS hello");
}

// Takes what the client sends from its end of the pair, and hands it on in pieces.
static void a_hello_may_come_byte_by_byte(void **state)
{
    struct tls_link link;
    int between[2];
    char bytes[4096];
    ssize_t len;

    tls_link_open(&link, *state);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, between), 0);
    assert_int_equal(SSL_set_fd(link.client, between[0]), 1);
    (void)SSL_do_handshake(link.client);
    len = read(between[1], bytes, sizeof bytes);
    assert_true(len > 0);
    for (ssize_t i = 0; i < len; i++) {
        assert_int_equal(link.handshake, HANDSHAKE_NEEDS_INPUT);
        assert_int_equal(write(link.peer, bytes + i, 1), 1);
        step(&link);
    }
    assert_int_equal(SSL_set_fd(link.client, link.peer), 1);
    tls_link_shake(&link);
    assert_int_equal(link.handshake, HANDSHAKE_DONE);
    (void)close(between[0]);
    (void)close(between[1]);
    tls_link_close(&link);
}

static void a_peer_that_leaves_half_way_fails_at_once(void **state)
{
    for (unsigned steps = 0; steps < 2; steps++) {
        struct tls_link link;

        tls_link_open(&link, *state);
        for (unsigned i = 0; i < steps; i++) {
            (void)SSL_do_handshake(link.client);
            step(&link);
            assert_int_equal(link.handshake, HANDSHAKE_NEEDS_INPUT);
        }
        (void)close(link.peer);
        link.peer = -1;
        step(&link);
        assert_int_equal(link.handshake, HANDSHAKE_FAILED);
        // Without a word from it there is nothing that would have failed.
        assert_true(strcmp(link.why.text, steps == 0 ? "" : "closed by the peer") == 0 ||
                    (steps > 0 && strcmp(link.why.text, "Connection reset by peer") == 0));
        tls_link_close(&link);
    }
}

static void a_peer_that_refuses_us_is_heard(void **state)
{
    struct tls_bed *bed = *state;
    struct tls_link link;

    SSL_CTX_set_cert_store(bed->client_context, X509_STORE_new());
    tls_link_open(&link, bed);
    tls_link_shake(&link);
    assert_int_equal(link.handshake, HANDSHAKE_FAILED);
    assert_string_equal(link.why.text, "tlsv1 alert unknown ca");
    tls_link_close(&link);
}

// A hello of TLS 1.3 for which another is asked for, since it has no share of a key.
static const char hello_without_share[] =
    "\x16\x03\x01\x00\x4c\x01\x00\x00\x48\x03\x03\x00\x01\x02\x03"
    "\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10\x11\x12"
    "\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f\x00\x00"
    "\x02\x13\x01\x01\x00\x00\x1d\x00\x2b\x00\x03\x02\x03\x04\x00"
    "\x0a\x00\x04\x00\x02\x00\x17\x00\x0d\x00\x04\x00\x02\x04\x03"
    "\x00\x33\x00\x02\x00\x00";

// The next one is said to have 124 KiB, and comes in full records.
static void a_handshake_that_is_too_long_is_given_up(void **state)
{
    static char record[16384 + 5] = "\x16\x03\x03\x40\x00\x01\x01\xf0\x00\x03\x03";
    struct tls_link link;
    int sent = 0;

    tls_link_open_raw(&link, *state);
    assert_int_equal(write(link.peer, hello_without_share, sizeof hello_without_share - 1),
                     sizeof hello_without_share - 1);
    step(&link);
    while (link.handshake == HANDSHAKE_NEEDS_INPUT && sent++ < 7) {
        assert_int_equal(write(link.peer, record, sizeof record), sizeof record);
        step(&link);
        memset(record + 5, 0, sizeof record - 5);
    }
    assert_int_equal(link.handshake, HANDSHAKE_FAILED);
    assert_string_equal(link.why.text, "the handshake is too long");
    assert_int_equal(sent, 4);
    tls_link_close(&link);
}

static void empty_records_are_not_received_for_ever(void **state)
{
    static const char part[] = "\x16\x03\x01\x00\x05\x01\x00\x3f\xf0\x03";
    static const char more[] = "\x16\x03\x01\x00\x00";
    struct tls_link link;
    int steps = 0;

    tls_link_open_raw(&link, *state);
    assert_int_equal(write(link.peer, part, sizeof part - 1), sizeof part - 1);
    while (link.handshake == HANDSHAKE_NEEDS_INPUT && steps++ < 1000) {
        assert_int_equal(write(link.peer, more, sizeof more - 1), sizeof more - 1);
        step(&link);
    }
    assert_int_equal(link.handshake, HANDSHAKE_FAILED);
    tls_link_close(&link);
}

static void a_handshake_waits_for_room_in_the_socket(void **state)
{
    struct tls_link link;
    char filler[4096] = "";
    char thrown[4096];
    ssize_t left = 0;
    ssize_t got;

    tls_link_open(&link, *state);
    while ((got = write(link.fd, filler, sizeof filler)) > 0) {
        left += got;
    }
    (void)SSL_do_handshake(link.client);
    // The client's first flight is written before it reads anything.
    step(&link);
    assert_int_equal(link.handshake, HANDSHAKE_NEEDS_ROOM);
    step(&link);
    assert_int_equal(link.handshake, HANDSHAKE_NEEDS_ROOM);
    transport_tls.close(link.fd, &link.own);
    link.fd = -1;
    while (left > 0 && (got = read(link.peer, thrown, sizeof thrown)) > 0) {
        left -= got;
    }
    tls_link_close(&link);
}

static void a_handshake_costs_a_bounded_number_of_steps(void **state)
{
    struct tls_link link;
    int steps = 0;

    tls_link_open(&link, *state);
    while (link.handshake == HANDSHAKE_NEEDS_INPUT) {
        (void)SSL_do_handshake(link.client);
        step(&link);
        steps++;
    }
    assert_int_equal(link.handshake, HANDSHAKE_DONE);
    assert_int_equal(steps, 2);
    tls_link_close(&link);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, tls_bed_setup, tls_bed_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_older_version_than_the_least_is_refused),
        TEST(the_ciphers_of_tls_1_2_can_be_set),
        TEST(the_best_of_the_service_s_protocols_that_is_offered_is_chosen),
        TEST(a_client_that_offers_only_other_protocols_is_refused),
        TEST(plain_text_ends_the_handshake_at_once),
        TEST(bytes_that_are_not_a_hello_end_the_handshake_at_once),
        TEST(a_hello_may_come_byte_by_byte),
        TEST(a_peer_that_leaves_half_way_fails_at_once),
        TEST(a_peer_that_refuses_us_is_heard),
        TEST(a_handshake_that_is_too_long_is_given_up),
        TEST(empty_records_are_not_received_for_ever),
        TEST(a_handshake_waits_for_room_in_the_socket),
        TEST(a_handshake_costs_a_bounded_number_of_steps),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
