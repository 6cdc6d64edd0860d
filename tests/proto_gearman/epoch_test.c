/* SPDX-License-Identifier: MIT */

// SUBMIT_JOB_EPOCH: a background job that starts at a moment of the wall clock.

#include "tests/proto_gearman/wire_gear.h"

// The wall clock is at 1700000000.
#define IN_TEN_SECONDS "1700000010"

static struct slice epoch(const char *moment)
{
    return REQ(SUBMIT_JOB_EPOCH, "f", "", moment, "x");
}

static void a_job_waits_for_its_moment(void **state)
{
    struct gear *t = *state;

    gear_submits(t->a, epoch(IN_TEN_SECONDS));
    gear_says(t->b, MANY(REQ(CAN_DO, "f"), REQ(GRAB_JOB)), RES(NO_JOB));
    rig_advance(t->rig, SECONDS(10) - 1);
    gear_says(t->b, REQ(GRAB_JOB), RES(NO_JOB));
    rig_advance(t->rig, 1);
    gear_grabs(t->b, "f", "x");
    gear_says(t->b, REQ(WORK_COMPLETE, H(1), "done"), NOTHING);
    gear_hears(t->a, NOTHING);
}

static void a_moment_in_the_past_means_now(void **state)
{
    static const char *const moments[] = {"0",          "1",          "00000000000000000000000001",
                                          "1699999999", "1700000000", "0001700000000"};
    struct gear *t = *state;

    gear_says(t->b, REQ(CAN_DO, "f"), NOTHING);
    for (size_t i = 0; i < sizeof moments / sizeof *moments; i++) {
        gear_submits(t->a, epoch(moments[i]));
        gear_grabs(t->b, "f", "x");
    }
}

static void a_moment_is_written_in_digits_only(void **state)
{
    static const char *const moments[] = {"",
                                          "abc",
                                          "-1",
                                          "+1",
                                          " 1",
                                          "1 ",
                                          "1.5",
                                          "0x10",
                                          "1e3",
                                          "now",
                                          "1700000010\n",
                                          "\xef\xbc\x91",
                                          "*",
                                          "18446744073709551616",
                                          "99999999999999999999999999"};
    struct gear *t = *state;

    for (size_t i = 0; i < sizeof moments / sizeof *moments; i++) {
        gear_says(t->a, epoch(moments[i]),
                  RES(ERROR, "INVALID_ARGUMENT", "Not a moment at which the job could start"));
    }
    assert_null(broker_queue_find(rig_broker(t->rig), SLICE("f")));
}

static void a_moment_may_be_very_far_away(void **state)
{
    static const char *const moments[] = {
        "4294967295",   "4294967296",          "9223372036",          "9223372037",
        "253402300800", "9223372036854775807", "9223372036854775808", "18446744073709551615"};
    struct gear *t = *state;

    for (size_t i = 0; i < sizeof moments / sizeof *moments; i++) {
        gear_submits(t->a, epoch(moments[i]));
    }
    jobs_are(t, "f", JOB_DELAYED, sizeof moments / sizeof *moments);
    rig_set_clock(t->rig, SECONDS(4294967295 - 1700000000));
    jobs_are(t, "f", JOB_READY, 1);
}

static void the_jobs_start_in_the_order_of_their_moments(void **state)
{
    struct gear *t = *state;

    gear_submits(t->a, REQ(SUBMIT_JOB_EPOCH, "f", "", "1700000030", "3"));
    gear_submits(t->a, REQ(SUBMIT_JOB_EPOCH, "f", "", "1700000010", "1"));
    gear_submits(t->a, REQ(SUBMIT_JOB_EPOCH, "f", "", "1700000020", "2"));
    gear_says(t->b, REQ(CAN_DO, "f"), NOTHING);
    rig_advance(t->rig, SECONDS(10));
    gear_grabs(t->b, "f", "1");
    rig_advance(t->rig, SECONDS(10));
    gear_grabs(t->b, "f", "2");
    rig_advance(t->rig, SECONDS(10));
    gear_grabs(t->b, "f", "3");
}

static void a_clock_set_forward_makes_the_job_start(void **state)
{
    struct gear *t = *state;

    gear_says(t->b, MANY(REQ(CAN_DO, "f"), REQ(PRE_SLEEP)), NOTHING);
    gear_submits(t->a, epoch("1700003600"));
    rig_set_clock(t->rig, SECONDS(3599));
    gear_hears(t->b, NOTHING);
    rig_set_clock(t->rig, SECONDS(1));
    gear_hears(t->b, RES(NOOP));
    gear_grabs(t->b, "f", "x");
}

static void a_clock_set_back_makes_the_job_wait(void **state)
{
    struct gear *t = *state;

    gear_submits(t->a, epoch(IN_TEN_SECONDS));
    rig_set_clock(t->rig, SECONDS(-5));
    rig_advance(t->rig, SECONDS(14));
    jobs_are(t, "f", JOB_DELAYED, 1);
    rig_advance(t->rig, SECONDS(1));
    jobs_are(t, "f", JOB_READY, 1);
}

static void a_clock_set_back_does_not_affect_a_started_job(void **state)
{
    struct gear *t = *state;

    gear_submits(t->a, epoch(IN_TEN_SECONDS));
    rig_advance(t->rig, SECONDS(10));
    rig_set_clock(t->rig, SECONDS(-3600));
    jobs_are(t, "f", JOB_READY, 1);
}

static void a_pending_moment_is_checked_every_second(void **state)
{
    struct gear *t = *state;
    nsec_t now = broker_now(rig_broker(t->rig)).mono;

    assert_true(broker_next_due(rig_broker(t->rig)) > now + SECONDS(1));
    gear_submits(t->a, epoch("1800000000"));
    assert_true(broker_next_due(rig_broker(t->rig)) <= now + SECONDS(1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        GEAR(a_job_waits_for_its_moment),
        GEAR(a_moment_in_the_past_means_now),
        GEAR(a_moment_is_written_in_digits_only),
        GEAR(a_moment_may_be_very_far_away),
        GEAR(the_jobs_start_in_the_order_of_their_moments),
        GEAR(a_clock_set_forward_makes_the_job_start),
        GEAR(a_clock_set_back_makes_the_job_wait),
        GEAR(a_clock_set_back_does_not_affect_a_started_job),
        GEAR(a_pending_moment_is_checked_every_second),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
