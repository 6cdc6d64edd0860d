/* SPDX-License-Identifier: MIT */
#include "schedule/cron.h"

#include "core/base/digits.h"
#include "core/base/macros.h"
#include "schedule/date.h"

#include <stdio.h>
#include <strings.h>

// The search for matching moments has two parts. The first one searches the calendar alone, in
// local time, as if clocks were never set. The second one walks over the stretches of real time in
// which the offset of the zone stays the same, a few days at a time, and skips days without a match
// in the calendar.

//
// Local time
//

// A weekday falls on the same day of the month again after 28 years, or after 40 years if a century
// without a leap day is in between.
#define CRON_YEARS_MAX 41

static bool cron_has(uint64_t set, int value)
{
    return (set >> value & 1) != 0;
}

// The least member of the set in [from, end); `end`: there is none.
static int cron_member_from(uint64_t set, int from, int end)
{
    while (from < end && !cron_has(set, from)) {
        from++;
    }
    return from;
}

bool cron_has_dates(const struct cron *cron)
{
    const int leap_year = 2000;

    for (int month = 1; month <= 12; month++) {
        int length = date_month_length(leap_year, month);

        if (cron_has(cron->months, month) &&
            (cron_member_from(cron->days, 1, length + 1) <= length ||
             (cron->either_day && cron->weekdays != 0))) {
            return true;
        }
    }
    return false;
}

static bool cron_matches_date(const struct cron *cron, struct date date, int64_t days)
{
    bool by_day = cron_has(cron->days, date.day);
    bool by_weekday = cron_has(cron->weekdays, date_weekday(days));

    return cron_has(cron->months, date.month) &&
           (cron->either_day ? by_day || by_weekday : by_day && by_weekday);
}

// The first matching minute of the day from `from` on. False: there is none.
static bool cron_minute_from(const struct cron *cron, int from, int *found)
{
    int hour = cron_member_from(cron->hours, from / 60, 24);
    int minute = cron_member_from(cron->minutes, hour == from / 60 ? from % 60 : 0, 60);

    if (minute == 60) {
        hour = cron_member_from(cron->hours, hour + 1, 24);
        minute = cron_member_from(cron->minutes, 0, 60);
    }
    *found = hour * 60 + minute;
    return hour < 24;
}

// The first matching local time, in seconds, from `from` on. False: there is none within
// CRON_YEARS_MAX.
static bool cron_next_local(const struct cron *cron, int64_t from, int64_t *found)
{
    int64_t minutes = floor_div(from + MINUTE_SECONDS - 1, MINUTE_SECONDS);
    int64_t days = floor_div(minutes, 24 * 60);
    int begin = (int)(minutes - days * 24 * 60), minute;
    struct date date = date_from_days(days);
    int64_t last_year = date.year + CRON_YEARS_MAX;

    while (date.year <= last_year) {
        if (cron_matches_date(cron, date, days) && cron_minute_from(cron, begin, &minute)) {
            *found = days * DAY_SECONDS + (int64_t)minute * MINUTE_SECONDS;
            return true;
        }
        days += cron_has(cron->months, date.month)
                    ? 1
                    : date_month_length(date.year, date.month) - date.day + 1;
        date = date_from_days(days);
        begin = 0;
    }
    return false;
}

//
// Real time
//

// Clocks were never set by more than a day at once (where the date line moved). So local times that
// were shown longer ago than this cannot come again.
#define LOOK_BACK ((int64_t)2 * DAY_SECONDS)
#define WINDOW ((int64_t)2 * DAY_SECONDS)

static int64_t cron_larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

// The moment before `until` at which the zone's offset of `at` ends, or `until`. Looks once a day:
// two changes within a day that cancel each other out are not found, but no zone ever had such.
static int64_t cron_offset_end(const struct zone *zone, int64_t at, int64_t until)
{
    int32_t offset = zone_offset(zone, at);
    int64_t changed = at;

    do {
        at = changed;
        if (at >= until) {
            return until;
        }
        changed = until - at > DAY_SECONDS ? at + DAY_SECONDS : until;
    } while (zone_offset(zone, changed) == offset);
    while (changed - at > 1) {
        int64_t middle = at + (changed - at) / 2;

        if (zone_offset(zone, middle) == offset) {
            at = middle;
        } else {
            changed = middle;
        }
    }
    return changed;
}

// Whether a local time in [from, to) matches.
static bool cron_has_between(const struct cron *cron, int64_t from, int64_t to)
{
    int64_t local;

    return cron_next_local(cron, from, &local) && local < to;
}

// The first matching moment in (after, until).
static bool cron_next_within(const struct cron *cron, const struct zone *zone, int64_t after,
                             int64_t until, int64_t *at)
{
    // Clocks have shown the local times before this one already.
    int64_t passed = INT64_MIN;
    int64_t ends, local;

    for (int64_t begins = after - LOOK_BACK; begins < until; begins = ends) {
        int32_t offset = zone_offset(zone, begins);
        int64_t from = begins + offset;

        ends = cron_offset_end(zone, begins, until);
        if (!cron->real_time && passed != INT64_MIN) {
            if (begins > after && cron_has_between(cron, passed, from)) {
                *at = begins;
                return true;
            }
            from = cron_larger(from, passed);
        }
        if (cron_next_local(cron, cron_larger(from, after + 1 + offset), &local) &&
            local < ends + offset) {
            *at = local - offset;
            return true;
        }
        passed = cron_larger(passed, ends + offset);
    }
    return false;
}

bool cron_next(const struct cron *cron, const struct zone *zone, nsec_t after, nsec_t *at)
{
    int64_t begin = floor_div(after, NSEC_PER_SEC);
    int64_t last = begin + (int64_t)CRON_YEARS_MAX * 366 * DAY_SECONDS;
    int64_t most = NSEC_NEVER / NSEC_PER_SEC - WINDOW;

    for (int64_t from = begin; from < last && from < most;) {
        int64_t until = from + WINDOW;
        int64_t found;

        if (cron_next_within(cron, zone, from, until, &found)) {
            *at = found * NSEC_PER_SEC;
            return true;
        }
        // Until a day or more before the next local time that matches, no change of clocks can make
        // anything match.
        int64_t local = until + zone_offset(zone, until);

        if (!cron_next_local(cron, local, &found)) {
            return false;
        }
        from = until - 1 + cron_larger(found - local - LOOK_BACK, 0);
    }
    return false;
}

// Some matching moment in (after, until]. The search begins near `until` and goes back twice as far
// each time, so that few moments are between the result and `until`.
static bool cron_late_match(const struct cron *cron, const struct zone *zone, nsec_t after,
                            nsec_t until, nsec_t *at)
{
    nsec_t back_for = nsec_from_seconds(MINUTE_SECONDS);

    for (;; back_for *= 2) {
        bool whole = back_for >= until - after;
        nsec_t from = whole ? after : until - back_for;

        if (cron_next(cron, zone, from, at) && *at <= until) {
            return true;
        }
        if (whole) {
            return false;
        }
    }
}

bool cron_last(const struct cron *cron, const struct zone *zone, nsec_t after, nsec_t until,
               nsec_t *at)
{
    nsec_t none_from = until, next;

    if (until <= after || !cron_late_match(cron, zone, after, until, at)) {
        return false;
    }
    // Bisection: `*at` matches, and nothing in (none_from, until] does.
    while (cron_next(cron, zone, *at, &next) && next <= until) {
        nsec_t middle = next + (none_from > next ? (none_from - next) / 2 : 0);

        *at = next;
        if (middle > next && cron_next(cron, zone, middle, &next) && next <= until) {
            *at = next;
        } else {
            none_from = middle;
        }
    }
    return true;
}

//
// Parsing
//

enum { MINUTE, HOUR, DAY, MONTH, WEEKDAY, FIELDS };

struct cron_field {
    const char *name;
    int least, most;
    const char *names; // three letters each, from `least` on; NULL: none
};

static const struct cron_field fields[FIELDS] = {
    [MINUTE] = {"minute", 0, 59, NULL},
    [HOUR] = {"hour", 0, 23, NULL},
    [DAY] = {"day of month", 1, 31, NULL},
    [MONTH] = {"month", 1, 12, "janfebmaraprmayjunjulaugsepoctnovdec"},
    [WEEKDAY] = {"day of week", 0, 7, "sunmontuewedthufrisat"},
};

static const struct {
    struct slice name, meaning;
} cron_names[] = {
    {{"@yearly", 7}, {"0 0 1 1 *", 9}},  {{"@annually", 9}, {"0 0 1 1 *", 9}},
    {{"@monthly", 8}, {"0 0 1 * *", 9}}, {{"@weekly", 7}, {"0 0 * * 0", 9}},
    {{"@daily", 6}, {"0 0 * * *", 9}},   {{"@midnight", 9}, {"0 0 * * *", 9}},
    {{"@hourly", 7}, {"0 * * * *", 9}},
};

// A message quotes this many bytes of the text.
#define QUOTED_MAX 24

// `field`: the name of the wrong field; NULL: the whole text is wrong.
static bool cron_refuse(struct error_text *why, const char *field, struct slice text,
                        const char *what)
{
    return error_set(why, "%s%s`%.*s` %s", field ? field : "", field ? ": " : "",
                     (int)(text.len < QUOTED_MAX ? text.len : QUOTED_MAX), text.len ? text.ptr : "",
                     what);
}

// Takes the text before the first `separator`, and the separator, off the front; without a
// separator, takes all of it.
static struct slice cron_cut(struct slice *rest, char separator)
{
    const char *end = rest->len ? memchr(rest->ptr, separator, rest->len) : NULL;
    struct slice part = slice_of(rest->ptr, end ? (size_t)(end - rest->ptr) : rest->len);

    *rest = slice_from(*rest, end ? part.len + 1 : part.len);
    return part;
}

static bool cron_contains(struct slice text, char c)
{
    return text.len && memchr(text.ptr, c, text.len);
}

static bool cron_parse_name(const struct cron_field *field, struct slice text, int *value)
{
    if (!field->names || text.len != 3) {
        return false;
    }
    for (int i = 0; field->names[(size_t)i * 3]; i++) {
        if (strncasecmp(text.ptr, field->names + (size_t)i * 3, 3) == 0) {
            *value = field->least + i;
            return true;
        }
    }
    return false;
}

static bool cron_parse_value(const struct cron_field *field, struct slice text, int *value,
                             struct error_text *why)
{
    char range[48];
    uint64_t number;

    if (cron_parse_name(field, text, value)) {
        return true;
    }
    if (!digits_read(text, &number)) {
        return cron_refuse(why, field->name, text,
                           field->names ? "is neither a number nor a name" : "is not a number");
    }
    if (number < (uint64_t)field->least || number > (uint64_t)field->most) {
        (void)snprintf(range, sizeof range, "is not between %d and %d", field->least, field->most);
        return cron_refuse(why, field->name, text, range);
    }
    *value = (int)number;
    return true;
}

// `*`, a value, or a range.
static bool cron_parse_range(const struct cron_field *field, struct slice text, int *first,
                             int *last, struct error_text *why)
{
    struct slice rest = text;
    bool both = cron_contains(text, '-');

    if (slice_equal(text, SLICE("*"))) {
        *first = field->least;
        *last = field->most;
        return true;
    }
    if (!cron_parse_value(field, cron_cut(&rest, '-'), first, why)) {
        return false;
    }
    *last = *first;
    if (both && !cron_parse_value(field, rest, last, why)) {
        return false;
    }
    if (field == &fields[WEEKDAY] && both && *last == 0) {
        *last = 7;
    }
    return *first <= *last || cron_refuse(why, field->name, text, "runs backwards");
}

static bool cron_parse_item(const struct cron_field *field, struct slice item, uint64_t *set,
                            struct error_text *why)
{
    struct slice rest = item, range = cron_cut(&rest, '/');
    uint64_t step = 1;
    int first, last;

    if (!cron_parse_range(field, range, &first, &last, why)) {
        return false;
    }
    if (cron_contains(item, '/')) {
        if (!cron_contains(range, '-') && !slice_equal(range, SLICE("*"))) {
            return cron_refuse(why, field->name, item, "has a step, but not a range");
        }
        if (!digits_read(rest, &step) || step == 0) {
            return cron_refuse(why, field->name, item, "needs a step that is a number above 0");
        }
    }
    for (uint64_t value = (uint64_t)first; value <= (uint64_t)last; value += step) {
        *set |= UINT64_C(1) << value;
        if (step > (uint64_t)(last - first)) {
            break;
        }
    }
    return true;
}

static bool cron_parse_field(const struct cron_field *field, struct slice text, uint64_t *set,
                             struct error_text *why)
{
    struct slice rest = text;

    *set = 0;
    do {
        if (!cron_parse_item(field, cron_cut(&rest, ','), set, why)) {
            return false;
        }
    } while (rest.len);
    return slice_end(text)[-1] != ',' || cron_refuse(why, field->name, text, "ends with a comma");
}

// Splits the text at blanks into `parts`. False: there are not exactly FIELDS of them.
static bool cron_split(struct slice text, struct slice parts[FIELDS])
{
    int count = 0;

    for (; text.len; text = slice_trim(text)) {
        size_t len = 0;

        while (len < text.len && !slice_is_blank(text.ptr[len])) {
            len++;
        }
        if (count == FIELDS) {
            return false;
        }
        parts[count++] = slice_of(text.ptr, len);
        text = slice_from(text, len);
    }
    return count == FIELDS;
}

// Replaces a name, such as @daily, by the five fields that it stands for.
static bool cron_expand(struct slice *text, struct error_text *why)
{
    if (!text->len || text->ptr[0] != '@') {
        return true;
    }
    for (size_t i = 0; i < sizeof cron_names / sizeof *cron_names; i++) {
        if (cron_names[i].name.len == text->len &&
            strncasecmp(cron_names[i].name.ptr, text->ptr, text->len) == 0) {
            *text = cron_names[i].meaning;
            return true;
        }
    }
    return cron_refuse(why, NULL, *text,
                       "is not one of @yearly, @monthly, @weekly, @daily, @hourly");
}

bool cron_parse(struct slice text, struct cron *cron, struct error_text *why)
{
    struct slice parts[FIELDS];
    uint64_t sets[FIELDS];

    text = slice_trim(text);
    if (!cron_expand(&text, why)) {
        return false;
    }
    if (!cron_split(text, parts)) {
        return cron_refuse(why, NULL, text,
                           "is not minute, hour, day of month, month and day of week");
    }
    for (int i = 0; i < FIELDS; i++) {
        if (!cron_parse_field(&fields[i], parts[i], &sets[i], why)) {
            return false;
        }
    }
    *cron = (struct cron){
        .minutes = sets[MINUTE],
        .hours = (uint32_t)sets[HOUR],
        .days = (uint32_t)sets[DAY],
        .months = (uint32_t)sets[MONTH],
        .weekdays = (uint32_t)((sets[WEEKDAY] | sets[WEEKDAY] >> 7) & 0x7f),
        .either_day = parts[DAY].ptr[0] != '*' && parts[WEEKDAY].ptr[0] != '*',
        .real_time = parts[HOUR].ptr[0] == '*',
    };
    return cron_has_dates(cron) || cron_refuse(why, fields[DAY].name, parts[DAY],
                                               "is a day that does not exist in any of the months");
}
