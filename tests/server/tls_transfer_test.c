/* SPDX-License-Identifier: MIT */
// What a connection with TLS receives and sends.
#include "tests/server/server_cmocka.h"
#include "tests/server/tls_bed.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int open_bed(void **state)
{
    static struct tls_bed bed;

    tls_bed_open(&bed);
    *state = &bed;
    return 0;
}

static int close_bed(void **state)
{
    tls_bed_close(*state);
    return 0;
}

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_pass_both_ways),
    };

    return cmocka_run_group_tests(tests, open_bed, close_bed);
}
