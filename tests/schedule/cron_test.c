/* SPDX-License-Identifier: MIT */

// The syntax of cron expressions, and the moments that match in a zone whose clocks are never set.

#include "tests/schedule/moments.h"
#include "tests/support/with_cmocka.h"

#include <stddef.h>
#include <stdint.h>

#include <string.h>

// A Tuesday.
#define NOW "2023-11-14 22:13:20"

#define in_utc(cron, expected) comes(cron, &zone_utc, NOW, expected)

static void refused_at_line(const char *text, const char *reason, const char *file, int line)
{
    struct error_text why = {""};
    struct cron cron;

    if (cron_parse(slice_str(text), &cron, &why) || strcmp(why.text, reason) != 0) {
        print_error("\"%s\" is refused for \"%s\", expected \"%s\"\n", text, why.text, reason);
        _fail(file, line);
    }
}

#define refused(text, reason) refused_at_line(text, reason, __FILE__, __LINE__)

static void each_field_counts(void **state)
{
    (void)state;
    in_utc("* * * * *", "2023-11-14 22:14,2023-11-14 22:15");
    in_utc("30 * * * *", "2023-11-14 22:30,2023-11-14 23:30");
    in_utc("5 * * * *", "2023-11-14 23:05,2023-11-15 00:05");
    in_utc("0 3 * * *", "2023-11-15 03:00,2023-11-16 03:00");
    in_utc("* 23 * * *", "2023-11-14 23:00,2023-11-14 23:01");
    in_utc("0 0 20 * *", "2023-11-20 00:00,2023-12-20 00:00");
    in_utc("0 0 1 2 *", "2024-02-01 00:00,2025-02-01 00:00");
    in_utc("0 0 * * 3", "2023-11-15 00:00,2023-11-22 00:00");
    in_utc("59 23 31 12 *", "2023-12-31 23:59,2024-12-31 23:59");
}

static void a_moment_comes_after_the_one_that_is_given(void **state)
{
    (void)state;
    comes("13 22 * * *", &zone_utc, "2023-11-14 22:12:59", "2023-11-14 22:13,2023-11-15 22:13");
    comes("13 22 * * *", &zone_utc, "2023-11-14 22:13", "2023-11-15 22:13");
    comes("* * * * *", &zone_utc, "2023-12-31 23:59:59", "2024-01-01 00:00");
}

static void fields_have_lists_ranges_and_steps(void **state)
{
    (void)state;
    in_utc("5,10,40 * * * *", "2023-11-14 22:40,2023-11-14 23:05,2023-11-14 23:10");
    in_utc("0 1-3 * * *", "2023-11-15 01:00,2023-11-15 02:00,2023-11-15 03:00,2023-11-16 01:00");
    in_utc("*/20 * * * *", "2023-11-14 22:20,2023-11-14 22:40,2023-11-14 23:00");
    in_utc("10-40/15,59 * * * *", "2023-11-14 22:25,2023-11-14 22:40,2023-11-14 22:59");
    in_utc("0 */7 * * *", "2023-11-15 00:00,2023-11-15 07:00,2023-11-15 14:00,2023-11-15 21:00");
    in_utc("0 0 1-31/10 * *", "2023-11-21 00:00,2023-12-01 00:00,2023-12-11 00:00");
    in_utc("*/99 * * * *", "2023-11-14 23:00");
    in_utc("\t 0   12\t* * *  ", "2023-11-15 12:00");
}

static void months_and_days_of_the_week_have_names(void **state)
{
    (void)state;
    in_utc("0 0 1 jan *", "2024-01-01 00:00");
    in_utc("0 0 1 MAR,Dec *", "2023-12-01 00:00,2024-03-01 00:00");
    in_utc("0 0 1 jun-aug *",
           "2024-06-01 00:00,2024-07-01 00:00,2024-08-01 00:00,2025-06-01 00:00");
    in_utc("0 0 * * fri", "2023-11-17 00:00");
    in_utc("0 0 * * mon-fri/2", "2023-11-15 00:00,2023-11-17 00:00,2023-11-20 00:00");
    in_utc("0 0 * * sat,sun", "2023-11-18 00:00,2023-11-19 00:00,2023-11-25 00:00");
    in_utc("0 0 * * fri-sun",
           "2023-11-17 00:00,2023-11-18 00:00,2023-11-19 00:00,2023-11-24 00:00");
}

static void sunday_is_0_and_7(void **state)
{
    (void)state;
    in_utc("0 0 * * 0", "2023-11-19 00:00,2023-11-26 00:00");
    in_utc("0 0 * * 7", "2023-11-19 00:00,2023-11-26 00:00");
    in_utc("0 0 * * 5-7", "2023-11-17 00:00,2023-11-18 00:00,2023-11-19 00:00,2023-11-24 00:00");
    in_utc("0 0 * * 0-1", "2023-11-19 00:00,2023-11-20 00:00,2023-11-26 00:00");
}

static void either_day_matches_if_both_are_given(void **state)
{
    (void)state;
    in_utc("0 0 13 * fri", "2023-11-17 00:00,2023-11-24 00:00,2023-12-01 00:00,2023-12-08 00:00,"
                           "2023-12-13 00:00,2023-12-15 00:00");
    in_utc("0 0 31 2 mon", "2024-02-05 00:00,2024-02-12 00:00");
}

static void both_days_must_match_if_one_begins_with_a_star(void **state)
{
    (void)state;
    in_utc("0 0 */2 * fri", "2023-11-17 00:00,2023-12-01 00:00,2023-12-15 00:00,2023-12-29 00:00");
    in_utc("0 0 13 * */5", "2024-09-13 00:00,2024-10-13 00:00,2024-12-13 00:00");
}

static void names_stand_for_fields(void **state)
{
    (void)state;
    in_utc("@yearly", "2024-01-01 00:00,2025-01-01 00:00");
    in_utc("@annually", "2024-01-01 00:00,2025-01-01 00:00");
    in_utc("@monthly", "2023-12-01 00:00,2024-01-01 00:00");
    in_utc("@weekly", "2023-11-19 00:00,2023-11-26 00:00");
    in_utc("@daily", "2023-11-15 00:00,2023-11-16 00:00");
    in_utc("@midnight", "2023-11-15 00:00,2023-11-16 00:00");
    in_utc(" @Hourly ", "2023-11-14 23:00,2023-11-15 00:00");
}

static void a_day_that_not_every_month_has_is_waited_for(void **state)
{
    (void)state;
    in_utc("0 0 31 * *", "2023-12-31 00:00,2024-01-31 00:00,2024-03-31 00:00,2024-05-31 00:00");
    in_utc("0 0 29 2 *", "2024-02-29 00:00,2028-02-29 00:00");
    comes("0 0 29 2 *", &zone_utc, "2096-03-01 00:00", "2104-02-29 00:00");
    // A leap day that is a Monday, with the year 2100 in between.
    comes("0 0 29 2 */8,1", &zone_utc, "2044-03-01 00:00", "2060-02-29 00:00");
}

static void an_invalid_expression_is_refused_with_the_field(void **state)
{
    (void)state;
    refused("", "`` is not minute, hour, day of month, month and day of week");
    refused("* * * *", "`* * * *` is not minute, hour, day of month, month and day of week");
    refused("* * * * * *",
            "`* * * * * *` is not minute, hour, day of month, month and day of week");
    refused("@often", "`@often` is not one of @yearly, @monthly, @weekly, @daily, @hourly");
    refused("60 * * * *", "minute: `60` is not between 0 and 59");
    refused("* 24 * * *", "hour: `24` is not between 0 and 23");
    refused("* * 0 * *", "day of month: `0` is not between 1 and 31");
    refused("* * 32 * *", "day of month: `32` is not between 1 and 31");
    refused("* * * 13 *", "month: `13` is not between 1 and 12");
    refused("* * * * 8", "day of week: `8` is not between 0 and 7");
    refused("x * * * *", "minute: `x` is not a number");
    refused("mon * * * *", "minute: `mon` is not a number");
    refused("* * * mon *", "month: `mon` is neither a number nor a name");
    refused("* * * * jan", "day of week: `jan` is neither a number nor a name");
    refused("-1 * * * *", "minute: `` is not a number");
    refused("1- * * * *", "minute: `` is not a number");
    refused("5-2 * * * *", "minute: `5-2` runs backwards");
    refused("* * * * sat-mon", "day of week: `sat-mon` runs backwards");
    refused("*/0 * * * *", "minute: `*/0` needs a step that is a number above 0");
    refused("*/ * * * *", "minute: `*/` needs a step that is a number above 0");
    refused("*/x * * * *", "minute: `*/x` needs a step that is a number above 0");
    refused("5/10 * * * *", "minute: `5/10` has a step, but not a range");
    refused("1,,2 * * * *", "minute: `` is not a number");
    refused("1,2, * * * *", "minute: `1,2,` ends with a comma");
    refused("** * * * *", "minute: `**` is not a number");
    refused("18446744073709551617 * * * *", "minute: `18446744073709551617` is not a number");
    refused("1234567890123456789012345678 * * * *",
            "minute: `123456789012345678901234` is not a number");
}

static void a_date_that_never_comes_is_refused(void **state)
{
    (void)state;
    refused("0 0 31 2 *", "day of month: `31` is a day that does not exist in any of the months");
    refused("0 0 30,31 feb *",
            "day of month: `30,31` is a day that does not exist in any of the months");
    refused("0 0 31 4,6,9,11 *",
            "day of month: `31` is a day that does not exist in any of the months");
    in_utc("0 0 31 2,3 *", "2024-03-31 00:00");
}

static void a_search_without_a_match_ends(void **state)
{
    struct cron none = {
        .minutes = 1, .hours = 1, .days = UINT32_C(1) << 31, .months = 1 << 2, .weekdays = 0x7f};
    nsec_t at;

    (void)state;
    assert_false(cron_has_dates(&none));
    assert_false(cron_next(&none, &zone_utc, moment(NOW), &at));
    assert_false(cron_last(&none, &zone_utc, 0, moment(NOW), &at));
    // After the last moment that can be represented.
    none = cron_of("@yearly");
    assert_false(cron_next(&none, &zone_utc, NSEC_NEVER - 1, &at));
}

static void last_at_line(const char *text, const char *after, const char *until,
                         const char *expected, int line)
{
    struct cron cron = cron_of(text);
    nsec_t at = 0;
    bool found = cron_last(&cron, &zone_utc, moment(after), moment(until), &at);

    if (found != (*expected != '\0') || (found && at != moment(expected))) {
        print_error("last at %lld, expected %s\n", (long long)(at / NSEC_PER_SEC), expected);
        _fail(__FILE__, line);
    }
}

#define last(cron, after, until, expected) last_at_line(cron, after, until, expected, __LINE__)

static void the_last_moment_of_a_span_is_found(void **state)
{
    (void)state;
    last("* * * * *", "2020-01-01 00:00", NOW, "2023-11-14 22:13");
    last("13 22 * * *", "2020-01-01 00:00", "2023-11-14 22:13", "2023-11-14 22:13");
    last("* 9 * * *", "2020-01-01 00:00", NOW, "2023-11-14 09:59");
    last("0-20 * 14 * *", "2020-01-01 00:00", "2023-11-14 22:22", "2023-11-14 22:20");
    last("@yearly", "2010-06-01 00:00", NOW, "2023-01-01 00:00");
    last("0 0 29 2 *", "1996-06-01 00:00", NOW, "2020-02-29 00:00");
    last("@daily", "2023-11-13 12:00", "2023-11-13 23:59", "");
    last("@daily", "2023-11-14 00:00", "2023-11-14 23:59", "");
    last("@daily", "2023-11-14 12:00", "2023-11-14 00:00", "");
    last("0 0,1 * * *", "2023-11-14 00:30", NOW, "2023-11-14 01:00");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_field_counts),
        cmocka_unit_test(a_moment_comes_after_the_one_that_is_given),
        cmocka_unit_test(fields_have_lists_ranges_and_steps),
        cmocka_unit_test(months_and_days_of_the_week_have_names),
        cmocka_unit_test(sunday_is_0_and_7),
        cmocka_unit_test(either_day_matches_if_both_are_given),
        cmocka_unit_test(both_days_must_match_if_one_begins_with_a_star),
        cmocka_unit_test(names_stand_for_fields),
        cmocka_unit_test(a_day_that_not_every_month_has_is_waited_for),
        cmocka_unit_test(an_invalid_expression_is_refused_with_the_field),
        cmocka_unit_test(a_date_that_never_comes_is_refused),
        cmocka_unit_test(a_search_without_a_match_ends),
        cmocka_unit_test(the_last_moment_of_a_span_is_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
