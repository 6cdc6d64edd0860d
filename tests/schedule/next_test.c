/* SPDX-License-Identifier: MIT */

// The moments of schedules when clocks are set, in zones made for the test. Moments are UTC.

#include "tests/schedule/moments.h"
#include "tests/support/with_cmocka.h"

#include <stddef.h>
#include <stdint.h>

// An hour ahead of UTC. In March, clocks go from 2:00 to 3:00, in October back from 3:00 to 2:00.
static struct made_zone *summer(struct made_zone *zone)
{
    made_zone(zone, 60);
    made_zone_changes(zone, "2024-03-31 01:00", 120);
    made_zone_changes(zone, "2024-10-27 01:00", 60);
    return zone;
}

static void a_named_hour_in_a_gap_happens_once_at_its_end(void **state)
{
    struct made_zone made;
    const struct zone *zone = &summer(&made)->zone;

    (void)state;
    comes("30 2 * * *", zone, "2024-03-29 12:00",
          "2024-03-30 01:30,2024-03-31 01:00,2024-04-01 00:30");
    comes("*/10 2 * * *", zone, "2024-03-30 12:00",
          "2024-03-31 01:00,2024-04-01 00:00,2024-04-01 00:10");
    comes("15,45 1,2 * * *", zone, "2024-03-30 12:00",
          "2024-03-31 00:15,2024-03-31 00:45,2024-03-31 01:00,2024-03-31 23:15");
    // A match at the end of the gap does not happen a second time.
    comes("0 2,3 * * *", zone, "2024-03-30 12:00", "2024-03-31 01:00,2024-04-01 00:00");
    // Matches outside the gap are not moved.
    comes("30 3 * * *", zone, "2024-03-30 12:00", "2024-03-31 01:30");
    comes("30 2 30 3 *", zone, "2024-03-30 12:00", "2025-03-30 01:30");
    comes("30 2 31 3 *", zone, "2024-03-30 12:00", "2024-03-31 01:00,2025-03-31 01:30");
    // A search that begins at the end of the gap does not find the gap.
    comes("30 2 * * *", zone, "2024-03-31 01:00", "2024-04-01 00:30");
    comes("30 2 * * *", zone, "2024-03-31 00:59:59", "2024-03-31 01:00");
}

static void a_named_hour_that_comes_twice_counts_the_first_time(void **state)
{
    struct made_zone made;
    const struct zone *zone = &summer(&made)->zone;

    (void)state;
    comes("30 2 * * *", zone, "2024-10-25 12:00",
          "2024-10-26 00:30,2024-10-27 00:30,2024-10-28 01:30");
    comes("*/30 2,3 * * *", zone, "2024-10-26 12:00",
          "2024-10-27 00:00,2024-10-27 00:30,2024-10-27 02:00,2024-10-27 02:30");
    comes("30 2 * * *", zone, "2024-10-27 00:45", "2024-10-28 01:30");
    comes("30 2 * * *", zone, "2024-10-27 01:10", "2024-10-28 01:30");
    // On any day: the next match is a year later.
    comes("30 2 27 10 *", zone, "2024-10-27 00:30", "2025-10-27 01:30");
}

static void a_star_for_the_hour_means_real_time(void **state)
{
    struct made_zone made;
    const struct zone *zone = &summer(&made)->zone;

    (void)state;
    comes("@hourly", zone, "2024-03-30 23:30",
          "2024-03-31 00:00,2024-03-31 01:00,2024-03-31 02:00");
    comes("30 * * * *", zone, "2024-10-26 23:45",
          "2024-10-27 00:30,2024-10-27 01:30,2024-10-27 02:30");
    comes("*/30 * * * *", zone, "2024-10-27 00:00",
          "2024-10-27 00:30,2024-10-27 01:00,2024-10-27 01:30,2024-10-27 02:00");
    comes("0 */2 * * *", zone, "2024-03-30 22:30", "2024-03-30 23:00,2024-03-31 02:00");
    comes("0 */2 * * *", zone, "2024-10-26 22:30",
          "2024-10-27 00:00,2024-10-27 01:00,2024-10-27 03:00");
    comes("30 */2 27 10 *", zone, "2024-10-27 00:40", "2024-10-27 01:30,2024-10-27 03:30");
}

static void clocks_may_be_set_at_midnight(void **state)
{
    struct made_zone made;

    (void)state;
    // From 0:00 to 1:00, and from 0:00 back to 23:00.
    made_zone(&made, -180);
    made_zone_changes(&made, "2024-10-20 03:00", -120);
    made_zone_changes(&made, "2025-02-16 02:00", -180);
    comes("@daily", &made.zone, "2024-10-18 12:00",
          "2024-10-19 03:00,2024-10-20 03:00,2024-10-21 02:00");
    comes("@daily", &made.zone, "2025-02-14 12:00",
          "2025-02-15 02:00,2025-02-16 03:00,2025-02-17 03:00");
    comes("30 23 * * *", &made.zone, "2025-02-15 12:00", "2025-02-16 01:30,2025-02-17 02:30");
    comes("30 * 15 2 *", &made.zone, "2025-02-16 01:00",
          "2025-02-16 01:30,2025-02-16 02:30,2026-02-15 03:30");
    // Clocks are set back a minute after midnight: the new day begins, and then the old one comes
    // again.
    made_zone(&made, -180);
    made_zone_changes(&made, "2025-02-16 03:01", -240);
    comes("@daily", &made.zone, "2025-02-15 12:00", "2025-02-16 03:00,2025-02-17 04:00");
    comes("0,2 * * * *", &made.zone, "2025-02-16 02:30",
          "2025-02-16 03:00,2025-02-16 03:02,2025-02-16 04:00,2025-02-16 04:02");
}

static void clocks_may_be_set_by_half_an_hour(void **state)
{
    struct made_zone made;

    (void)state;
    // From 2:00 to 2:30, and from 2:00 back to 1:30.
    made_zone(&made, 630);
    made_zone_changes(&made, "2024-10-05 15:30", 660);
    made_zone_changes(&made, "2025-04-05 15:00", 630);
    comes("15 2 * * *", &made.zone, "2024-10-05 00:00", "2024-10-05 15:30,2024-10-06 15:15");
    comes("45 2 * * *", &made.zone, "2024-10-05 00:00", "2024-10-05 15:45");
    comes("@hourly", &made.zone, "2024-10-05 14:00",
          "2024-10-05 14:30,2024-10-05 16:00,2024-10-05 17:00");
    comes("45 1 * * *", &made.zone, "2025-04-05 00:00", "2025-04-05 14:45,2025-04-06 15:15");
    comes("45 * * * *", &made.zone, "2025-04-05 14:00",
          "2025-04-05 14:45,2025-04-05 15:15,2025-04-05 16:15");
    comes("@hourly", &made.zone, "2025-04-05 13:30",
          "2025-04-05 14:00,2025-04-05 15:30,2025-04-05 16:30");
}

static void a_day_may_be_left_out(void **state)
{
    struct made_zone made;

    (void)state;
    // The 30th of December, when the date line moved.
    made_zone(&made, -600);
    made_zone_changes(&made, "2011-12-30 10:00", 840);
    comes("0 9 * * *", &made.zone, "2011-12-29 00:00",
          "2011-12-29 19:00,2011-12-30 10:00,2011-12-30 19:00,2011-12-31 19:00");
    comes("0 9 30 12 *", &made.zone, "2011-12-29 00:00", "2011-12-30 10:00,2012-12-29 19:00");
    comes("0 * 30 12 *", &made.zone, "2011-12-29 00:00", "2012-12-29 10:00");
}

static void a_day_may_come_twice(void **state)
{
    struct made_zone made;

    (void)state;
    made_zone(&made, 720);
    made_zone_changes(&made, "2010-05-05 12:00", -720);
    comes("0 9 * * *", &made.zone, "2010-05-03 12:00",
          "2010-05-03 21:00,2010-05-04 21:00,2010-05-06 21:00");
    comes("0 */12 5 5 *", &made.zone, "2010-05-04 00:00",
          "2010-05-04 12:00,2010-05-05 00:00,2010-05-05 12:00,2010-05-06 00:00");
}

static void a_gap_far_ahead_is_seen(void **state)
{
    struct made_zone made;
    const struct zone *zone = &summer(&made)->zone;

    (void)state;
    comes("30 2 31 3 *", zone, "2023-05-01 00:00", "2024-03-31 01:00");
    comes("30 2 27 10 *", zone, "2023-11-01 00:00", "2024-10-27 00:30");
}

static void an_offset_may_have_seconds(void **state)
{
    struct cron cron = cron_of("0 12 * * *");
    struct made_zone made;
    nsec_t at;

    (void)state;
    made_zone(&made, 0);
    made.first_offset = 53 * 60 + 28;
    assert_true(cron_next(&cron, &made.zone, moment("1890-01-01 00:00"), &at));
    assert_int_equal(at, moment("1890-01-01 11:06:32"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_named_hour_in_a_gap_happens_once_at_its_end),
        cmocka_unit_test(a_named_hour_that_comes_twice_counts_the_first_time),
        cmocka_unit_test(a_star_for_the_hour_means_real_time),
        cmocka_unit_test(clocks_may_be_set_at_midnight),
        cmocka_unit_test(clocks_may_be_set_by_half_an_hour),
        cmocka_unit_test(a_day_may_be_left_out),
        cmocka_unit_test(a_day_may_come_twice),
        cmocka_unit_test(a_gap_far_ahead_is_seen),
        cmocka_unit_test(an_offset_may_have_seconds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
