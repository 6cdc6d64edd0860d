/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SCHEDULE_CRON_H
#define TANDEM_SCHEDULE_CRON_H

// Moments of the calendar as cron names them. All here is pure, and every search has an end.
//
//     minute (0-59)  hour (0-23)  day of month (1-31)  month (1-12, jan-dec)
//     day of week (0-7, sun-sat; 0 and 7 are Sunday)
//
// A field is a list, with commas, of `*`, a value, or a range `a-b`; `*` and a range may have a
// step, `/n`. A range of days of the week may end with Sunday (fri-sun). Instead of five fields
// there may be one word: @yearly (@annually), @monthly, @weekly, @daily (@midnight), @hourly.
//
// Days go by the rule of Vixie's cron: where neither of the two fields for days begins with `*`, a
// date matches that one of them has; otherwise one that both have.
//
// When clocks are set. A schedule whose hours are named (the field does not begin with `*`) means
// a time of the day: what it has in a gap happens once, at the end of the gap, and of a time that
// comes twice, the first one counts. One whose field of hours begins with `*` means real time: what
// it has in a gap does not happen, and a time that comes twice counts twice.

#include "core/base/macros.h"
#include "core/base/nsec.h"
#include "core/base/slice.h"

#include "schedule/zone.h"

#include <stdbool.h>
#include <stdint.h>

// Sets of values, bit n standing for n.
struct cron {
    uint64_t minutes;
    uint32_t hours, days, months;
    uint32_t weekdays; // 0 is Sunday; there is no 7
    bool either_day;   // one of `days` and `weekdays` is enough; else both must match
    bool real_time;    // it goes by real time when clocks are set, not by the time of the day
};

// What is wrong with a text; it begins with the name of the field.
struct cron_reason {
    char text[128];
};

// Reads five fields or a word. False, with the reason, for anything else, and for a date that no
// year has, such as the 31st of February.
bool cron_parse(struct slice text, struct cron *cron, struct cron_reason *why) MUST_USE;

// Whether any year has a date that matches.
bool cron_has_dates(const struct cron *cron);

// The first moment after `after` that matches, both by the wall clock; always the beginning of a
// minute, or the end of a gap. False where none comes within 41 years: no date that exists waits
// longer.
bool cron_next(const struct cron *cron, const struct zone *zone, nsec_t after, nsec_t *at) MUST_USE;

// The last moment that matches and is after `after` and not after `until`. False where there is
// none.
bool cron_last(const struct cron *cron, const struct zone *zone, nsec_t after, nsec_t until,
               nsec_t *at) MUST_USE;

#endif
