/* SPDX-License-Identifier: MIT */

// How input is split into lines, and connections that use another protocol.

#include "tests/proto_beanstalk/wire_bean.h"

#include "tests/proto_common/wire_closings.h"
#include "tests/proto_common/wire_host.h"

#include <stdio.h>
#include <string.h>

// A line of `len` bytes, including its CRLF, that ends with `tail`.
static struct slice long_line(size_t len, struct slice tail)
{
    static char line[8192];

    memset(line, 'x', sizeof line);
    memcpy(line + len - 2 - tail.len, tail.ptr, tail.len);
    line[len - 2] = '\r';
    line[len - 1] = '\n';
    return slice_of(line, len);
}

static void a_line_ends_with_cr_lf_and_nothing_else(void **state)
{
    struct bean *t = *state;

    says(t->a, "use a\n", "");
    says(t->a, "\r\n", "BAD_FORMAT\r\n");
    says(t->a, "use b\r", "");
    says(t->a, "\n", "USING b\r\n");
    says(t->a, "foo\rbar\r\n", "UNKNOWN_COMMAND\r\n");
    says(t->a, "foo\r\r\n", "UNKNOWN_COMMAND\r\n");
    says(t->a, "use c\n\r\n", "BAD_FORMAT\r\n");
}

static void an_empty_line_is_an_unknown_command(void **state)
{
    struct bean *t = *state;

    says(t->a, "\r\n", "UNKNOWN_COMMAND\r\n");
}

static void nul_in_a_line_is_malformed(void **state)
{
    struct bean *t = *state;

    says(t->a, "use a\0\r\n", "BAD_FORMAT\r\n");
    says(t->a, "foo\0\r\n", "BAD_FORMAT\r\n");
    says(t->a, "\0\r\n", "BAD_FORMAT\r\n");
    says(t->a, "quit\0\r\n", "BAD_FORMAT\r\n");
    stat_is(t->a, "stats\r\n", "cmd-use", 0);
}

static void a_line_of_224_bytes_is_a_command(void **state)
{
    struct bean *t = *state;
    char name[201] = "";
    char line[256];

    memset(name, 'n', 200);
    assert_int_equal(snprintf(line, sizeof line, "pause-tube %s 4294967295\r\n", name), 224);
    says_text(t->a, line, "NOT_FOUND\r\n");
}

static void a_longer_line_is_discarded_whole_and_answered_once(void **state)
{
    static const size_t lengths[] = {225, 226, 447, 448, 449, 450, 672, 673, 5000};
    struct bean *t = *state;

    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        peer_send(t->a, long_line(lengths[i], SLICE("x")));
        says(t->a, "list-tube-used\r\n", "BAD_FORMAT\r\nUSING default\r\n");
    }
}

static void a_longer_line_may_arrive_byte_by_byte(void **state)
{
    struct bean *t = *state;
    struct slice line = long_line(700, SLICE("\r\rx\r"));

    for (size_t i = 0; i < line.len - 1; i++) {
        peer_send(t->a, slice_of(line.ptr + i, 1));
        rig_run(t->rig);
        hears(t->a, "");
        assert_true(peer_kept(t->a) < 224);
    }
    says(t->a, "\nlist-tube-used\r\n", "BAD_FORMAT\r\nUSING default\r\n");
}

static void a_line_of_224_bytes_without_command_is_unknown(void **state)
{
    struct bean *t = *state;

    peer_send(t->a, long_line(224, SLICE("x")));
    says(t->a, "list-tube-used\r\n", "UNKNOWN_COMMAND\r\nUSING default\r\n");
}

static void a_browser_is_disconnected_without_a_reply(void **state)
{
    static const size_t lengths[] = {20, 222, 223, 224, 225, 226, 448, 449, 5000};
    struct bean *t = *state;

    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        struct peer *browser = peer_new(t->rig);

        peer_send(browser, long_line(lengths[i], SLICE(" HTTP/1.1")));
        says(browser, "put 0 0 1 1\r\na\r\n", "");
        assert_true(peer_closed(browser));
        peer_free(browser);
    }
    stat_is(t->a, "stats\r\n", "total-jobs", 0);
}

static void a_slow_browser_is_disconnected(void **state)
{
    static const size_t lengths[] = {20, 223, 224, 225, 226, 5000};
    struct bean *t = *state;

    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        struct slice line = long_line(lengths[i], SLICE(" HTTP/1.0"));
        struct peer *browser = peer_new(t->rig);

        for (size_t at = 0; at < line.len; at++) {
            assert_false(peer_closed(browser));
            peer_send(browser, slice_of(line.ptr + at, 1));
            rig_run(t->rig);
        }
        hears(browser, "");
        assert_true(peer_closed(browser));
        peer_free(browser);
    }
}

static void only_the_first_line_identifies_a_browser(void **state)
{
    struct bean *t = *state;

    says(t->a, "GET / HTTP/1.x\r\n", "UNKNOWN_COMMAND\r\n");
    says(t->a, "GET / HTTP/1.1\r\n", "UNKNOWN_COMMAND\r\n");
    peer_send(t->a, long_line(300, SLICE(" HTTP/1.1")));
    says(t->a, "", "BAD_FORMAT\r\n");
    says(t->b, "GET / HTTP/2.0\r\n", "UNKNOWN_COMMAND\r\n");
    says(t->c, " HTTP/1.", "");
    says(t->c, "1\r\n", "");
    assert_true(peer_closed(t->c));
}

static void a_tls_hello_is_disconnected_without_a_reply(void **state)
{
    struct bean *t = *state;

    says(t->a, "\x16", "");
    assert_true(peer_closed(t->a));
    says(t->b, "\r\n\x16\r\n", "UNKNOWN_COMMAND\r\nUNKNOWN_COMMAND\r\n");
    assert_int_equal(rig_tls_hellos(t->rig), 1);
}

static void a_proxy_head_is_refused_and_disconnected(void **state)
{
    struct bean *t = *state;
    struct peer *cut = peer_new(t->rig);

    says(t->a, "PROXY TCP4 10.1.2.3 10.0.0.1 1234 11300\r\nput 0 0 10 1\r\na\r\n",
         "BAD_FORMAT\r\n");
    assert_true(peer_closed(t->a));
    says(t->b, "PROXY UNKNOWN\r\nput 0 0 10 1\r\na\r\n", "BAD_FORMAT\r\n");
    assert_true(peer_closed(t->b));
    peer_send(t->c, SLICE("\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\x0a\1\2\3\x0a\0\0\1\4\xd2\x2c\x24"
                          "put 0 0 10 1\r\na\r\n"));
    says(t->c, "", "BAD_FORMAT\r\n");
    assert_true(peer_closed(t->c));
    assert_int_equal(rig_proxy_heads(t->rig), 3);
    // Only the first line is checked.
    says(cut, "list-tube-used\r\nPROXY UNKNOWN\r\n", "USING default\r\nUNKNOWN_COMMAND\r\n");
    assert_int_equal(rig_proxy_heads(t->rig), 3);
    peer_free(cut);
}

static void a_debug_log_says_why_another_protocol_is_disconnected(void **state)
{
    struct bean *t = *state;
    char why[CLOSINGS_ROOM] = "";

    closings_note(why);
    says(t->a, "\x16", "");
    says(t->b, "GET / HTTP/1.1\r\n", "");
    peer_send(t->c, long_line(300, SLICE(" HTTP/1.1")));
    rig_run(t->rig);
    closings_end();
    assert_string_equal(why, "it speaks TLS.it speaks HTTP.it speaks HTTP.");
}

static void quit_ends_the_connection_after_the_earlier_answers(void **state)
{
    struct bean *t = *state;

    says(t->a, "list-tube-used\r\nquitter\r\nlist-tube-used\r\n", "USING default\r\n");
    assert_true(peer_closed(t->a));
}

static void the_budget_bounds_the_commands_of_one_turn(void **state)
{
    struct bean *t = *state;
    unsigned long before = rig_feeds(t->rig);

    says(t->a, "list-tube-used\r\nlist-tube-used\r\nlist-tube-used\r\n",
         "USING default\r\nUSING default\r\nUSING default\r\n");
    assert_int_equal(rig_feeds(t->rig) - before, 2);
}

static int setup_with_small_budget(void **state)
{
    return bean_setup_with(state, (struct rig_options){.budget = 2});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BEAN(a_line_ends_with_cr_lf_and_nothing_else),
        BEAN(an_empty_line_is_an_unknown_command),
        BEAN(nul_in_a_line_is_malformed),
        BEAN(a_line_of_224_bytes_is_a_command),
        BEAN(a_longer_line_is_discarded_whole_and_answered_once),
        BEAN(a_longer_line_may_arrive_byte_by_byte),
        BEAN(a_line_of_224_bytes_without_command_is_unknown),
        BEAN(a_browser_is_disconnected_without_a_reply),
        BEAN(a_slow_browser_is_disconnected),
        BEAN(only_the_first_line_identifies_a_browser),
        BEAN(a_tls_hello_is_disconnected_without_a_reply),
        BEAN(a_proxy_head_is_refused_and_disconnected),
        BEAN(a_debug_log_says_why_another_protocol_is_disconnected),
        BEAN(quit_ends_the_connection_after_the_earlier_answers),
        cmocka_unit_test_setup_teardown(the_budget_bounds_the_commands_of_one_turn,
                                        setup_with_small_budget, bean_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
