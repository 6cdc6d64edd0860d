/* SPDX-License-Identifier: MIT */
// The head by which a proxy names its client: both versions, in any pieces, and hostile ones.
#include "server/transport/proxy_head.h"
#include "tests/support/with_cmocka.h"
#include "tests/support/chance.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#define SIGNATURE "\r\n\r\n\0\r\nQUIT\n"
#define ADDRESSES "\x0a\x01\x02\x03\x0a\0\0\1\x04\xd2\x2c\x24"

// What becomes of bytes that are fed in pieces.
struct outcome {
    enum proxy_head_step step;
    size_t taken;
    struct proxy_head head;
};

static void put_bytes(void *to, struct slice bytes)
{
    memcpy(to, bytes.ptr, bytes.len);
}

// Feeds the bytes in two pieces, from memory that ends with each piece, so that a byte too many is
// noticed.
static struct outcome feed_cut(struct slice bytes, size_t cut)
{
    struct outcome outcome = {.step = PROXY_HEAD_MORE};
    const struct slice pieces[] = {slice_of(bytes.ptr, cut), slice_from(bytes, cut)};

    for (unsigned i = 0; i < 2 && outcome.step == PROXY_HEAD_MORE; i++) {
        char *exact = test_malloc(pieces[i].len + 1);
        size_t taken;

        memcpy(exact + 1, pieces[i].ptr, pieces[i].len);
        outcome.step = proxy_head_feed(&outcome.head, slice_of(exact + 1, pieces[i].len), &taken);
        assert_true(taken <= pieces[i].len);
        // Only a whole or a bad head leaves something.
        assert_true(taken == pieces[i].len || outcome.step != PROXY_HEAD_MORE);
        outcome.taken += taken;
        test_free(exact);
    }
    return outcome;
}

static void is_client(const struct outcome *outcome, const char *address, unsigned port)
{
    char text[INET6_ADDRSTRLEN];

    assert_int_equal(outcome->head.says, PROXY_SAYS_CLIENT);
    assert_int_equal(outcome->head.client.known, address != NULL);
    if (address) {
        assert_non_null(inet_ntop(AF_INET6, &outcome->head.client.address, text, sizeof text));
        assert_string_equal(text, address);
        assert_int_equal(outcome->head.client.port, port);
    }
}

// The head, with other bytes behind it, has that meaning however it is cut. NULL: no address.
static void names(struct slice head, const char *address, unsigned port)
{
    char bytes[1000];

    assert_true(head.len + 4 <= sizeof bytes);
    memcpy(bytes, head.ptr, head.len);
    put_bytes(bytes + head.len, SLICE("next"));
    for (size_t cut = 0; cut <= head.len + 4; cut++) {
        struct outcome outcome = feed_cut(slice_of(bytes, head.len + 4), cut);

        assert_int_equal(outcome.step, PROXY_HEAD_DONE);
        assert_int_equal(outcome.taken, head.len);
        is_client(&outcome, address, port);
    }
    for (size_t len = 0; len < head.len; len++) {
        assert_int_equal(feed_cut(slice_of(bytes, len), len / 2).step, PROXY_HEAD_MORE);
    }
}

static void is_bad(struct slice head)
{
    struct outcome whole = feed_cut(head, 0);

    if (whole.step != PROXY_HEAD_BAD) {
        fail_msg("taken for a head: %.*s", (int)head.len, head.ptr);
    }
    for (size_t cut = 0; cut <= head.len; cut++) {
        struct outcome outcome = feed_cut(head, cut);

        assert_int_equal(outcome.step, PROXY_HEAD_BAD);
        assert_int_equal(outcome.taken, whole.taken);
    }
}

static void a_line_names_the_client(void **state)
{
    (void)state;
    names(SLICE("PROXY TCP4 10.1.2.3 10.0.0.1 1234 11300\r\n"), "::ffff:10.1.2.3", 1234);
    names(SLICE("PROXY TCP4 255.255.255.255 255.255.255.255 65535 65535\r\n"),
          "::ffff:255.255.255.255", 65535);
    names(SLICE("PROXY TCP6 2001:db8::7 ::1 0 1\r\n"), "2001:db8::7", 0);
    names(SLICE("PROXY TCP6 ffff:f:f:f:f:f:f:ffff ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff "
                "65535 65535\r\n"),
          "ffff:f:f:f:f:f:f:ffff", 65535);
}

static void a_line_may_leave_the_client_unknown(void **state)
{
    (void)state;
    names(SLICE("PROXY UNKNOWN\r\n"), NULL, 0);
    names(SLICE("PROXY UNKNOWN ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff "
                "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 65535 65535\r\n"),
          NULL, 0);
}

static void a_malformed_line_is_no_head(void **state)
{
    char line[PROXY_HEAD_LINE_MAX + 3] = "PROXY UNKNOWN ";

    (void)state;
    is_bad(SLICE("put 0 0 10 5\r\n"));
    is_bad(SLICE("GET / HTTP/1.1\r\n"));
    is_bad(SLICE("\x16\x03\x01"));
    is_bad(SLICE("\0REQ"));
    is_bad(SLICE("PROXY\r\n"));
    is_bad(SLICE("PROXY \r\n"));
    is_bad(SLICE("PROXY TCP5 1.2.3.4 1.2.3.4 1 1\r\n"));
    is_bad(SLICE("PROXY UDP4 1.2.3.4 1.2.3.4 1 1\r\n"));
    is_bad(SLICE("PROXY TCP4 1.2.3.4 1.2.3.4 1 1\n"));
    is_bad(SLICE("PROXY TCP4 1.2.3.4 1.2.3.4 1\r\n"));
    is_bad(SLICE("PROXY TCP4 1.2.3.4 1.2.3.4 1 1 \r\n"));
    is_bad(SLICE("PROXY TCP4 1.2.3.4 1.2.3.4 1 1 1\r\n"));
    is_bad(SLICE("PROXY TCP4  1.2.3.4 1.2.3.4 1 1\r\n"));
    is_bad(SLICE("PROXY TCP4 1.2.3.4 1.2.3.4 1 65536\r\n"));
    is_bad(SLICE("PROXY TCP4 1.2.3.4 1.2.3.4 -1 1\r\n"));
    is_bad(SLICE("PROXY TCP4 1.2.3.4 1.2.3.4 01 1\r\n"));
    is_bad(SLICE("PROXY TCP4 1.2.3.4 1.2.3.4 18446744073709551617 1\r\n"));
    is_bad(SLICE("PROXY TCP4 1.2.3 1.2.3.4 1 1\r\n"));
    is_bad(SLICE("PROXY TCP4 ::1 ::1 1 1\r\n"));
    is_bad(SLICE("PROXY TCP6 1.2.3.4 1.2.3.4 1 1\r\n"));
    is_bad(SLICE("PROXY TCP4 1.2.3.4\0 1.2.3.4 1 1\r\n"));
    is_bad(SLICE("PROXY TCP4 localhost 1.2.3.4 1 1\r\n"));
    // The longest line is allowed, and a longer one is not.
    memset(line + strlen(line), 'x', sizeof line - 1 - strlen(line));
    put_bytes(line + PROXY_HEAD_LINE_MAX - 2, SLICE("\r\n"));
    names(slice_of(line, PROXY_HEAD_LINE_MAX), NULL, 0);
    put_bytes(line + PROXY_HEAD_LINE_MAX - 2, SLICE("x\r\n"));
    is_bad(slice_of(line, PROXY_HEAD_LINE_MAX + 1));
}

static void a_binary_head_names_the_client(void **state)
{
    (void)state;
    names(SLICE(SIGNATURE "\x21\x11\0\x0c" ADDRESSES), "::ffff:10.1.2.3", 1234);
    names(SLICE(SIGNATURE "\x21\x21\0\x24"
                          "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\7"
                          "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\1"
                          "\xff\xff\x2c\x24"),
          "2001:db8::7", 65535);
    // Extensions, also malformed ones, are passed over.
    names(SLICE(SIGNATURE "\x21\x11\0\x13" ADDRESSES "\x04\0\4abcd"), "::ffff:10.1.2.3", 1234);
    names(SLICE(SIGNATURE "\x21\x11\0\x0f" ADDRESSES "\x04\xff\xff"), "::ffff:10.1.2.3", 1234);
}

static void a_binary_head_may_leave_the_client_unknown(void **state)
{
    char path[16 + 216 + 1];

    (void)state;
    names(SLICE(SIGNATURE "\x21\0\0\0"), NULL, 0);
    names(SLICE(SIGNATURE "\x21\0\0\3abc"), NULL, 0);
    names(SLICE(SIGNATURE "\x21\x12\0\x0c" ADDRESSES), NULL, 0);
    memset(path, '/', sizeof path);
    put_bytes(path, SLICE(SIGNATURE "\x21\x31\0\xd8"));
    names(slice_of(path, 16 + 216), NULL, 0);
}

static void a_proxy_may_speak_for_itself(void **state)
{
    static const struct slice heads[] = {{SIGNATURE "\x20\0\0\0", 16},
                                         {SIGNATURE "\x20\x11\0\x0c" ADDRESSES, 28},
                                         {SIGNATURE "\x20\xff\0\1x", 17}};

    (void)state;
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        for (size_t cut = 0; cut <= heads[i].len; cut++) {
            struct outcome outcome = feed_cut(heads[i], cut);

            assert_int_equal(outcome.step, PROXY_HEAD_DONE);
            assert_int_equal(outcome.taken, heads[i].len);
            assert_int_equal(outcome.head.says, PROXY_SAYS_NOTHING);
        }
    }
}

static void a_malformed_binary_head_is_no_head(void **state)
{
    (void)state;
    is_bad(SLICE("\r\n\r\n\r\n"));
    is_bad(SLICE("\r\n\r\n\0\r\nQUIT\r"));
    is_bad(SLICE(SIGNATURE "\x11\x11\0\x0c" ADDRESSES));
    is_bad(SLICE(SIGNATURE "\x31\x11\0\x0c" ADDRESSES));
    is_bad(SLICE(SIGNATURE "\x22\x11\0\x0c" ADDRESSES));
    is_bad(SLICE(SIGNATURE "\x21\x13\0\x0c" ADDRESSES));
    is_bad(SLICE(SIGNATURE "\x21\x41\0\x0c" ADDRESSES));
}

// The length says less than the addresses need, or more than any proxy sends.
static void a_forged_length_is_no_head(void **state)
{
    static const unsigned char families[] = {0x11, 0x21, 0x31};
    static const size_t needed[] = {12, 36, 216};
    unsigned char head[16];

    (void)state;
    for (unsigned family = 0; family < 3; family++) {
        for (size_t length = 0; length <= UINT16_MAX; length++) {
            struct proxy_head read = {.len = 0};
            bool good = length >= needed[family] && length <= PROXY_HEAD_MOST - 16;
            size_t taken;

            put_bytes(head, SLICE(SIGNATURE "\x21"));
            head[13] = families[family];
            head[14] = (unsigned char)(length >> 8);
            head[15] = (unsigned char)(length & 0xff);
            assert_int_equal(proxy_head_feed(&read, slice_of((char *)head, sizeof head), &taken),
                             good ? PROXY_HEAD_MORE : PROXY_HEAD_BAD);
        }
    }
}

// As many bytes are taken as the length says, and no more are kept than the addresses.
static void the_longest_head_is_passed_over(void **state)
{
    static char bytes[PROXY_HEAD_MOST + 10];
    size_t length = PROXY_HEAD_MOST - 16;

    (void)state;
    put_bytes(bytes, SLICE(SIGNATURE "\x21\x11\0\0" ADDRESSES));
    bytes[14] = (char)(length >> 8);
    bytes[15] = (char)(length & 0xff);
    for (size_t cut = 0; cut < sizeof bytes; cut += 97) {
        struct outcome outcome = feed_cut(slice_of(bytes, sizeof bytes), cut);

        assert_int_equal(outcome.step, PROXY_HEAD_DONE);
        assert_int_equal(outcome.taken, PROXY_HEAD_MOST);
        is_client(&outcome, "::ffff:10.1.2.3", 1234);
    }
}

// Whatever the bytes are: the result does not depend on the pieces, and takes nothing behind them.
static void a_thousand_hostile_heads_have_one_meaning_each(void **state)
{
    static const struct slice good[] = {
        {"PROXY TCP4 10.1.2.3 10.0.0.1 1234 11300\r\nput 0 0 10 1\r\na\r\n", 58},
        {"PROXY TCP6 2001:db8::7 ::1 65535 1\r\nput 0 0 10 1\r\na\r\n", 53},
        {SIGNATURE "\x21\x11\0\x13" ADDRESSES "\x04\0\4abcdput 0 0 10 1\r\n", 49},
        {SIGNATURE "\x20\0\0\0put 0 0 10 1\r\n", 30},
    };
    unsigned done = 0;

    (void)state;
    for (unsigned i = 0; i < 1000; i++) {
        struct slice from = good[below(sizeof good / sizeof *good)];
        char bytes[64];
        struct outcome whole;

        memcpy(bytes, from.ptr, from.len);
        for (unsigned change = below(4); change > 0; change--) {
            bytes[below((uint32_t)from.len)] = (char)below(256);
        }
        whole = feed_cut(slice_of(bytes, from.len), 0);
        done += whole.step == PROXY_HEAD_DONE ? 1 : 0;
        for (size_t cut = 1; cut <= from.len; cut++) {
            struct outcome outcome = feed_cut(slice_of(bytes, from.len), cut);

            assert_int_equal(outcome.step, whole.step);
            assert_int_equal(outcome.taken, whole.taken);
            assert_int_equal(outcome.head.says, whole.head.says);
            assert_memory_equal(&outcome.head.client.address, &whole.head.client.address,
                                sizeof whole.head.client.address);
        }
    }
    assert_true(done > 200 && done < 900);
}

static void the_beginning_of_a_binary_head_is_recognized(void **state)
{
    bool whole;

    (void)state;
    for (size_t len = 1; len <= 14; len++) {
        assert_true(proxy_head_begins(slice_of(SIGNATURE "\x21\x11", len), &whole));
        assert_int_equal(whole, len >= 12);
    }
    assert_false(proxy_head_begins(SLICE("put"), &whole));
    assert_false(proxy_head_begins(SLICE("\r\nput"), &whole));
    assert_false(proxy_head_begins(SLICE("\0REQ"), &whole));
}

static struct client_address end_of(const char *text, uint16_t port)
{
    struct client_address address = {.known = true, .port = port};

    assert_int_equal(inet_pton(AF_INET6, text, &address.address), 1);
    return address;
}

static void a_written_head_is_read_as_it_was_meant(void **state)
{
    static const char *const ends[][2] = {{"::ffff:10.1.2.3", "::ffff:10.0.0.1"},
                                          {"2001:db8::7", "2001:db8::1"},
                                          {"::ffff:10.1.2.3", "2001:db8::1"}};
    const struct client_address unknown = {.known = false};
    unsigned char head[PROXY_HEAD_WRITE_MAX];
    struct client_address client;

    (void)state;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        struct client_address server = end_of(ends[i][1], 11300);
        size_t len;

        client = end_of(ends[i][0], 1234);
        len = proxy_head_write(head, &client, &server);
        assert_int_equal(len, i == 0 ? 28 : 52);
        names(slice_of((char *)head, len), ends[i][0], 1234);
    }
    // A client that is not known, and an address of the server that is not.
    assert_int_equal(proxy_head_write(head, &unknown, &unknown), 16);
    names(slice_of((char *)head, 16), NULL, 0);
    client = end_of("2001:db8::7", 7);
    assert_int_equal(proxy_head_write(head, &client, &unknown), 52);
    names(slice_of((char *)head, 52), "2001:db8::7", 7);
    assert_int_equal(proxy_head_write(head, NULL, NULL), 16);
    assert_memory_equal(head, SIGNATURE "\x20\0\0\0", 16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_names_the_client),
        cmocka_unit_test(a_line_may_leave_the_client_unknown),
        cmocka_unit_test(a_malformed_line_is_no_head),
        cmocka_unit_test(a_binary_head_names_the_client),
        cmocka_unit_test(a_binary_head_may_leave_the_client_unknown),
        cmocka_unit_test(a_proxy_may_speak_for_itself),
        cmocka_unit_test(a_malformed_binary_head_is_no_head),
        cmocka_unit_test(a_forged_length_is_no_head),
        cmocka_unit_test(the_longest_head_is_passed_over),
        cmocka_unit_test(a_thousand_hostile_heads_have_one_meaning_each),
        cmocka_unit_test(the_beginning_of_a_binary_head_is_recognized),
        cmocka_unit_test(a_written_head_is_read_as_it_was_meant),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
