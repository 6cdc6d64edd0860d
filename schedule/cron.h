/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SCHEDULE_CRON_H
#define TANDEM_SCHEDULE_CRON_H

#include "core/base/error_text.h"
#include "core/base/macros.h"
#include "core/base/nsec.h"
#include "core/base/slice.h"
#include "schedule/zone.h"

#include <stdbool.h>
#include <stdint.h>

// Cron expressions and the moments that match them. All functions are pure, and every search ends.
//
//     minute (0-59)  hour (0-23)  day of month (1-31)  month (1-12, jan-dec)
//     day of week (0-7, sun-sat; 0 and 7 are Sunday)
//
// A field is a list, separated by commas, of `*`, a value, or a range `a-b`; `*` and a range may
// have a step, `/n`. A range of days of the week may end with Sunday (fri-sun). Instead of five
// fields there may be one name: @yearly (@annually), @monthly, @weekly, @daily (@midnight),
// @hourly.
//
// Days follow the rule of Vixie's cron: if neither of the two fields for days begins with `*`, a
// date matches if one of the fields matches; otherwise both must match.
//
// When clocks are set: if the field of hours does not begin with `*`, the expression means a time
// of day. Matches in a gap happen once, at the end of the gap, and of a time that comes twice, only
// the first counts. If the field of hours begins with `*`, the expression means real time: matches
// in a gap do not happen, and a time that comes twice counts twice.

// Sets of values: bit n stands for n.
struct cron {
    uint64_t minutes;
    uint32_t hours, days, months;
    uint32_t weekdays; // 0 is Sunday; 7 is not used
    bool either_day;   // a match of `days` or `weekdays` is enough; otherwise both must match
    bool real_time;    // real time, not the time of day, counts when clocks are set
};

// Reads an expression. If the text is not one, or no year has a date that matches (the 31st of
// February), returns false and sets `*why`.
bool cron_parse(struct slice text, struct cron *cron, struct error_text *why) MUST_USE;

// Whether any year has a date that matches.
bool cron_has_dates(const struct cron *cron);

// The first matching moment after `after`, both by the wall clock; always the beginning of a
// minute, or the end of a gap. False: there is none within 41 years. A date that exists comes
// sooner.
bool cron_next(const struct cron *cron, const struct zone *zone, nsec_t after, nsec_t *at) MUST_USE;

// The last matching moment in (after, until]. False: there is none.
bool cron_last(const struct cron *cron, const struct zone *zone, nsec_t after, nsec_t until,
               nsec_t *at) MUST_USE;

#endif
