/* SPDX-License-Identifier: MIT */
// What a connection with TLS receives and sends.
#include "tests/server/server_cmocka.h"
#include "tests/server/tls_bed.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void bytes_pass_both_ways(void **state)
{
    struct tls_link link;
    char heard[64];
    struct received received;
    struct sent sent;

    tls_link_connect(&link, *state);
    assert_string_equal(transport_tls.protection(&link.own), "TLSv1.3");
    tls_link_say(&link, "hello", 5);
    received = tls_link_receive(&link, heard, sizeof heard);
    assert_int_equal(received.result, TRANSFER_BYTES);
    assert_int_equal(received.len, 5);
    assert_true(received.drained);
    assert_memory_equal(heard, "hello", 5);
    sent = tls_link_send(&link, "answer", 6);
    assert_int_equal(sent.result, TRANSFER_BYTES);
    assert_int_equal(sent.len, 6);
    assert_false(sent.full);
    tls_link_hear(&link, "answer");
    tls_link_close(&link);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, tls_bed_setup, tls_bed_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(bytes_pass_both_ways),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
