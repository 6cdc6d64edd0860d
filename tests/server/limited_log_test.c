/* SPDX-License-Identifier: MIT */
// Log lines about events that very many clients may cause.
#include "core/base/log.h"
#include "server/conn/conn_log.h"
#include "server/services.h"
#include "tests/server/server_bed.h"
#include "tests/support/with_cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

static int limited_log_setup(void **state)
{
    struct bed *bed = malloc(sizeof *bed);

    bed_init(bed, bed_now);
    *lines = '\0';
    log_set_sink(note_line, NULL, LOG_LEVEL_WARN);
    *state = bed;
    return 0;
}

static int limited_log_teardown(void **state)
{
    log_set_sink(NULL, NULL, LOG_LEVEL_ERROR);
    bed_close(*state);
    free(*state);
    return 0;
}

static void line_of_each_kind_is_logged_once_a_second(void **state)
{
    struct bed *bed = *state;
    struct turn *turn = &bed->loop.turn;

    for (int second = 0; second < 3; second++) {
        bed_clock.mono += NSEC_PER_SEC;
        bed_turns(bed, 1);
        assert_true(turn_may_log(turn, LIMITED_LOG_HANDSHAKE));
        assert_false(turn_may_log(turn, LIMITED_LOG_HANDSHAKE));
        assert_true(turn_may_log(turn, LIMITED_LOG_TLS_HELLO));
        assert_true(turn_may_log(turn, LIMITED_LOG_PROXY_HEAD));
        assert_true(turn_may_log(turn, LIMITED_LOG_PROXY));
        assert_true(turn_may_log(turn, LIMITED_LOG_MEMORY));
        assert_true(turn_may_log(turn, LIMITED_LOG_CONNECTIONS));
        assert_true(turn_may_log(turn, LIMITED_LOG_ADDRESS));
        assert_true(turn_may_log(turn, LIMITED_LOG_TOKEN));
        assert_true(turn_may_log(turn, LIMITED_LOG_TOKEN_DELAYED));
        assert_true(turn_may_log(turn, LIMITED_LOG_MEMORY_SHORT));
        assert_true(turn_may_log(turn, LIMITED_LOG_TOO_LARGE));
        bed_clock.mono += NSEC_PER_SEC - 1;
        bed_turns(bed, 1);
        for (int kind = 0; kind < LIMITED_LOGS; kind++) {
            assert_false(turn_may_log(turn, (enum limited_log)kind));
        }
        bed_clock.mono++;
    }
}

static void handshake_that_failed_is_logged_with_peer_and_reason_once_a_second(void **state)
{
    struct bed *bed = *state;

    service_log_refused(&bed->service, "10.0.0.0:5", "");
    service_log_refused(&bed->service, "10.0.0.1:5", "plain text on a TLS port");
    service_log_refused(&bed->service, "10.0.0.2:5", "timeout");
    bed_clock.mono += NSEC_PER_SEC;
    bed_turns(bed, 1);
    service_log_refused(&bed->service, "10.0.0.3:5", "timeout");
    assert_string_equal(
        lines, "handshake_failed peer=10.0.0.1:5 protocol=stub why=plain text on a TLS port."
               "handshake_failed peer=10.0.0.3:5 protocol=stub why=timeout.");
}

static void note_fields(void *context, enum log_level level, const char *event,
                        const struct log_field *fields, size_t count)
{
    size_t len = strlen(lines);

    (void)context;
    len += (size_t)snprintf(lines + len, sizeof lines - len, "%d %s", (int)level, event);
    for (size_t i = 0; i < count && len < sizeof lines; i++) {
        const struct log_field *field = &fields[i];

        len += field->is_text ? (size_t)snprintf(lines + len, sizeof lines - len, " %s=%.*s",
                                                 field->key, (int)field->text.len, field->text.ptr)
                              : (size_t)snprintf(lines + len, sizeof lines - len, " %s=%lld",
                                                 field->key, (long long)field->number);
    }
    (void)snprintf(lines + len, sizeof lines - len, ".");
}

static void too_large_input_is_logged_at_info_once_a_second(void **state)
{
    struct bed *bed = *state;
    int client = bed_connect(bed);
    const struct wire *wire = &bed_latest(bed)->wire;
    char expected[sizeof lines];

    log_set_sink(note_fields, NULL, LOG_LEVEL_INFO);
    conn_log_too_large(wire, "a job", 70000, "beanstalk.max_job_size");
    conn_log_too_large(wire, "a job", 80000, "beanstalk.max_job_size");
    bed_clock.mono += NSEC_PER_SEC;
    bed_turns(bed, 1);
    conn_log_too_large(wire, "a result", 0, "http.max_result");
    (void)snprintf(expected, sizeof expected,
                   "%d too_large conn=1 protocol=stub what=a job size=70000 "
                   "setting=beanstalk.max_job_size."
                   "%d too_large conn=1 protocol=stub what=a result setting=http.max_result.",
                   (int)LOG_LEVEL_INFO, (int)LOG_LEVEL_INFO);
    assert_string_equal(lines, expected);
    (void)close(client);
}

// Lines about commands: their number, and how many commands the last one says were left out.
static unsigned commands;
static int64_t unsaid;

static void count_command(void *context, enum log_level level, const char *event,
                          const struct log_field *fields, size_t count)
{
    (void)context;
    if (strcmp(event, "command") != 0) {
        return;
    }
    assert_int_equal(level, LOG_LEVEL_INFO);
    commands++;
    unsaid = 0;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(fields[i].key, "unsaid") == 0) {
            unsaid = fields[i].number;
        }
    }
}

static void say_commands(const struct conn *conn, unsigned count)
{
    while (count-- > 0) {
        conn_log_command(&conn->wire, SLICE("put"), SLICE("0 0 60 1"), 1);
    }
}

static void
a_thousand_commands_a_second_are_logged_and_the_next_line_tells_of_the_rest(void **state)
{
    struct bed *bed = *state;
    int client = bed_connect(bed);
    struct conn *conn = bed_latest(bed);

    commands = 0;
    log_set_sink(count_command, NULL, LOG_LEVEL_INFO);
    bed_clock.mono += 5 * NSEC_PER_SEC;
    bed_turns(bed, 1);
    say_commands(conn, 1000);
    assert_int_equal(commands, 1000);
    say_commands(conn, 500);
    bed_clock.mono += NSEC_PER_SEC - 1;
    bed_turns(bed, 1);
    say_commands(conn, 1);
    assert_int_equal(commands, 1000);
    assert_int_equal(unsaid, 0);
    bed_clock.mono++;
    bed_turns(bed, 1);
    say_commands(conn, 1);
    assert_int_equal(commands, 1001);
    assert_int_equal(unsaid, 501);
    say_commands(conn, 1);
    assert_int_equal(unsaid, 0);
    // A second begins with its first line, however long there was no line.
    bed_clock.mono += 10 * NSEC_PER_SEC + NSEC_PER_SEC / 2;
    bed_turns(bed, 1);
    say_commands(conn, 1001);
    assert_int_equal(commands, 2002);
    bed_clock.mono += NSEC_PER_SEC;
    bed_turns(bed, 1);
    say_commands(conn, 1);
    assert_int_equal(commands, 2003);
    assert_int_equal(unsaid, 1);
    (void)close(client);
}

static bool is_traced(struct bed *bed, const char *whose)
{
    struct conn *conn = bed_latest(bed);

    bed->loop.turn.log_commands = whose;
    conn_choose_trace(conn);
    return conn->wire.traced;
}

static void commands_are_logged_of_the_address_or_the_connection_that_is_named(void **state)
{
    struct bed *bed = *state;
    int client = bed_connect_tcp(bed);

    assert_false(is_traced(bed, NULL));
    assert_false(is_traced(bed, ""));
    assert_true(is_traced(bed, "1"));
    assert_false(is_traced(bed, "11"));
    assert_true(is_traced(bed, "127.0.0.1"));
    assert_false(is_traced(bed, "127.0.0.11"));
    assert_false(is_traced(bed, ""));
    bed->loop.turn.log_commands = NULL;
    (void)close(client);
}

#define LIMITED_LOG_TEST(f)                                                                        \
    cmocka_unit_test_setup_teardown(f, limited_log_setup, limited_log_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        LIMITED_LOG_TEST(line_of_each_kind_is_logged_once_a_second),
        LIMITED_LOG_TEST(too_large_input_is_logged_at_info_once_a_second),
        LIMITED_LOG_TEST(
            a_thousand_commands_a_second_are_logged_and_the_next_line_tells_of_the_rest),
        LIMITED_LOG_TEST(commands_are_logged_of_the_address_or_the_connection_that_is_named),
        LIMITED_LOG_TEST(handshake_that_failed_is_logged_with_peer_and_reason_once_a_second),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
