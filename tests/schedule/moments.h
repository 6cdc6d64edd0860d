/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_SCHEDULE_MOMENTS_H
#define TANDEM_TESTS_SCHEDULE_MOMENTS_H

// Moments as texts, zones for tests, and the moments of a cron expression.

#include "core/base/nsec.h"

#include "schedule/cron.h"
#include "schedule/zone.h"

#include <stddef.h>

// The moment that the text gives in UTC: YYYY-MM-DD HH:MM, or with :SS.
nsec_t moment(const char *text);

extern const struct zone zone_utc;

// A zone whose offset changes at given moments, in ascending order.
struct made_zone {
    struct zone zone;
    int32_t first_offset;
    struct {
        int64_t at;
        int32_t offset;
    } changes[8];
    size_t count;
};

// Initializes a zone with that offset, in minutes.
void made_zone(struct made_zone *made, int minutes);
// The offset is `minutes` from that moment of UTC on.
void made_zone_changes(struct made_zone *made, const char *at, int minutes);

// Asserts that the next moments after `after` are those in `expected`: UTC, separated by commas.
// "never": no further moment.
void comes_at_line(const char *cron, const struct zone *zone, const char *after,
                   const char *expected, const char *file, int line);

#define comes(cron, zone, after, expected)                                                         \
    comes_at_line((cron), (zone), (after), (expected), __FILE__, __LINE__)

// The text is a valid expression.
struct cron cron_of(const char *text);

#endif
