/* SPDX-License-Identifier: MIT */
// When more memory is in use than allowed: which connections are closed.
#include "core/base/log.h"
#include "core/base/memory.h"
#include "server/conn/conn.h"
#include "tests/server/server_bed.h"
#include "tests/support/with_cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)
enum { HEAVY = 3 };

static char lines[1000];

static void note_line(void *context, enum log_level level, const char *event,
                      const struct log_field *fields, size_t count)
{
    size_t len = strlen(lines);

    (void)context;
    (void)level;
    (void)snprintf(lines + len, sizeof lines - len, "%s", event);
    for (size_t i = 0; i < count; i++) {
        len = strlen(lines);
        if (strcmp(fields[i].key, "conn") == 0) {
            (void)snprintf(lines + len, sizeof lines - len, " %d", (int)fields[i].number);
        }
    }
    len = strlen(lines);
    (void)snprintf(lines + len, sizeof lines - len, ".");
}

static int shed_setup(void **state)
{
    struct bed *bed = malloc(sizeof *bed);

    bed_init(bed, bed_now);
    *lines = '\0';
    log_set_sink(note_line, NULL, LOG_LEVEL_INFO);
    *state = bed;
    return 0;
}

static int shed_teardown(void **state)
{
    memory_set_limit(0);
    log_set_sink(NULL, NULL, LOG_LEVEL_ERROR);
    bed_close(*state);
    free(*state);
    return 0;
}

// Clients that leave 4, 8 and 12 MiB unread.
static void connect_heavy(struct bed *bed, int clients[HEAVY])
{
    char command[32];

    for (int i = 0; i < HEAVY; i++) {
        clients[i] = bed_connect(bed);
        (void)snprintf(command, sizeof command, "big %d\n", (int)(4 * MIB * (size_t)(i + 1)));
        bed_send(bed, clients[i], command);
        bed_turns(bed, 20);
    }
}

static bool is_told(const char *line)
{
    return strstr(lines, line) != NULL;
}

static void largest_connection_is_closed_and_no_more_than_needed(void **state)
{
    struct bed *bed = *state;
    int clients[HEAVY];
    int light = bed_connect(bed);

    connect_heavy(bed, clients);
    memory_set_limit(memory_counted() - MIB);
    bed_turns(bed, 60);
    assert_true(is_told("shed 4."));
    assert_false(is_told("shed 3.") || is_told("shed 2.") || is_told("shed 1."));
    assert_false(memory_is_over());
    bed_send(bed, light, "hello\n");
    bed_expect(bed, light, "hello\n");
    assert_int_equal(bed->front.open, HEAVY);
}

static void connections_are_closed_until_enough_is_free_the_largest_first(void **state)
{
    struct bed *bed = *state;
    int clients[HEAVY];
    int light = bed_connect(bed);

    connect_heavy(bed, clients);
    memory_set_limit(memory_counted() - 14 * MIB);
    bed_turns(bed, 100);
    assert_true(is_told("shed 4.") && is_told("shed 3."));
    assert_false(is_told("shed 2.") || is_told("shed 1."));
    assert_false(memory_is_over());
    bed_send(bed, light, "hello\n");
    bed_expect(bed, light, "hello\n");
}

static void few_are_closed_if_jobs_have_most_of_the_memory(void **state)
{
    struct bed *bed = *state;
    int clients[HEAVY];

    memory_count(1024 * MIB);
    connect_heavy(bed, clients);
    memory_set_limit(memory_counted() - MIB);
    bed_turns(bed, 60);
    assert_true(is_told("shed 3."));
    assert_false(is_told("shed 2.") || is_told("shed 1."));
    assert_false(memory_is_over());
    memory_uncount(1024 * MIB);
}

static void no_connection_is_closed_if_jobs_alone_exceed_the_limit(void **state)
{
    struct bed *bed = *state;
    int clients[HEAVY];

    memory_count(1024 * MIB);
    connect_heavy(bed, clients);
    memory_set_limit(memory_counted() - 64 * MIB);
    for (int second = 0; second < 3; second++) {
        bed_clock.mono += NSEC_PER_SEC;
        bed_turns(bed, 30);
    }
    assert_string_equal(lines, "memory_short.");
    assert_int_equal(bed->front.open, HEAVY);
    memory_uncount(1024 * MIB);
}

static void no_connection_is_closed_after_the_limit_is_removed(void **state)
{
    struct bed *bed = *state;
    int clients[HEAVY];

    connect_heavy(bed, clients);
    memory_set_limit(memory_counted() - 14 * MIB);
    while (bed->loop.eviction.stage != EVICTION_CLOSES) {
        bed_turns(bed, 1);
    }
    memory_set_limit(0);
    bed_turns(bed, 30);
    assert_string_equal(lines, "memory_short.memory_eased.");
    assert_int_equal(bed->front.open, HEAVY);
}

static void small_connections_stay_if_closing_them_would_not_help(void **state)
{
    struct bed *bed = *state;
    int light = bed_connect(bed);

    memory_count(64 * MIB);
    memory_set_limit(32 * MIB);
    for (int second = 0; second < 3; second++) {
        bed_clock.mono += NSEC_PER_SEC;
        bed_turns(bed, 30);
    }
    bed_send(bed, light, "hello\n");
    bed_expect(bed, light, "hello\n");
    assert_string_equal(lines, "memory_short.");
    memory_uncount(64 * MIB);
    bed_turns(bed, 2);
    assert_string_equal(lines, "memory_short.memory_eased.");
}

static void with_nothing_to_close_the_loop_may_sleep(void **state)
{
    struct bed *bed = *state;

    (void)bed_connect(bed);
    memory_count(64 * MIB);
    memory_set_limit(32 * MIB);
    bed_turns(bed, 30);
    assert_false(bed->loop.evicts);
    memory_uncount(64 * MIB);
}

static void without_a_limit_no_connection_is_measured(void **state)
{
    struct bed *bed = *state;
    int clients[HEAVY];

    connect_heavy(bed, clients);
    bed_turns(bed, 30);
    assert_string_equal(lines, "");
    assert_int_equal(bed->front.open, HEAVY);
}

#define EVICTION_TEST(f) cmocka_unit_test_setup_teardown(f, shed_setup, shed_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        EVICTION_TEST(largest_connection_is_closed_and_no_more_than_needed),
        EVICTION_TEST(connections_are_closed_until_enough_is_free_the_largest_first),
        EVICTION_TEST(few_are_closed_if_jobs_have_most_of_the_memory),
        EVICTION_TEST(no_connection_is_closed_if_jobs_alone_exceed_the_limit),
        EVICTION_TEST(no_connection_is_closed_after_the_limit_is_removed),
        EVICTION_TEST(small_connections_stay_if_closing_them_would_not_help),
        EVICTION_TEST(with_nothing_to_close_the_loop_may_sleep),
        EVICTION_TEST(without_a_limit_no_connection_is_measured),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
