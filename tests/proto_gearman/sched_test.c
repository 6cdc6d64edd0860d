/* SPDX-License-Identifier: MIT */

// SUBMIT_JOB_SCHED: a background job that starts once, at the next minute that matches its fields
// in local time: minute, hour, day of month, month, day of week (0 is Monday).

#include "tests/proto_gearman/wire_gear.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

// Central Europe: clocks go from 2:00 to 3:00 on the last Sunday in March, back from 3:00 to 2:00
// on the last one in October.
#define BERLIN "CET-1CEST,M3.5.0,M10.5.0/3"

#define SCHED(...) REQ(SUBMIT_JOB_SCHED, "f", "", __VA_ARGS__, "x")
#define NO_SUCH_MOMENT RES(ERROR, "INVALID_ARGUMENT", "Not a moment at which the job could start")

static int local_time(void **state, const char *zone)
{
    assert_int_equal(setenv("TZ", zone, 1), 0);
    tzset();
    return gear_setup(state);
}

static int in_utc(void **state)
{
    return local_time(state, "UTC0");
}

static int in_berlin(void **state)
{
    return local_time(state, BERLIN);
}

static int in_nepal(void **state)
{
    return local_time(state, "<+0545>-5:45");
}

static int teardown(void **state)
{
    assert_int_equal(unsetenv("TZ"), 0);
    tzset();
    return gear_teardown(state);
}

// The moment of UTC, as seconds since 1970.
static nsec_t seconds_at(const char *moment)
{
    static const int days[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
    int year = (int)strtol(moment, NULL, 10), month = (int)strtol(moment + 5, NULL, 10);
    int day = (int)strtol(moment + 8, NULL, 10), hour = (int)strtol(moment + 11, NULL, 10);
    int minute = (int)strtol(moment + 14, NULL, 10);
    int leaps = (year - (month < 3) - 1968) / 4 - (year - (month < 3) > 2099);
    nsec_t date = (nsec_t)(year - 1970) * 365 + leaps + days[month - 1] + day - 1;

    return (date * 24 + hour) * 3600 + minute * 60;
}

// Sets the wall clock to the moment.
static void it_is(struct gear *t, const char *moment)
{
    rig_set_clock(t->rig, SECONDS(seconds_at(moment)) - broker_now(rig_broker(t->rig)).wall);
}

// Checks that a job submitted now starts at that moment, as YYYY-MM-DD HH:MM of UTC.
static void starts_at_line(struct gear *t, struct slice submission, const char *moment,
                           const char *file, int line)
{
    uint64_t id = gear_submits_at(t->a, submission, file, line);
    struct job_info job = gear_job(t, id);
    nsec_t start = broker_now(rig_broker(t->rig)).wall + job.remaining_for;

    if (job.state != JOB_DELAYED || start != SECONDS(seconds_at(moment))) {
        time_t is = (time_t)(start / NSEC_PER_SEC);
        char text[64];
        struct tm tm;

        (void)strftime(text, sizeof text, "%F %T", gmtime_r(&is, &tm));
        print_error("starts at %s, expected %s\n", text, moment);
        _fail(file, line);
    }
}

#define starts_at(t, submission, moment)                                                           \
    starts_at_line((t), (submission), (moment), __FILE__, __LINE__)

static void the_calendar_of_this_test_is_right(void **state)
{
    (void)state;
    assert_int_equal(seconds_at("1970-01-01 00:00"), 0);
    assert_int_equal(seconds_at("2000-02-29 00:00"), 951782400);
    assert_int_equal(seconds_at("2000-03-01 00:00"), 951868800);
    assert_int_equal(seconds_at("2023-11-14 22:13"), 1699999980);
    assert_int_equal(seconds_at("2024-12-31 23:59"), 1735689540);
    assert_int_equal(seconds_at("2100-03-01 00:00"), 4107542400);
}

static void a_job_starts_at_its_minute(void **state)
{
    struct gear *t = *state;

    gear_submits(t->a, SCHED("15", "22", "14", "11", "1"));
    assert_true(gear_job(t, 1).durable);
    gear_says(t->b, MANY(REQ(CAN_DO, "f"), REQ(PRE_SLEEP)), NOTHING);
    rig_advance(t->rig, SECONDS(100) - 1);
    gear_hears(t->b, NOTHING);
    rig_advance(t->rig, 1);
    gear_hears(t->b, RES(NOOP));
    gear_grabs(t->b, "f", "x");
    gear_says(t->b, REQ(WORK_COMPLETE, H(1), ""), NOTHING);
    rig_advance(t->rig, SECONDS(8 * 86400));
    jobs_are(t, "f", JOB_READY, 0);
}

static void each_field_counts(void **state)
{
    struct gear *t = *state;

    // It is a Tuesday, 2023-11-14 22:13:20.
    starts_at(t, SCHED("30", "*", "*", "*", "*"), "2023-11-14 22:30");
    starts_at(t, SCHED("5", "*", "*", "*", "*"), "2023-11-14 23:05");
    starts_at(t, SCHED("*", "23", "*", "*", "*"), "2023-11-14 23:00");
    starts_at(t, SCHED("*", "3", "*", "*", "*"), "2023-11-15 03:00");
    starts_at(t, SCHED("*", "*", "20", "*", "*"), "2023-11-20 00:00");
    starts_at(t, SCHED("*", "*", "3", "*", "*"), "2023-12-03 00:00");
    starts_at(t, SCHED("*", "*", "*", "12", "*"), "2023-12-01 00:00");
    starts_at(t, SCHED("*", "*", "*", "2", "*"), "2024-02-01 00:00");
    starts_at(t, SCHED("59", "23", "31", "12", "*"), "2023-12-31 23:59");
}

static void a_field_that_is_empty_or_a_star_matches_all(void **state)
{
    struct gear *t = *state;

    starts_at(t, SCHED("*", "*", "*", "*", "*"), "2023-11-14 22:14");
    starts_at(t, SCHED("", "", "", "", ""), "2023-11-14 22:14");
    starts_at(t, SCHED("", "", "", "*", "6"), "2023-11-19 00:00");
}

static void a_field_that_matches_now_matches_later_first(void **state)
{
    struct gear *t = *state;

    starts_at(t, SCHED("13", "*", "*", "*", "*"), "2023-11-14 23:13");
    starts_at(t, SCHED("*", "22", "*", "*", "*"), "2023-11-14 22:14");
    starts_at(t, SCHED("13", "22", "*", "*", "*"), "2023-11-15 22:13");
    starts_at(t, SCHED("*", "*", "14", "11", "*"), "2023-11-14 22:14");
    starts_at(t, SCHED("13", "22", "14", "11", "*"), "2024-11-14 22:13");
}

static void day_0_of_the_week_is_monday(void **state)
{
    static const char *const days[] = {"2023-11-20 00:00", "2023-11-14 22:14", "2023-11-15 00:00",
                                       "2023-11-16 00:00", "2023-11-17 00:00", "2023-11-18 00:00",
                                       "2023-11-19 00:00"};
    struct gear *t = *state;

    for (size_t i = 0; i < sizeof days / sizeof *days; i++) {
        const char day[] = {(char)('0' + i), '\0'};

        starts_at(t, SCHED("*", "*", "*", "*", day), days[i]);
    }
}

static void both_days_must_match(void **state)
{
    struct gear *t = *state;

    // Friday the 13th; the 29th of February on a Monday; the same, with the year 2100 in between.
    starts_at(t, SCHED("0", "0", "13", "*", "4"), "2024-09-13 00:00");
    starts_at(t, SCHED("0", "0", "29", "2", "0"), "2044-02-29 00:00");
    it_is(t, "2073-01-01 00:00");
    starts_at(t, SCHED("0", "0", "29", "2", "0"), "2112-02-29 00:00");
}

static void a_day_that_not_every_month_has_is_waited_for(void **state)
{
    struct gear *t = *state;

    starts_at(t, SCHED("0", "0", "31", "*", "*"), "2023-12-31 00:00");
    starts_at(t, SCHED("0", "0", "29", "2", "*"), "2024-02-29 00:00");
    it_is(t, "2024-02-29 00:00");
    starts_at(t, SCHED("0", "0", "29", "2", "*"), "2028-02-29 00:00");
    it_is(t, "2024-01-31 00:00");
    starts_at(t, SCHED("0", "0", "31", "*", "*"), "2024-03-31 00:00");
}

static void a_year_ends(void **state)
{
    struct gear *t = *state;

    it_is(t, "2023-12-31 23:59");
    starts_at(t, SCHED("*", "*", "*", "*", "*"), "2024-01-01 00:00");
    starts_at(t, SCHED("59", "23", "31", "12", "*"), "2024-12-31 23:59");
    starts_at(t, SCHED("0", "0", "1", "1", "*"), "2024-01-01 00:00");
}

static void a_date_that_never_comes_is_refused(void **state)
{
    static const char *const dates[][2] = {{"30", "2"}, {"31", "2"}, {"31", "4"},
                                           {"31", "6"}, {"31", "9"}, {"31", "11"}};
    struct gear *t = *state;

    for (size_t i = 0; i < sizeof dates / sizeof *dates; i++) {
        gear_says(t->a, SCHED("*", "*", dates[i][0], dates[i][1], "*"), NO_SUCH_MOMENT);
        gear_says(t->a, SCHED("0", "0", dates[i][0], dates[i][1], "0"), NO_SUCH_MOMENT);
    }
    assert_null(broker_queue_find(rig_broker(t->rig), SLICE("f")));
}

static void a_field_beyond_its_range_is_refused(void **state)
{
    struct gear *t = *state;

    gear_says(t->a, SCHED("60", "*", "*", "*", "*"), NO_SUCH_MOMENT);
    gear_says(t->a, SCHED("*", "24", "*", "*", "*"), NO_SUCH_MOMENT);
    gear_says(t->a, SCHED("*", "*", "0", "*", "*"), NO_SUCH_MOMENT);
    gear_says(t->a, SCHED("*", "*", "32", "*", "*"), NO_SUCH_MOMENT);
    gear_says(t->a, SCHED("*", "*", "*", "0", "*"), NO_SUCH_MOMENT);
    gear_says(t->a, SCHED("*", "*", "*", "13", "*"), NO_SUCH_MOMENT);
    gear_says(t->a, SCHED("*", "*", "*", "*", "7"), NO_SUCH_MOMENT);
    starts_at(t, SCHED("0", "0", "1", "1", "*"), "2024-01-01 00:00");
    starts_at(t, SCHED("59", "23", "31", "12", "6"), "2023-12-31 23:59");
}

static void a_field_is_a_plain_number(void **state)
{
    static const char *const fields[] = {"-1",  "+1",  " 1",  "1 ",         "1.0",
                                         "1,2", "1-2", "*/5", "**",         "a",
                                         "mon", "0x1", "256", "4294967297", "18446744073709551617"};
    struct gear *t = *state;

    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        gear_says(t->a, SCHED(fields[i], "*", "*", "*", "*"), NO_SUCH_MOMENT);
        gear_says(t->a, SCHED("*", fields[i], "*", "*", "*"), NO_SUCH_MOMENT);
        gear_says(t->a, SCHED("*", "*", fields[i], "*", "*"), NO_SUCH_MOMENT);
        gear_says(t->a, SCHED("*", "*", "*", fields[i], "*"), NO_SUCH_MOMENT);
        gear_says(t->a, SCHED("*", "*", "*", "*", fields[i]), NO_SUCH_MOMENT);
    }
    starts_at(t, SCHED("05", "03", "01", "002", "*"), "2024-02-01 03:05");
}

static void local_time_counts(void **state)
{
    struct gear *t = *state;

    // It is 23:13:20 there.
    starts_at(t, SCHED("0", "8", "*", "*", "*"), "2023-11-15 07:00");
    starts_at(t, SCHED("0", "0", "*", "*", "1"), "2023-11-20 23:00");
    starts_at(t, SCHED("0", "12", "1", "7", "*"), "2024-07-01 10:00");
    starts_at(t, SCHED("0", "0", "1", "7", "*"), "2024-06-30 22:00");
    starts_at(t, SCHED("59", "23", "30", "6", "*"), "2024-06-30 21:59");
}

static void local_time_may_differ_by_minutes(void **state)
{
    struct gear *t = *state;

    // It is 03:58:20 on the next day there.
    starts_at(t, SCHED("0", "*", "*", "*", "*"), "2023-11-14 22:15");
    starts_at(t, SCHED("30", "8", "*", "*", "*"), "2023-11-15 02:45");
    starts_at(t, SCHED("*", "*", "15", "*", "*"), "2023-11-14 22:14");
}

static void a_minute_in_a_gap_does_not_match(void **state)
{
    struct gear *t = *state;

    it_is(t, "2024-03-30 12:00");
    starts_at(t, SCHED("30", "2", "31", "3", "*"), "2025-03-31 00:30");
    starts_at(t, SCHED("30", "2", "*", "*", "*"), "2024-04-01 00:30");
    starts_at(t, SCHED("30", "1", "31", "3", "*"), "2024-03-31 00:30");
    starts_at(t, SCHED("0", "3", "31", "3", "*"), "2024-03-31 01:00");
    starts_at(t, SCHED("*", "3", "*", "*", "6"), "2024-03-31 01:00");
    it_is(t, "2024-03-31 00:59");
    starts_at(t, SCHED("*", "*", "*", "*", "*"), "2024-03-31 01:00");
}

static void of_a_minute_that_comes_twice_the_next_matches(void **state)
{
    struct gear *t = *state;

    it_is(t, "2024-10-26 12:00");
    starts_at(t, SCHED("30", "2", "*", "*", "*"), "2024-10-27 00:30");
    it_is(t, "2024-10-27 00:30");
    starts_at(t, SCHED("30", "2", "*", "*", "*"), "2024-10-27 01:30");
    it_is(t, "2024-10-27 01:30");
    starts_at(t, SCHED("30", "2", "*", "*", "*"), "2024-10-28 01:30");
}

static void a_unique_makes_schedules_join(void **state)
{
    struct gear *t = *state;

    starts_at(t, REQ(SUBMIT_JOB_SCHED, "f", "u", "0", "8", "*", "*", "*", "x"), "2023-11-15 08:00");
    starts_at(t, REQ(SUBMIT_JOB_SCHED, "f", "u", "0", "7", "*", "*", "*", "y"), "2023-11-15 07:00");
    jobs_are(t, "f", JOB_DELAYED, 1);
}

#define IN(zone, test) cmocka_unit_test_setup_teardown(test, in_##zone, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_calendar_of_this_test_is_right),
        IN(utc, a_job_starts_at_its_minute),
        IN(utc, each_field_counts),
        IN(utc, a_field_that_is_empty_or_a_star_matches_all),
        IN(utc, a_field_that_matches_now_matches_later_first),
        IN(utc, day_0_of_the_week_is_monday),
        IN(utc, both_days_must_match),
        IN(utc, a_day_that_not_every_month_has_is_waited_for),
        IN(utc, a_year_ends),
        IN(utc, a_date_that_never_comes_is_refused),
        IN(utc, a_field_beyond_its_range_is_refused),
        IN(utc, a_field_is_a_plain_number),
        IN(berlin, local_time_counts),
        IN(nepal, local_time_may_differ_by_minutes),
        IN(berlin, a_minute_in_a_gap_does_not_match),
        IN(berlin, of_a_minute_that_comes_twice_the_next_matches),
        IN(utc, a_unique_makes_schedules_join),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
