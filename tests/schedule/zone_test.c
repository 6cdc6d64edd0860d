/* SPDX-License-Identifier: MIT */

// Time zones of this machine. Moments are UTC.

#include "schedule/system/system_zone.h"
#include "tests/schedule/moments.h"
#include "tests/support/with_cmocka.h"

#include <stddef.h>
#include <stdint.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct zone *open_zone(const char *name)
{
    return system_zone_open(slice_str(name));
}

static void in_at_line(const char *name, const char *cron, const char *after, const char *expected,
                       int line)
{
    struct zone *zone = open_zone(name);

    assert_non_null(zone);
    comes_at_line(cron, zone, after, expected, __FILE__, line);
    system_zone_close(zone);
}

#define in(zone, cron, after, expected) in_at_line(zone, cron, after, expected, __LINE__)

static void berlin_has_a_gap_in_march_and_an_hour_twice_in_october(void **state)
{
    (void)state;
    in("Europe/Berlin", "30 2 * * *", "2026-03-27 12:00",
       "2026-03-28 01:30,2026-03-29 01:00,2026-03-30 00:30");
    in("Europe/Berlin", "30 2 * * *", "2026-10-23 12:00",
       "2026-10-24 00:30,2026-10-25 00:30,2026-10-26 01:30");
    in("Europe/Berlin", "30 * * * *", "2026-10-24 23:45",
       "2026-10-25 00:30,2026-10-25 01:30,2026-10-25 02:30");
    in("Europe/Berlin", "0 9 * * mon-fri", "2026-03-27 12:00", "2026-03-30 07:00");
}

static void new_york_has_them_two_weeks_earlier_and_a_week_later(void **state)
{
    (void)state;
    in("America/New_York", "30 2 * * *", "2026-03-07 00:00",
       "2026-03-07 07:30,2026-03-08 07:00,2026-03-09 06:30");
    in("America/New_York", "30 1 * * *", "2026-10-31 12:00", "2026-11-01 05:30,2026-11-02 06:30");
    in("America/New_York", "@hourly", "2026-11-01 04:30",
       "2026-11-01 05:00,2026-11-01 06:00,2026-11-01 07:00");
}

static void lord_howe_sets_its_clocks_by_half_an_hour(void **state)
{
    (void)state;
    in("Australia/Lord_Howe", "15 2 * * *", "2026-10-03 00:00",
       "2026-10-03 15:30,2026-10-04 15:15");
    in("Australia/Lord_Howe", "45 1 * * *", "2026-04-04 00:00",
       "2026-04-04 14:45,2026-04-05 15:15");
    in("Australia/Lord_Howe", "45 * * * *", "2026-04-04 14:00",
       "2026-04-04 14:45,2026-04-04 15:15,2026-04-04 16:15");
}

static void kolkata_never_sets_its_clocks(void **state)
{
    (void)state;
    in("Asia/Kolkata", "0 0 * * *", "2026-03-28 12:00",
       "2026-03-28 18:30,2026-03-29 18:30,2026-03-30 18:30");
    in("Asia/Kolkata", "@hourly", "2026-03-28 12:00", "2026-03-28 12:30,2026-03-28 13:30");
}

static void samoa_left_out_a_day(void **state)
{
    (void)state;
    in("Pacific/Apia", "0 9 * * *", "2011-12-29 00:00",
       "2011-12-29 19:00,2011-12-30 10:00,2011-12-30 19:00");
}

static void utc_is_utc(void **state)
{
    (void)state;
    in("UTC", "30 2 * * *", "2026-03-28 12:00", "2026-03-29 02:30,2026-03-30 02:30");
    in("UTC", "0 0 29 2 *", "2026-03-28 12:00", "2028-02-29 00:00,2032-02-29 00:00");
}

static void zone_names_that_look_like_offsets_mean_those_of_the_database(void **state)
{
    (void)state;
    // The database itself documents that the sign is reversed, as in POSIX.
    in("Etc/GMT+2", "0 0 * * *", "2026-03-28 12:00", "2026-03-29 02:00,2026-03-30 02:00");
    in("Etc/GMT+0", "0 0 * * *", "2026-03-28 12:00", "2026-03-29 00:00");
    // Debian 13 has names without a region in a package of their own.
    if (access("/usr/share/zoneinfo/EST5EDT", F_OK) == 0) {
        in("GMT+0", "0 0 * * *", "2026-03-28 12:00", "2026-03-29 00:00");
        in("EST5EDT", "30 2 * * *", "2026-03-27 00:00", "2026-03-27 06:30");
    }
}

static void utc_needs_no_database(void **state)
{
    (void)state;
    assert_int_equal(setenv("TZDIR", "/nowhere", 1), 0);
    in("UTC", "30 2 * * *", "2026-03-28 12:00", "2026-03-29 02:30");
    assert_null(open_zone("Europe/Berlin"));
    assert_int_equal(unsetenv("TZDIR"), 0);
}

static void clocks_are_set_in_years_to_come(void **state)
{
    (void)state;
    // By the rule that follows the last change in the file.
    in("Europe/Berlin", "30 2 * * *", "2060-03-27 12:00", "2060-03-28 01:00,2060-03-29 00:30");
}

static void no_name_is_local_time(void **state)
{
    (void)state;
    assert_int_equal(setenv("TZ", "Asia/Tokyo", 1), 0);
    in("", "0 0 * * *", "2026-03-28 12:00", "2026-03-28 15:00");
    assert_int_equal(unsetenv("TZ"), 0);
}

static void an_invalid_zone_name_is_refused(void **state)
{
    static const char *const names[] = {
        "Europe/Atlantis",
        "Berlin",
        "../../../etc/passwd",
        "/usr/share/zoneinfo/UTC",
        "+01:00",
        "CET-1CEST,M3.5.0,M10.5.0/3",
        "UTC+1",
        "GMT+2",
        "Foo5",
        "CET-1",
        "Z",
        "right/Europe/Berlin",
        "Europe/Berlin ",
        "Europe",
        "Europe/Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogoch"};

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (open_zone(names[i])) {
            print_error("%s is a zone\n", names[i]);
            fail();
        }
    }
    system_zone_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(berlin_has_a_gap_in_march_and_an_hour_twice_in_october),
        cmocka_unit_test(new_york_has_them_two_weeks_earlier_and_a_week_later),
        cmocka_unit_test(lord_howe_sets_its_clocks_by_half_an_hour),
        cmocka_unit_test(kolkata_never_sets_its_clocks),
        cmocka_unit_test(samoa_left_out_a_day),
        cmocka_unit_test(utc_is_utc),
        cmocka_unit_test(zone_names_that_look_like_offsets_mean_those_of_the_database),
        cmocka_unit_test(utc_needs_no_database),
        cmocka_unit_test(clocks_are_set_in_years_to_come),
        cmocka_unit_test(no_name_is_local_time),
        cmocka_unit_test(an_invalid_zone_name_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
