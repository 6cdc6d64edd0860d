/* SPDX-License-Identifier: MIT */

// The memos of schedules, about definitions made at run time and about moments, after restarts.

#include "tests/schedule/story.h"

#include <string.h>

#define DAY SEC(86400)
#define HOUR SEC(3600)

static void a_restart_makes_no_moment_happen_twice(void **state)
{
    struct story *t = *state;

    has_in_file(t, "@hourly", .missed = SCHEDULE_MISSED_ALL);
    passes(t, HOUR);
    does(t, "2023-11-14 23:00");
    restarts(t, SEC(1));
    has_in_file(t, "@hourly", .missed = SCHEDULE_MISSED_ALL);
    passes(t, HOUR);
    does(t, "2023-11-15 00:00");
}

static void moments_while_the_process_was_down_are_missed(void **state)
{
    static const struct {
        enum schedule_missed missed;
        const char *jobs;
    } rules[] = {
        {SCHEDULE_MISSED_SKIP, ""},
        {SCHEDULE_MISSED_ONCE, "2023-11-15 01:00"},
        {SCHEDULE_MISSED_ALL, "2023-11-14 23:00,2023-11-15 00:00,2023-11-15 01:00"},
    };

    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        void *own = NULL;

        (void)state;
        (void)story_setup(&own);
        struct story *t = own;
        // A schedule that had not fired before.
        has_in_file(t, "@hourly", .missed = rules[i].missed);
        restarts(t, 3 * HOUR);
        has_in_file(t, "@hourly", .missed = rules[i].missed);
        works(t);
        does(t, rules[i].jobs);
        (void)story_teardown(&own);
    }
}

static void a_skipped_moment_stays_skipped_after_a_restart(void **state)
{
    struct story *t = *state;

    has_in_file(t, "@hourly", .overlap = SCHEDULE_OVERLAP_SKIP);
    passes(t, 2 * HOUR);
    counts_are(t, "fired 1 overlapped 1");
    restarts(t, SEC(1));
    has_in_file(t, "@hourly", .missed = SCHEDULE_MISSED_ALL);
    works(t);
    does(t, "2023-11-14 23:00");
}

static void a_job_whose_memo_was_lost_is_not_submitted_again(void **state)
{
    static const enum schedule_missed rules[] = {SCHEDULE_MISSED_SKIP, SCHEDULE_MISSED_ONCE,
                                                 SCHEDULE_MISSED_ALL};

    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        void *own = NULL;

        (void)state;
        (void)story_setup(&own);
        struct story *t = own;
        has_in_file(t, "@hourly", .missed = rules[i]);
        passes_until(t, "2023-11-14 22:59:59");
        story_snapshot(t);
        passes(t, SEC(1));
        restarts_torn(t, SEC(5));
        has_in_file(t, "@hourly", .missed = rules[i]);
        works(t);
        does(t, "2023-11-14 23:00");
        passes(t, HOUR);
        does(t, "2023-11-15 00:00");
        (void)story_teardown(&own);
    }
}

static void the_last_job_is_known_after_a_restart(void **state)
{
    struct story *t = *state;

    has_in_file(t, "@hourly", .overlap = SCHEDULE_OVERLAP_SKIP);
    passes(t, HOUR);
    restarts(t, SEC(1));
    has_in_file(t, "@hourly", .overlap = SCHEDULE_OVERLAP_SKIP);
    assert_int_equal(story_info(t, "n").fired_at, moment("2023-11-14 23:00"));
    passes(t, HOUR);
    does(t, "2023-11-14 23:00");
    counts_are(t, "overlapped 1");
}

static void a_schedule_with_new_moments_after_a_restart_has_no_missed_moments(void **state)
{
    struct story *t = *state;

    has_in_file(t, "@daily", .missed = SCHEDULE_MISSED_ALL);
    restarts(t, 5 * HOUR);
    has_in_file(t, "@hourly", .missed = SCHEDULE_MISSED_ALL);
    works(t);
    does(t, "");
    passes(t, HOUR);
    does(t, "2023-11-15 04:00");
}

static void a_wall_clock_that_is_behind_after_a_restart_repeats_nothing(void **state)
{
    struct story *t = *state;

    has_in_file(t, "@hourly", .missed = SCHEDULE_MISSED_ALL);
    passes(t, 2 * HOUR);
    does(t, "2023-11-14 23:00,2023-11-15 00:00");
    restarts(t, -DAY);
    has_in_file(t, "@hourly", .missed = SCHEDULE_MISSED_ALL);
    passes(t, DAY);
    does(t, "");
    passes(t, HOUR);
    does(t, "2023-11-15 01:00");
}

static void a_schedule_made_at_run_time_is_stored(void **state)
{
    struct story *t = *state;
    struct schedule_info info;

    puts_schedule(t, "5 0 * * *", .name = "night", .timezone = "Made", .queue = "r",
                  .body = "sweep", .pri = 3, .ttr_for = SEC(60), .missed = SCHEDULE_MISSED_ONCE,
                  .overlap = SCHEDULE_OVERLAP_SKIP);
    restarts(t, DAY);
    info = story_info(t, "night");
    assert_true(info.at_run_time);
    assert_false(info.in_file);
    assert_true(slice_equal(info.spec->cron, SLICE("5 0 * * *")));
    assert_true(slice_equal(info.spec->timezone, SLICE("Made")));
    assert_true(slice_equal(info.spec->queue, SLICE("r")));
    assert_true(slice_equal(info.spec->body, SLICE("sweep")));
    assert_int_equal(info.spec->pri, 3);
    assert_int_equal(info.spec->ttr_for, SEC(60));
    assert_int_equal(info.spec->missed, SCHEDULE_MISSED_ONCE);
    assert_int_equal(info.spec->overlap, SCHEDULE_OVERLAP_SKIP);
    works(t);
    does_at_line(t, "r", "night@2023-11-14 23:05", __FILE__, __LINE__);
}

static void a_definition_made_at_run_time_overrides_the_file(void **state)
{
    struct story *t = *state;

    has_in_file(t, "@hourly", .queue = "q");
    puts_schedule(t, "30 * * * *", .queue = "r");
    assert_true(story_info(t, "n").in_file);
    passes(t, HOUR);
    does(t, "");
    does_at_line(t, "r", "2023-11-14 22:30", __FILE__, __LINE__);
    has_in_file(t, "15 * * * *", .queue = "q");
    assert_int_equal(story_info(t, "n").next_at, moment("2023-11-14 23:30"));
    restarts(t, SEC(1));
    has_in_file(t, "15 * * * *", .queue = "q");
    assert_int_equal(story_info(t, "n").next_at, moment("2023-11-14 23:30"));
    // After it is removed, the file's definition holds again.
    assert_status(STATUS_OK, schedules_remove(t->schedules, SLICE("n")));
    assert_int_equal(story_info(t, "n").next_at, moment("2023-11-14 23:15"));
    assert_status(STATUS_IN_USE, schedules_remove(t->schedules, SLICE("n")));
    has_nothing_in_file(t);
    assert_status(STATUS_NOT_FOUND, schedules_remove(t->schedules, SLICE("n")));
}

static void a_schedule_that_leaves_the_file_stays_if_it_was_made_at_run_time(void **state)
{
    struct story *t = *state;

    has_in_file(t, "@hourly");
    puts_schedule(t, "30 * * * *");
    has_nothing_in_file(t);
    assert_false(story_info(t, "n").in_file);
    assert_int_equal(story_info(t, "n").next_at, moment("2023-11-14 22:30"));
}

static void the_memo_of_a_schedule_that_ends_is_deleted(void **state)
{
    struct story *t = *state;

    puts_schedule(t, "@hourly");
    assert_non_null(broker_memo_find(t->stage->broker, MEMO_FIRED, SLICE("n")));
    assert_status(STATUS_OK, schedules_remove(t->schedules, SLICE("n")));
    assert_null(broker_memo_find(t->stage->broker, MEMO_FIRED, SLICE("n")));
    assert_null(broker_memo_find(t->stage->broker, MEMO_SCHEDULE, SLICE("n")));
    // This is also done if the schedule ended while no broker ran.
    has_in_file(t, "@hourly");
    restarts(t, SEC(1));
    assert_non_null(broker_memo_find(t->stage->broker, MEMO_FIRED, SLICE("n")));
    has_nothing_in_file(t);
    assert_null(broker_memo_find(t->stage->broker, MEMO_FIRED, SLICE("n")));
}

static void a_stored_contradiction_is_read_as_missed_once(void **state)
{
    struct story *t = *state;
    const struct memo *memo;
    uint64_t cursor = 0;
    char value[256];

    // An earlier version could store this pair. The third byte is `overlap` (schedule/memo.c).
    puts_schedule(t, "@hourly", .missed = SCHEDULE_MISSED_ALL);
    memo = broker_memo_next(t->stage->broker, MEMO_SCHEDULE, &cursor);
    assert_non_null(memo);
    assert_in_range(memo->value.len, 3, sizeof value);
    memcpy(value, memo->value.ptr, memo->value.len);
    value[2] = SCHEDULE_OVERLAP_SKIP;
    assert_status(
        STATUS_OK,
        broker_memo_set(t->stage->broker, &(struct memo){.kind = memo->kind,
                                                         .key = memo->key,
                                                         .value = slice_of(value, memo->value.len),
                                                         .until_at = memo->until_at}));
    restarts(t, SEC(1));
    assert_int_equal(story_info(t, "n").spec->missed, SCHEDULE_MISSED_ONCE);
    assert_int_equal(story_info(t, "n").spec->overlap, SCHEDULE_OVERLAP_SKIP);
}

static void an_invalid_spec_is_refused(void **state)
{
    static const struct {
        struct sketch sketch;
        const char *why;
    } wrong[] = {
        {{.cron = "@hourly", .name = ""}, "name: has 1 to 64 letters, digits, dots, _ and -"},
        {{.cron = "@hourly", .name = "a@b"}, "name: has 1 to 64 letters, digits, dots, _ and -"},
        {{.cron = ""}, "cron: has 1 to 256 bytes"},
        {{.cron = "@daily", .missed = SCHEDULE_MISSED_ALL, .overlap = SCHEDULE_OVERLAP_SKIP},
         "missed: `all` and `overlap = skip` contradict each other: the job of the first missed "
         "moment is not done when the next one comes"},
        {{.cron = "0 25 * * *"}, "cron: hour: `25` is not between 0 and 23"},
        {{.cron = "@hourly", .timezone = "Nowhere"},
         "timezone: this machine has no such zone; use a name of the zone database, such as "
         "Europe/Berlin, Etc/GMT-1 or UTC"},
        {{.cron = "@hourly", .queue = ""}, "queue: has 1 to 512 bytes, none of them NUL"},
    };
    struct story *t = *state;

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct schedule_spec spec = story_spec(&wrong[i].sketch);
        struct error_text why = {""}, put_why = {""}, adopt_why = {""};

        if (schedule_name_valid(spec.name)) {
            assert_false(schedule_check(&spec, &story_zones, &why));
            assert_string_equal(why.text, wrong[i].why);
        }
        assert_status(STATUS_BAD_NAME, schedules_put(t->schedules, &spec, &put_why));
        assert_string_equal(put_why.text, wrong[i].why);
        assert_false(schedules_adopt(t->schedules, &spec, 1, &adopt_why));
        assert_string_equal(adopt_why.text, wrong[i].why);
    }
    assert_int_equal(schedules_count(t->schedules), 0);
    assert_int_equal(story_zones_open, 0);
}

static void texts_that_are_too_long_are_refused(void **state)
{
    static char text[SCHEDULE_BODY_MAX + 1];
    struct story *t = *state;
    struct error_text why;
    const struct schedule_spec good = story_spec(SKETCH("@hourly"));
    struct schedule_spec spec = good;

    memset(text, 'a', sizeof text);
    spec.body = slice_of(text, SCHEDULE_BODY_MAX);
    assert_true(schedule_check(&spec, &story_zones, &why));
    spec.body.len++;
    assert_status(STATUS_BAD_NAME, schedules_put(t->schedules, &spec, &why));
    assert_string_equal(why.text, "body: has at most 65535 bytes");
    spec = good;
    spec.name = slice_of(text, SCHEDULE_NAME_MAX);
    assert_true(schedule_name_valid(spec.name));
    spec.name.len++;
    assert_false(schedule_name_valid(spec.name));
    spec = good;
    spec.queue = slice_of(text, QUEUE_NAME_MAX + 1);
    assert_false(schedule_check(&spec, &story_zones, &why));
    spec = good;
    spec.timezone = slice_of(text, SCHEDULE_ZONE_MAX + 1);
    assert_false(schedule_check(&spec, &story_zones, &why));
    assert_string_equal(why.text, "timezone: has at most 64 bytes");
    spec = good;
    spec.cron = slice_of(text, SCHEDULE_CRON_MAX + 1);
    assert_false(schedule_check(&spec, &story_zones, &why));
}

static void there_may_be_a_thousand(void **state)
{
    struct story *t = *state;
    struct schedule_spec spec = story_spec(SKETCH("@hourly"));
    struct error_text why;
    char name[16];

    for (int i = 0; i < SCHEDULES_MAX; i++) {
        spec.name = slice_of(name, (size_t)snprintf(name, sizeof name, "s%d", i));
        assert_status(STATUS_OK, schedules_put(t->schedules, &spec, &why));
    }
    spec.name = SLICE("one more");
    assert_status(STATUS_BAD_NAME, schedules_put(t->schedules, &spec, &why));
    spec.name = SLICE("one-more");
    assert_status(STATUS_TOO_LARGE, schedules_put(t->schedules, &spec, &why));
    assert_false(schedules_adopt(t->schedules, &spec, 1, &why));
    assert_string_equal(why.text, "no room for more schedules");
    spec.name = SLICE("s7");
    assert_status(STATUS_OK, schedules_put(t->schedules, &spec, &why));
    assert_int_equal(schedules_count(t->schedules), SCHEDULES_MAX);
}

static void schedules_are_listed_by_name(void **state)
{
    struct story *t = *state;
    struct schedule_info info;

    puts_schedule(t, "@hourly", .name = "b");
    puts_schedule(t, "@hourly", .name = "a");
    puts_schedule(t, "@hourly", .name = "b.2");
    assert_true(schedules_next(t->schedules, SLICE(""), &info));
    assert_true(slice_equal(info.spec->name, SLICE("a")));
    assert_true(schedules_next(t->schedules, SLICE("a"), &info));
    assert_true(slice_equal(info.spec->name, SLICE("b")));
    assert_true(schedules_next(t->schedules, SLICE("b"), &info));
    assert_true(slice_equal(info.spec->name, SLICE("b.2")));
    assert_false(schedules_next(t->schedules, SLICE("b.2"), &info));
}

static void an_invalid_memo_is_ignored(void **state)
{
    static const char *const values[] = {"", "\1", "\2rest", "\1\0\0\0\0\0\0\0\0\0\0\377\0\0\0"};
    struct story *t = *state;

    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        struct memo memo = {.kind = MEMO_SCHEDULE,
                            .key = SLICE("x"),
                            .until_at = NSEC_NEVER,
                            .value = slice_of(values[i], i == 3 ? 15 : strlen(values[i]))};

        assert_status(STATUS_OK, broker_memo_set(t->stage->broker, &memo));
        memo.kind = MEMO_FIRED;
        memo.key = SLICE("n");
        assert_status(STATUS_OK, broker_memo_set(t->stage->broker, &memo));
        restarts(t, SEC(1));
        assert_int_equal(schedules_count(t->schedules), 0);
        has_in_file(t, "@hourly");
        assert_int_equal(story_info(t, "n").next_at, moment("2023-11-14 23:00"));
    }
}

static void a_moment_is_written_as_a_date_and_a_time(void **state)
{
    char text[SCHEDULE_MOMENT_MAX];

    (void)state;
    assert_true(slice_equal(schedule_moment_text(0, text), SLICE("1970-01-01T00:00:00Z")));
    assert_true(slice_equal(schedule_moment_text(moment("2024-02-29 23:59:58"), text),
                            SLICE("2024-02-29T23:59:58Z")));
    assert_true(slice_equal(schedule_moment_text(NSEC_NEVER, text), SLICE("2262-04-11T23:47:16Z")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TALE(a_restart_makes_no_moment_happen_twice),
        cmocka_unit_test(moments_while_the_process_was_down_are_missed),
        TALE(a_skipped_moment_stays_skipped_after_a_restart),
        cmocka_unit_test(a_job_whose_memo_was_lost_is_not_submitted_again),
        TALE(the_last_job_is_known_after_a_restart),
        TALE(a_schedule_with_new_moments_after_a_restart_has_no_missed_moments),
        TALE(a_wall_clock_that_is_behind_after_a_restart_repeats_nothing),
        TALE(a_schedule_made_at_run_time_is_stored),
        TALE(a_definition_made_at_run_time_overrides_the_file),
        TALE(a_schedule_that_leaves_the_file_stays_if_it_was_made_at_run_time),
        TALE(the_memo_of_a_schedule_that_ends_is_deleted),
        TALE(a_stored_contradiction_is_read_as_missed_once),
        TALE(an_invalid_spec_is_refused),
        TALE(texts_that_are_too_long_are_refused),
        TALE(there_may_be_a_thousand),
        TALE(schedules_are_listed_by_name),
        TALE(an_invalid_memo_is_ignored),
        TALE(a_moment_is_written_as_a_date_and_a_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
