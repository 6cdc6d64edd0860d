/* SPDX-License-Identifier: MIT */

// Schedules when the wall clock is set by a day, forward and back, and when the clocks of a zone
// are set.

#include "core/base/log.h"
#include "tests/schedule/story.h"

#include <stdio.h>

#define DAY SEC(86400)
#define HOUR SEC(3600)

static void a_clock_that_goes_back_makes_no_moment_happen_twice(void **state)
{
    struct story *t = *state;

    has_in_file(t, "@hourly", .missed = SCHEDULE_MISSED_ALL);
    passes(t, 2 * HOUR);
    does(t, "2023-11-14 23:00,2023-11-15 00:00");
    clock_steps(t, -DAY);
    passes(t, DAY);
    does(t, "");
    // The first hour that has not come before.
    passes(t, HOUR);
    does(t, "2023-11-15 01:00");
    counts_are(t, "fired 3");
}

// The number of schedules_silent lines, and the end of the silence in the last one.
static struct {
    unsigned lines;
    char until[SCHEDULE_MOMENT_MAX];
} silence;

static void count_silence(void *context, enum log_level level, const char *event,
                          const struct log_field *fields, size_t count)
{
    (void)context;
    (void)level;
    if (strcmp(event, "schedules_silent") == 0) {
        silence.lines++;
        (void)snprintf(silence.until, sizeof silence.until, "%.*s", (int)fields[count - 1].text.len,
                       fields[count - 1].text.ptr);
    }
}

static void a_clock_that_goes_back_is_logged_once_with_the_end_of_the_silence(void **state)
{
    struct story *t = *state;

    silence.lines = 0;
    log_set_sink(count_silence, NULL, LOG_LEVEL_WARN);
    has_in_file(t, "@hourly");
    passes_until(t, "2023-11-15 00:00:10");
    clock_steps(t, -SEC(30));
    passes(t, SEC(5));
    assert_int_equal(story_info(t, "n").silent_until, 0);
    assert_int_equal(silence.lines, 0);
    clock_steps(t, -DAY);
    passes(t, SEC(5));
    assert_int_equal(story_info(t, "n").silent_until, moment("2023-11-15 00:00"));
    assert_int_equal(silence.lines, 1);
    assert_string_equal(silence.until, "2023-11-15T00:00:00Z");
    // A process that starts during the silence also reports it.
    restarts(t, SEC(1));
    has_in_file(t, "@hourly");
    works(t);
    assert_int_equal(story_info(t, "n").silent_until, moment("2023-11-15 00:00"));
    assert_int_equal(silence.lines, 2);
    passes(t, DAY);
    assert_int_equal(story_info(t, "n").silent_until, 0);
    assert_int_equal(silence.lines, 2);
    log_set_sink(NULL, NULL, LOG_LEVEL_ERROR);
}

static void a_replanned_schedule_follows_the_clock_that_was_set_back(void **state)
{
    struct story *t = *state;

    has_in_file(t, "@hourly", .missed = SCHEDULE_MISSED_ALL);
    passes(t, 2 * HOUR);
    does(t, "2023-11-14 23:00,2023-11-15 00:00");
    clock_steps(t, -DAY);
    assert_status(STATUS_NOT_FOUND, schedules_replan(t->schedules, SLICE("none")));
    assert_status(STATUS_OK, schedules_replan(t->schedules, SLICE("n")));
    assert_int_equal(story_info(t, "n").silent_until, 0);
    passes(t, 2 * HOUR);
    does(t, "2023-11-14 01:00,2023-11-14 02:00");
    // The decision is stored.
    restarts(t, SEC(1));
    has_in_file(t, "@hourly", .missed = SCHEDULE_MISSED_ALL);
    passes(t, HOUR);
    does(t, "2023-11-14 03:00");
}

static void a_replan_without_room_in_the_store_changes_nothing(void **state)
{
    struct story *t = *state;

    has_in_file(t, "@hourly");
    passes(t, 2 * HOUR);
    does(t, "2023-11-14 23:00,2023-11-15 00:00");
    clock_steps(t, -DAY);
    t->stage->refused = STORE_REFUSES(RECORD_MEMO);
    assert_status(STATUS_NO_SPACE, schedules_replan(t->schedules, SLICE("n")));
    t->stage->refused = 0;
    assert_int_equal(story_info(t, "n").silent_until, moment("2023-11-15 00:00"));
    passes(t, 2 * HOUR);
    does(t, "");
}

static void a_moment_that_was_refused_waits_for_a_clock_that_goes_back(void **state)
{
    struct story *t = *state;

    has_in_file(t, "@daily");
    t->stage->refused = STORE_REFUSES(RECORD_SUBMIT);
    passes_until(t, "2023-11-15 00:00:05");
    t->stage->refused = 0;
    clock_steps(t, -HOUR);
    passes_until(t, "2023-11-14 23:59:59");
    does(t, "");
    passes(t, SEC(10));
    does(t, "2023-11-15 00:00");
}

static void a_clock_that_goes_ahead_makes_moments_missed(void **state)
{
    static const struct {
        enum schedule_missed missed;
        const char *jobs;
    } rules[] = {
        {SCHEDULE_MISSED_SKIP, ""},
        {SCHEDULE_MISSED_ONCE, "2023-11-15 18:00"},
        {SCHEDULE_MISSED_ALL,
         "2023-11-15 00:00,2023-11-15 06:00,2023-11-15 12:00,2023-11-15 18:00"},
    };
    struct story *t = *state;

    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        has_in_file(t, "0 */6 * * *", .missed = rules[i].missed);
        clock_steps(t, DAY);
        does(t, rules[i].jobs);
        has_nothing_in_file(t);
        clock_steps(t, -DAY);
    }
}

static void a_clock_set_forward_and_back_repeats_no_moment(void **state)
{
    struct story *t = *state;

    has_in_file(t, "0 */6 * * *", .missed = SCHEDULE_MISSED_ALL);
    clock_steps(t, DAY);
    clock_steps(t, -DAY);
    passes(t, DAY);
    does(t, "2023-11-15 00:00,2023-11-15 06:00,2023-11-15 12:00,2023-11-15 18:00");
    passes(t, 2 * HOUR);
    does(t, "2023-11-16 00:00");
}

static void a_step_is_seen_within_a_second(void **state)
{
    struct story *t = *state;

    has_in_file(t, "@yearly");
    works(t);
    assert_int_equal(schedules_due(t->schedules), t->stage->now.mono + SEC(1));
    stage_advance(t->stage, SEC(1));
    assert_int_equal(schedules_due(t->schedules), t->stage->now.mono + SEC(1));
    stage_step_wall(t->stage, moment("2024-01-01 00:00") - t->stage->now.wall - MSEC(1));
    assert_int_equal(schedules_due(t->schedules), t->stage->now.mono + MSEC(1));
}

static void a_new_schedule_has_no_missed_moments(void **state)
{
    struct story *t = *state;

    clock_steps(t, DAY);
    has_in_file(t, "@hourly", .missed = SCHEDULE_MISSED_ALL);
    works(t);
    does(t, "");
    // A schedule that is removed and made again has no missed moments either.
    has_nothing_in_file(t);
    clock_steps(t, DAY);
    has_in_file(t, "@hourly", .missed = SCHEDULE_MISSED_ALL);
    works(t);
    does(t, "");
    counts_are(t, "");
}

static void a_schedule_with_new_moments_has_no_missed_moments(void **state)
{
    struct story *t = *state;

    has_in_file(t, "@daily", .missed = SCHEDULE_MISSED_ALL);
    passes_until(t, "2023-11-15 09:30");
    does(t, "2023-11-15 00:00");
    has_in_file(t, "@hourly", .missed = SCHEDULE_MISSED_ALL);
    works(t);
    does(t, "");
    passes(t, HOUR);
    does(t, "2023-11-15 10:00");
    has_in_file(t, "0 9 * * *", .timezone = "Made", .missed = SCHEDULE_MISSED_ALL);
    works(t);
    does(t, "");
    passes(t, DAY);
    does(t, "2023-11-16 08:00");
}

static void other_changes_do_not_affect_moments(void **state)
{
    struct story *t = *state;

    has_in_file(t, "@hourly", .missed = SCHEDULE_MISSED_SKIP);
    stage_advance(t->stage, 3 * HOUR);
    has_in_file(t, "@hourly", .missed = SCHEDULE_MISSED_ALL, .queue = "r", .body = "new");
    works(t);
    does_at_line(t, "r", "2023-11-14 23:00,2023-11-15 00:00,2023-11-15 01:00", __FILE__, __LINE__);
}

static void a_moment_in_a_gap_of_its_zone_happens_at_the_end_of_the_gap(void **state)
{
    struct story *t = *state;

    // From 2:00 to 3:00 and, a day later, back.
    made_zone_changes(&story_zone, "2023-11-16 01:00", 120);
    made_zone_changes(&story_zone, "2023-11-17 01:00", 60);
    has_in_file(t, "30 2 * * *", .timezone = "Made", .missed = SCHEDULE_MISSED_ALL);
    passes(t, 4 * DAY);
    does(t, "2023-11-15 01:30,2023-11-16 01:00,2023-11-17 00:30,2023-11-18 01:30");
    counts_are(t, "fired 4");
}

static void a_missed_gap_submits_one_job(void **state)
{
    struct story *t = *state;

    made_zone_changes(&story_zone, "2023-11-16 01:00", 120);
    has_in_file(t, "*/10 2 * * *", .timezone = "Made", .missed = SCHEDULE_MISSED_ALL);
    clock_steps(t, moment("2023-11-16 12:00") - t->stage->now.wall);
    does(t, "2023-11-15 01:00,2023-11-15 01:10,2023-11-15 01:20,2023-11-15 01:30,2023-11-15 01:40,"
            "2023-11-15 01:50,2023-11-16 01:00");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TALE(a_clock_that_goes_back_makes_no_moment_happen_twice),
        TALE(a_clock_that_goes_back_is_logged_once_with_the_end_of_the_silence),
        TALE(a_replanned_schedule_follows_the_clock_that_was_set_back),
        TALE(a_replan_without_room_in_the_store_changes_nothing),
        TALE(a_moment_that_was_refused_waits_for_a_clock_that_goes_back),
        TALE(a_clock_that_goes_ahead_makes_moments_missed),
        TALE(a_clock_set_forward_and_back_repeats_no_moment),
        TALE(a_step_is_seen_within_a_second),
        TALE(a_new_schedule_has_no_missed_moments),
        TALE(a_schedule_with_new_moments_has_no_missed_moments),
        TALE(other_changes_do_not_affect_moments),
        TALE(a_moment_in_a_gap_of_its_zone_happens_at_the_end_of_the_gap),
        TALE(a_missed_gap_submits_one_job),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
