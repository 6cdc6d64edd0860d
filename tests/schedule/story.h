/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_SCHEDULE_STORY_H
#define TANDEM_TESTS_SCHEDULE_STORY_H

// Scenarios of schedules with a broker on a stage, in virtual time. They begin on a Tuesday,
// 2023-11-14 22:13:20 UTC. The zones are UTC (also as an empty name) and "Made", which is
// `story_zone`.

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
// The number of open zones.
extern size_t story_zones_open;

// A schedule in one line: SKETCH("@daily", .missed = SCHEDULE_MISSED_ALL). The default name is n,
// the default queue q, the default zone UTC.
struct sketch {
    const char *cron, *name, *timezone, *queue, *body;
    uint32_t pri;
    nsec_t ttr_for;
    enum schedule_missed missed;
    enum schedule_overlap overlap;
};
#define SKETCH(...) (&(const struct sketch){.cron = __VA_ARGS__})
struct schedule_spec story_spec(const struct sketch *sketch);

// The configuration has this schedule, or none.
void story_adopt(struct story *t, const struct sketch *sketch);
#define has_in_file(t, ...) story_adopt((t), SKETCH(__VA_ARGS__))
#define has_nothing_in_file(t) story_adopt((t), NULL)

// Makes the schedule at run time.
enum status story_put(struct story *t, const struct sketch *sketch);
#define puts_schedule(t, ...) assert_status(STATUS_OK, story_put((t), SKETCH(__VA_ARGS__)))

// Does the work that is due at this moment, in slices.
void works(struct story *t);
// Lets time pass, and does the work that is due each second, or each minute of a long time.
void passes(struct story *t, nsec_t time_for);
// Sets the wall clock forward or back.
void clock_steps(struct story *t, nsec_t by_for);
// Lets time pass until that moment of the wall clock.
void passes_until(struct story *t, const char *at);

// The process ends, and starts again after `down_for` with the memos of the store. The test must
// adopt the configuration again.
void restarts(struct story *t, nsec_t down_for);
// The same, but the memos of moments are those of story_snapshot(): the store lost its end, from
// behind the record of a job on.
void story_snapshot(struct story *t);
void restarts_torn(struct story *t, nsec_t down_for);

// Takes and completes all ready jobs of the queue. Asserts that their moments, as "2023-11-15
// 00:00" and separated by commas, are these. A schedule that is not called n has its name before
// each moment.
void does_at_line(struct story *t, const char *queue, const char *expected, const char *file,
                  int line);
#define does(t, expected) does_at_line((t), "q", (expected), __FILE__, __LINE__)

struct schedule_info story_info(struct story *t, const char *name);

// Asserts the counts of all schedules: "fired 1 late 1 missed 1 overlapped 1 refused 1 given_up 1",
// without the counts that are 0.
void counts_are_line(struct story *t, const char *expected, const char *file, int line);
#define counts_are(t, expected) counts_are_line((t), (expected), __FILE__, __LINE__)

#endif
