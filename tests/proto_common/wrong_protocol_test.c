/* SPDX-License-Identifier: MIT */
// Peers that use another protocol: how they are recognized, and the log lines.
#include "proto_common/wrong_protocol.h"
#include "tests/proto_common/wire_closings.h"
#include "tests/support/with_cmocka.h"

#include <string.h>

static unsigned tls_hellos;

static void on_tls_hello(const struct wire *wire)
{
    assert_int_equal(wire->number, 1);
    tls_hellos++;
}

static const struct wire_host host = {.tls_hello = on_tls_hello};
static const struct wire wire = {.host = &host, .number = 1};
static char why[CLOSINGS_ROOM];

static int setup(void **state)
{
    (void)state;
    *why = '\0';
    tls_hellos = 0;
    closings_note(why);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    closings_end();
    return 0;
}

static bool is_refused(const char *line)
{
    size_t len = strlen(line);
    bool refused = wrong_protocol_in_line(&wire, slice_of(line, len));

    // The end of the line is enough, also with a CR after it.
    if (len > WRONG_PROTOCOL_TAIL - 1) {
        line += len - (WRONG_PROTOCOL_TAIL - 1);
        assert_int_equal(wrong_protocol_in_line(&wire, slice_str(line)), refused);
    }
    return refused;
}

static void the_first_line_of_a_request_is_refused(void **state)
{
    (void)state;
    assert_true(is_refused("GET / HTTP/1.1"));
    assert_true(is_refused("POST /a?b HTTP/1.0"));
    assert_true(is_refused("put 1 2 3 4 HTTP/1.9"));
    assert_true(wrong_protocol_in_line(&wire, SLICE(" HTTP/1.1")));
    assert_non_null(strstr(why, "it speaks HTTP."));
}

static void lines_that_are_not_requests_are_accepted(void **state)
{
    (void)state;
    assert_false(is_refused(""));
    assert_false(is_refused("put 1 2 3 4"));
    assert_false(is_refused("HTTP/1.1"));
    assert_false(is_refused("GET / HTTP/1."));
    assert_false(is_refused("GET / HTTP/1.x"));
    assert_false(is_refused("GET / HTTP/2.0"));
    assert_false(is_refused("GET / HTTP/1.1 "));
    assert_false(is_refused("use HTTP/1.1-jobs"));
    assert_string_equal(why, "");
}

static void a_tls_handshake_is_refused_by_its_first_byte(void **state)
{
    (void)state;
    for (int byte = 0; byte < 256; byte++) {
        char input[2] = {(char)byte, 3};

        assert_int_equal(wrong_protocol_at_start(&wire, slice_of(input, 1)), byte == 0x16);
        *why = '\0';
        assert_int_equal(wrong_protocol_at_start(&wire, slice_of(input, 2)), byte == 0x16);
        assert_string_equal(why, byte == 0x16 ? "it speaks TLS." : "");
    }
    assert_int_equal(tls_hellos, 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_first_line_of_a_request_is_refused),
        TEST(lines_that_are_not_requests_are_accepted),
        TEST(a_tls_handshake_is_refused_by_its_first_byte),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
