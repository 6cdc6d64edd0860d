/* SPDX-License-Identifier: MIT */
// The facts of the process, and the log of its libraries.
#include "server/process/facts.h"

#include "core/base/log.h"
#include "server/log/log_output.h"
#include "server/process/clock.h"
#include "tests/support/with_cmocka.h"

#include <event2/event.h>
#include <event2/event_struct.h>
#include <unistd.h>

static void facts_are_those_of_this_process(void **state)
{
    struct facts facts;
    struct instant now = clock_now();
    nsec_t user_for = -1;
    nsec_t system_for = -1;

    (void)state;
    facts_gather(&facts, now);
    assert_int_equal(facts.process.pid, getpid());
    assert_int_equal(facts.process.started_at, now.mono);
    assert_string_equal(facts.process.version, TANDEM_VERSION);
    assert_int_not_equal(facts.process.hostname[0], '\0');
    assert_int_not_equal(facts.process.os[0], '\0');
    assert_int_not_equal(facts.process.platform[0], '\0');
    facts.process.cpu_time(&user_for, &system_for);
    assert_true(user_for >= 0 && system_for >= 0);
    assert_true(user_for + system_for > 0);
}

static void each_process_has_a_number_of_its_own(void **state)
{
    struct facts facts;
    struct facts others;

    (void)state;
    facts_gather(&facts, clock_now());
    facts_gather(&others, clock_now());
    assert_true(facts.process.instance != others.process.instance);
}

static void clock_does_not_go_back(void **state)
{
    struct instant before = clock_now();
    struct instant after = clock_now();

    (void)state;
    assert_true(after.mono >= before.mono);
    // Some moment after this was written.
    assert_true(after.wall > INT64_C(1700000000) * NSEC_PER_SEC);
}

static void note_event(void *context, enum log_level level, const char *event,
                       const struct log_field *fields, size_t count)
{
    unsigned *lines = context;

    (void)fields;
    assert_int_equal(level, LOG_LEVEL_WARN);
    assert_string_equal(event, "libevent");
    assert_int_equal(count, 1);
    (*lines)++;
}

static void complaints_of_libevent_are_logged(void **state)
{
    struct event never_assigned = {0};
    unsigned lines = 0;

    (void)state;
    log_set_sink(note_event, &lines, LOG_LEVEL_DEBUG);
    libevent_log_route();
    assert_int_equal(event_del(&never_assigned), -1);
    log_set_sink(NULL, NULL, LOG_LEVEL_ERROR);
    assert_int_equal(lines, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(facts_are_those_of_this_process),
        cmocka_unit_test(each_process_has_a_number_of_its_own),
        cmocka_unit_test(clock_does_not_go_back),
        cmocka_unit_test(complaints_of_libevent_are_logged),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
