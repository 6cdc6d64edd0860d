/* SPDX-License-Identifier: MIT */
// Wall clocks that are wrong, at a submission or at a restart, and corrected later or never: delays
// and pauses last no longer than their lengths, calendar moments do not change, and setting the
// clock does not change ages.
#include "tests/core/stage_restart.h"

#include <inttypes.h>
#include <stdlib.h>

#define DAYS(n) SEC((nsec_t)(n)*86400)
#define YEAR DAYS(365)

static void a_clock_that_is_behind_at_a_restart_stretches_no_delay(void **state)
{
    struct stage *s = *state;
    struct stage *again;

    PUT(s, .delay_for = SEC(5));
    again = stage_restart(s, -YEAR);
    assert_int_equal(stage_job(again, 1).remaining_for, SEC(5));
    stage_advance(again, SEC(5));
    assert_int_equal(stage_state(again, 1), JOB_READY);
    stage_free(again);
    // Machines without a battery start in 1970.
    again = stage_restart(s, -STAGE_WALL_AT);
    assert_int_equal(stage_job(again, 1).remaining_for, SEC(5));
    stage_free(again);
}

static void a_clock_that_was_ahead_at_the_put_stretches_no_delay(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    struct stage *again;

    stage_step_wall(s, 10 * YEAR);
    PUT(s, .queue = "put", .delay_for = SEC(60));
    PUT(s, .queue = "q");
    assert_int_equal(act_take(w), 2);
    assert_status(STATUS_OK, act_release(w, 2, 0, SEC(30)));
    again = stage_restart(s, -10 * YEAR + SEC(10));
    assert_int_equal(stage_job(again, 1).remaining_for, SEC(60));
    assert_int_equal(stage_job(again, 2).remaining_for, SEC(30));
    stage_free(again);
}

static void no_clock_stretches_a_pause(void **state)
{
    struct stage *s = *state;
    struct stage *again;

    PUT(s, .queue = "q");
    assert_status(STATUS_OK, stage_pause(s, "q", SEC(40)));
    again = stage_restart(s, -YEAR);
    assert_int_equal(stage_queue(again, "q").pause_remaining_for, SEC(40));
    stage_advance(again, SEC(40));
    assert_int_equal(stage_queue(again, "q").pause_remaining_for, 0);
    stage_free(again);
    again = stage_restart(s, SEC(15));
    assert_int_equal(stage_queue(again, "q").pause_remaining_for, SEC(25));
    stage_free(again);
}

static void a_calendar_moment_stays_a_calendar_moment(void **state)
{
    struct stage *s = *state;
    struct stage *again;

    PUT(s, .at = STAGE_WALL_AT + SEC(60));
    again = stage_restart(s, -YEAR);
    assert_int_equal(stage_job(again, 1).remaining_for, YEAR + SEC(60));
    stage_step_wall(again, YEAR + SEC(60));
    assert_int_equal(stage_state(again, 1), JOB_READY);
    stage_free(again);
}

static void the_delay_of_a_submission_that_joined_holds(void **state)
{
    struct stage *s = *state;
    struct stage *again;

    PUT(s, .at = STAGE_WALL_AT + SEC(900), .key = "calendar");
    PUT(s, .delay_for = SEC(900), .key = "delay");
    PUT(s, .delay_for = SEC(20), .key = "calendar");
    PUT(s, .delay_for = SEC(20), .key = "delay");
    again = stage_restart(s, -YEAR);
    assert_int_equal(stage_job(again, 1).remaining_for, SEC(20));
    assert_int_equal(stage_job(again, 2).remaining_for, SEC(20));
    stage_free(again);
}

// Without memory, a delay is kept without its length.
static void a_delay_of_unknown_length_is_kept(void **state)
{
    struct stage *s = *state;
    const struct job *job = NULL;
    struct job_image image = {
        .now = {.id = 1, .state = JOB_DELAYED, .due_at = STAGE_WALL_AT + SEC(90)},
        .queue = SLICE("q")};

    assert_status(STATUS_OK, broker_restore_job(s->broker, &image, &job));
    assert_status(STATUS_OK, broker_restore_finish(s->broker, 2));
    assert_int_equal(stage_job(s, 1).remaining_for, SEC(90));
}

static void age_follows_no_step_of_the_wall_clock(void **state)
{
    struct stage *s = *state;

    PUT(s, .queue = "q");
    stage_advance(s, SEC(10));
    stage_step_wall(s, YEAR);
    assert_int_equal(stage_job(s, 1).age_for, SEC(10));
    // Shown by the wall clock as it is set now.
    assert_int_equal(stage_job(s, 1).created_at, s->now.wall - SEC(10));
    stage_step_wall(s, -2 * YEAR);
    assert_int_equal(stage_job(s, 1).age_for, SEC(10));
    assert_int_equal(stage_job(s, 1).created_at, s->now.wall - SEC(10));
    PUT(s, .queue = "q");
    stage_advance(s, SEC(1));
    assert_int_equal(stage_job(s, 1).age_for, SEC(11));
    assert_int_equal(stage_job(s, 2).age_for, SEC(1));
}

static void age_goes_on_after_a_restart_and_never_begins_in_the_future(void **state)
{
    struct stage *s = *state;
    struct stage *again;

    PUT(s, .queue = "q");
    stage_step_wall(s, YEAR);
    stage_advance(s, SEC(10));
    again = stage_restart(s, SEC(20));
    assert_int_equal(stage_job(again, 1).age_for, SEC(30));
    stage_free(again);
    again = stage_restart(s, -3 * YEAR);
    assert_int_equal(stage_job(again, 1).age_for, 0);
    stage_step_wall(again, 3 * YEAR);
    stage_advance(again, SEC(5));
    assert_int_equal(stage_job(again, 1).age_for, SEC(5));
    stage_free(again);
}

//
// Random clocks
//

enum { SEEDS = 200, ROUNDS = 8, JOBS = 40 };

struct fate {
    uint64_t id;
    nsec_t delay_for; // 0: a calendar moment
    nsec_t at;
};

static uint64_t roll(uint64_t *dice, uint64_t sides)
{
    *dice = *dice * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (*dice >> 33) % sides;
}

static nsec_t step_by_chance(uint64_t *dice)
{
    static const nsec_t most[] = {SEC(1), SEC(20), DAYS(1), YEAR, 30 * YEAR};

    return (nsec_t)roll(dice, 1000) * (most[roll(dice, 5)] / 1000) * (roll(dice, 2) ? 1 : -1);
}

static void put_by_chance(struct stage *s, uint64_t *dice, struct fate *fate)
{
    bool calendar = roll(dice, 3) == 0;

    *fate = (struct fate){.delay_for = calendar ? 0 : SEC(1 + roll(dice, 100)),
                          .at = calendar ? s->now.wall + SEC(1 + roll(dice, 100)) : 0};
    fate->id = PUT(s, .delay_for = fate->delay_for, .at = fate->at);
}

// No delay lasts longer than its length, whatever the clocks did.
static void expect_fate(struct stage *s, const struct fate *fate)
{
    struct job_info info = stage_job(s, fate->id);

    assert_true(info.age_for >= 0 && info.created_at >= 0);
    if (info.state == JOB_DELAYED) {
        assert_true(info.remaining_for > 0);
        assert_true(fate->at ? s->now.wall + info.remaining_for == fate->at
                             : info.remaining_for <= fate->delay_for);
    } else {
        assert_int_equal(info.state, JOB_READY);
    }
}

static void expect_fates(struct stage *s, const struct fate fates[JOBS], int count)
{
    for (int i = 0; i < count; i++) {
        expect_fate(s, &fates[i]);
    }
}

static struct stage *restart_by_chance(struct stage *s, uint64_t *dice)
{
    nsec_t step_for = step_by_chance(dice);
    struct stage *again;

    // The clock does not go back beyond 1970.
    step_for = step_for < -s->now.wall ? -s->now.wall : step_for;
    again = stage_restart(s, step_for);
    stage_free(s);
    return again;
}

static void play(uint64_t seed)
{
    uint64_t dice = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    struct stage *s = stage_new((struct broker_options){0}, true);
    struct fate fates[JOBS];
    int count = 0;

    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < JOBS / ROUNDS; i++) {
            put_by_chance(s, &dice, &fates[count++]);
            stage_advance(s, (nsec_t)roll(&dice, 1000) * MSEC(7));
            if (roll(&dice, 4) == 0 && s->now.wall > 31 * YEAR) {
                stage_step_wall(s, step_by_chance(&dice));
            }
            expect_fates(s, fates, count);
        }
        s = restart_by_chance(s, &dice);
        expect_fates(s, fates, count);
    }
    stage_free(s);
}

static void a_restored_delay_is_not_longer_than_the_original(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        play(seed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(a_clock_that_is_behind_at_a_restart_stretches_no_delay),
        STORY(a_clock_that_was_ahead_at_the_put_stretches_no_delay),
        STORY(no_clock_stretches_a_pause),
        STORY(a_calendar_moment_stays_a_calendar_moment),
        STORY(the_delay_of_a_submission_that_joined_holds),
        STORY(a_delay_of_unknown_length_is_kept),
        STORY(age_follows_no_step_of_the_wall_clock),
        STORY(age_goes_on_after_a_restart_and_never_begins_in_the_future),
        cmocka_unit_test(a_restored_delay_is_not_longer_than_the_original),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
