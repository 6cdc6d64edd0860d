/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_SCHEDULE_MOMENTS_H
#define TANDEM_TESTS_SCHEDULE_MOMENTS_H

// Moments as tests write them, zones that are made up, and what a schedule does.

#include "core/base/nsec.h"

#include "schedule/cron.h"
#include "schedule/zone.h"

#include <stddef.h>

// That moment of UTC, written as YYYY-MM-DD HH:MM, or with :SS.
nsec_t moment(const char *text);

// A zone whose offset changes, with no rule: at the moments that are given, in their order.
struct made_zone {
    struct zone zone;
    int32_t first_offset;
    struct {
        int64_t at;
        int32_t offset;
    } changes[8];
    size_t count;
};

// A zone with that offset, in minutes.
void made_zone(struct made_zone *made, int minutes);
// From that moment of UTC on, it is that offset.
void made_zone_changes(struct made_zone *made, const char *at, int minutes);

// The next moments of the schedule after `after`, as many as are written, each separated by a
// comma: UTC, as above. "never" stands for none.
void comes_at_line(const char *cron, const struct zone *zone, const char *after,
                   const char *expected, const char *file, int line);

#define comes(cron, zone, after, expected)                                                         \
    comes_at_line((cron), (zone), (after), (expected), __FILE__, __LINE__)

// A schedule that can be read.
struct cron cron_of(const char *text);

#endif
