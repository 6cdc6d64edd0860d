/* SPDX-License-Identifier: MIT */
#include "proto_gearman/schedule.h"

#include "core/base/digits.h"

#include "schedule/cron.h"
#include "schedule/zone.h"

#include <time.h>

enum field { MINUTE, HOUR, DAY, MONTH, WEEKDAY };

struct range {
    int least, most;
};

static const struct range ranges[GEAR_SCHEDULE_FIELDS] = {
    [MINUTE] = {0, 59}, [HOUR] = {0, 23}, [DAY] = {1, 31}, [MONTH] = {1, 12}, [WEEKDAY] = {0, 6},
};

bool gear_epoch_parse(struct slice text, nsec_t *at)
{
    const uint64_t most = (uint64_t)(NSEC_NEVER / NSEC_PER_SEC);
    uint64_t seconds;

    if (!digits_read(text, &seconds)) {
        return false;
    }
    *at = (nsec_t)(seconds < most ? seconds : most) * NSEC_PER_SEC;
    return true;
}

// A field as the set of the values that match.
static bool parse_field(struct slice text, struct range range, uint64_t *set)
{
    uint64_t number;

    if (text.len == 0 || slice_equal(text, SLICE("*"))) {
        *set = UINT64_MAX;
        return true;
    }
    if (!digits_read(text, &number) || number > (uint64_t)range.most ||
        number < (uint64_t)range.least) {
        return false;
    }
    *set = UINT64_C(1) << number;
    return true;
}

// Gearman's week begins with Monday, cron's with Sunday.
static uint32_t weekdays_of(uint64_t from_monday)
{
    return (uint32_t)((from_monday << 1 | (from_monday >> 6 & 1)) & 0x7f);
}

// A job that starts once is no time of the day that comes each day: it goes by real time, and both
// days must match.
static bool parse_fields(const struct slice fields[GEAR_SCHEDULE_FIELDS], struct cron *cron)
{
    uint64_t sets[GEAR_SCHEDULE_FIELDS];

    for (int i = 0; i < GEAR_SCHEDULE_FIELDS; i++) {
        if (!parse_field(fields[i], ranges[i], &sets[i])) {
            return false;
        }
    }
    *cron = (struct cron){
        .minutes = sets[MINUTE],
        .hours = (uint32_t)sets[HOUR],
        .days = (uint32_t)sets[DAY],
        .months = (uint32_t)sets[MONTH],
        .weekdays = weekdays_of(sets[WEEKDAY]),
        .real_time = true,
    };
    return cron_has_dates(cron);
}

static int32_t local_offset_at(const struct zone *zone, int64_t at)
{
    time_t moment = (time_t)at;
    struct tm local;

    (void)zone;
    return localtime_r(&moment, &local) ? (int32_t)local.tm_gmtoff : 0;
}

bool gear_schedule_next(const struct slice fields[GEAR_SCHEDULE_FIELDS], nsec_t now, nsec_t *at)
{
    static const struct zone local = {.offset_at = local_offset_at};
    struct cron cron;

    return parse_fields(fields, &cron) && cron_next(&cron, &local, now, at);
}
