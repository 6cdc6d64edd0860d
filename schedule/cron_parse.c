/* SPDX-License-Identifier: MIT */
#include "schedule/cron.h"

#include "core/base/digits.h"
#include "core/base/macros.h"

#include <stdio.h>
#include <strings.h>

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
