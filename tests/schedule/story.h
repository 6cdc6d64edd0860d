/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_SCHEDULE_STORY_H
#define TANDEM_TESTS_SCHEDULE_STORY_H

// Stories about schedules: those of a broker on a stage, in virtual time. It is a Tuesday,
// 2023-11-14 22:13:20 UTC, when they begin. The zones are UTC (also as an empty name) and "Made",
// which the story makes.

#include "schedule/schedule.h"
#include "tests/core/stage.h"
#include "tests/schedule/moments.h"

#include <stddef.h>

struct story {
    struct stage *stage;
    struct schedules *schedules;
};

#define TALE(f) cmocka_unit_test_setup_teardown(f, story_setup, story_teardown)
int story_setup(void **state);
int story_teardown(void **state);

extern struct made_zone story_zone;
extern const struct zone_source story_zones;
// Zones that are open.
extern size_t story_zones_open;

// A schedule in one line: SPEC("@daily", .missed = SCHEDULE_MISSED_ALL). What is not named: it is
// called n, its queue is q, its zone UTC.
struct sketch {
    const char *cron, *name, *timezone, *queue, *body;
    uint32_t pri;
    nsec_t ttr_for;
    enum schedule_missed missed;
    enum schedule_overlap overlap;
};
#define SKETCH(...) (&(const struct sketch){.cron = __VA_ARGS__})
struct schedule_spec story_spec(const struct sketch *sketch);

// The configuration has these, one or none.
void story_adopt(struct story *t, const struct sketch *sketch);
#define has_in_file(t, ...) story_adopt((t), SKETCH(__VA_ARGS__))
#define has_nothing_in_file(t) story_adopt((t), NULL)

// It is made at run time.
enum status story_put(struct story *t, const struct sketch *sketch);
#define puts_schedule(t, ...) assert_status(STATUS_OK, story_put((t), SKETCH(__VA_ARGS__)))

// Does what is due, in slices, until there is nothing more at this moment.
void works(struct story *t);
// Time passes, and what is due is done in each second, or, where it is long, in each minute.
void passes(struct story *t, nsec_t time_for);
// The wall clock alone goes, ahead or back.
void clock_steps(struct story *t, nsec_t by_for);
// Time passes until that moment of the wall clock.
void passes_until(struct story *t, const char *at);

// The process ends and begins again later, with all that the store kept. The configuration is to be
// given anew.
void restarts(struct story *t, nsec_t down_for);
// The same, but what was kept of schedules is as it was at story_snapshot(): the store's end was
// torn off between the record of a job and the memo behind it.
void story_snapshot(struct story *t);
void restarts_torn(struct story *t, nsec_t down_for);

// Takes and completes all jobs of the queue that are ready: their moments, as "2023-11-15 00:00",
// each separated by a comma, must be these. The name of the schedule stands before each where it is
// not n.
void does_at_line(struct story *t, const char *queue, const char *expected, const char *file,
                  int line);
#define does(t, expected) does_at_line((t), "q", (expected), __FILE__, __LINE__)

struct schedule_info story_info(struct story *t, const char *name);

// What came of moments: "fired 1 late 1 missed 1 overlapped 1 refused 1 given_up 1"; what is 0 is
// left out.
void counts_are_line(struct story *t, const char *expected, const char *file, int line);
#define counts_are(t, expected) counts_are_line((t), (expected), __FILE__, __LINE__)

#endif
