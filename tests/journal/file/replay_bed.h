/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_JOURNAL_FILE_REPLAY_BED_H
#define TANDEM_TESTS_JOURNAL_FILE_REPLAY_BED_H

// Set-up of the tests of replay: a disk, segments made by hand, and the outcome of the last replay.
// Any unexpected result fails the test.

#include "tests/journal/file/forge.h"
#include "tests/journal/file/revive.h"

#include "journal/segment.h"
#include "tests/support/with_cmocka.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FIRST "journal.0000000001"
#define SECOND "journal.0000000002"
#define THIRD "journal.0000000003"

struct replay_bed {
    struct fake_disk *disk;
    struct forge one, two, three; // the first has begun
    struct revived revived;
    bool revived_once;
};

int bed_setup(void **state);
int bed_teardown(void **state);
#define STORY(name) cmocka_unit_test_setup_teardown(name, bed_setup, bed_teardown)

// Three segments of five jobs: 1 and 2, 3 and 4, 5.
void bed_make_three(struct replay_bed *bed);
void bed_put_three(struct replay_bed *bed);
// A job with a body of that length.
void forge_large(struct forge *forge, uint64_t id, size_t len);
// Changes a bit.
void bed_flip(struct replay_bed *bed, const char *file, size_t offset);

// Replays the segments on the disk; false if that is refused.
bool bed_revive(struct replay_bed *bed, bool repair);
void bed_end(struct replay_bed *bed);

bool bed_has(const struct replay_bed *bed, uint64_t id);
const struct segment *bed_segment(const struct replay_bed *bed, size_t place);
void bed_expect_row(const struct replay_bed *bed, uint64_t first, size_t count);
void expect_says(const char *text, const char *what);

// A replay is refused, and the reason contains `what` and the offset that was noted.
void bed_stops(struct replay_bed *bed, const char *what);
void bed_stops_at(struct replay_bed *bed, const char *file, size_t offset);
// A repair says that it has lost so much there.
void bed_loses(struct replay_bed *bed, const char *file, size_t offset, size_t bytes);

#endif
