/* SPDX-License-Identifier: MIT */
// What is logged of clients that there may be very many of.
#include "core/base/log.h"
#include "server/services.h"
#include "tests/server/server_bed.h"
#include "tests/server/server_cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char lines[400];

static void note_line(void *context, enum log_level level, const char *event,
                      const struct log_field *fields, size_t count)
{
    size_t len = strlen(lines);

    (void)context;
    assert_int_equal(level, LOG_LEVEL_WARN);
    len += (size_t)snprintf(lines + len, sizeof lines - len, "%s", event);
    for (size_t i = 0; i < count; i++) {
        assert_true(fields[i].is_text);
        len += (size_t)snprintf(lines + len, sizeof lines - len, " %s=%.*s", fields[i].key,
                                (int)fields[i].text.len, fields[i].text.ptr);
    }
    (void)snprintf(lines + len, sizeof lines - len, ".");
}

static int complaint_setup(void **state)
{
    struct bed *bed = malloc(sizeof *bed);

    bed_init(bed, bed_now);
    *lines = '\0';
    log_set_sink(note_line, NULL, LOG_LEVEL_WARN);
    *state = bed;
    return 0;
}

static int complaint_teardown(void **state)
{
    log_set_sink(NULL, NULL, LOG_LEVEL_ERROR);
    bed_close(*state);
    free(*state);
    return 0;
}

static void complaint_of_each_kind_is_logged_once_a_second(void **state)
{
    struct bed *bed = *state;
    struct turn *turn = &bed->loop.turn;

    for (int second = 0; second < 3; second++) {
        bed_clock.mono += NSEC_PER_SEC;
        bed_turns(bed, 1);
        assert_true(turn_may_complain(turn, COMPLAINT_HANDSHAKE));
        assert_false(turn_may_complain(turn, COMPLAINT_HANDSHAKE));
        assert_true(turn_may_complain(turn, COMPLAINT_TLS_HELLO));
        assert_true(turn_may_complain(turn, COMPLAINT_MEMORY));
        assert_true(turn_may_complain(turn, COMPLAINT_CONNECTIONS));
        assert_true(turn_may_complain(turn, COMPLAINT_ADDRESS));
        assert_true(turn_may_complain(turn, COMPLAINT_TOKEN));
        assert_true(turn_may_complain(turn, COMPLAINT_TOKEN_DELAYED));
        assert_true(turn_may_complain(turn, COMPLAINT_MEMORY_SHORT));
        assert_true(turn_may_complain(turn, COMPLAINT_TOO_LARGE));
        bed_clock.mono += NSEC_PER_SEC - 1;
        bed_turns(bed, 1);
        for (int kind = 0; kind < COMPLAINTS; kind++) {
            assert_false(turn_may_complain(turn, (enum complaint)kind));
        }
        bed_clock.mono++;
    }
}

static void handshake_that_failed_is_logged_with_peer_and_reason_once_a_second(void **state)
{
    struct bed *bed = *state;

    service_log_handshake_failed(&bed->service, "10.0.0.0:5", "");
    service_log_handshake_failed(&bed->service, "10.0.0.1:5", "plain text on a TLS port");
    service_log_handshake_failed(&bed->service, "10.0.0.2:5", "timeout");
    bed_clock.mono += NSEC_PER_SEC;
    bed_turns(bed, 1);
    service_log_handshake_failed(&bed->service, "10.0.0.3:5", "timeout");
    assert_string_equal(
        lines, "handshake_failed peer=10.0.0.1:5 protocol=stub why=plain text on a TLS port."
               "handshake_failed peer=10.0.0.3:5 protocol=stub why=timeout.");
}

#define COMPLAINT_TEST(f) cmocka_unit_test_setup_teardown(f, complaint_setup, complaint_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        COMPLAINT_TEST(complaint_of_each_kind_is_logged_once_a_second),
        COMPLAINT_TEST(handshake_that_failed_is_logged_with_peer_and_reason_once_a_second),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
