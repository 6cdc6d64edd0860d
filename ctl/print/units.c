/* SPDX-License-Identifier: MIT */
#include "ctl/print/units.h"

#include "core/base/digits.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

// The largest whole number up to which a double is exact.
#define EXACT_MAX 9007199254740992.0

//
// Writing
//

void units_add_count(struct text *to, uint64_t number)
{
    char digits[DIGITS_MAX];
    size_t len = (size_t)(digits_write(digits, number) - digits);

    for (size_t i = 0; i < len; i++) {
        if (i > 0 && (len - i) % 3 == 0) {
            text_put_char(to, ',');
        }
        text_put_char(to, digits[i]);
    }
}

void units_add_noun(struct text *to, uint64_t number, const char *word)
{
    units_add_count(to, number);
    text_format(to, " %s%s", word, number == 1 ? "" : "s");
}

// Values of one or two digits get a decimal.
static void add_scaled(struct text *to, double value, const char *unit)
{
    text_format(to, "%.*f%s", value < 99.95 ? 1 : 0, value, unit);
}

// Divides the value until it is below the step, at most `most` times. Returns the number of
// divisions.
static size_t scale(double *value, double step, size_t most)
{
    size_t times = 0;

    // A value that would be rounded up to the step belongs to the next unit.
    while (times < most && *value >= step - 0.5) {
        *value /= step;
        times++;
    }
    return times;
}

void units_add_short(struct text *to, uint64_t number)
{
    static const char *const units[] = {"", "k", "M", "G", "T", "P", "E"};
    double value = (double)number;
    size_t unit = scale(&value, 1000, sizeof units / sizeof *units - 1);

    if (unit == 0) {
        text_format(to, "%llu", (unsigned long long)number);
    } else {
        add_scaled(to, value, units[unit]);
    }
}

void units_add_bytes(struct text *to, uint64_t bytes)
{
    static const char *const units[] = {" B", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB"};
    double value = (double)bytes;
    size_t unit = scale(&value, 1024, sizeof units / sizeof *units - 1);

    if (unit == 0) {
        text_format(to, "%llu B", (unsigned long long)bytes);
    } else {
        add_scaled(to, value, units[unit]);
    }
}

void units_add_seconds(struct text *to, double seconds)
{
    static const struct {
        unsigned long long size;
        const char *name;
    } units[] = {{86400, "d"}, {3600, "h"}, {60, "m"}, {1, "s"}};
    unsigned long long whole;
    size_t first = 0;

    if (seconds < 59.95) {
        if (seconds <= 0) {
            text_put(to, "0 s");
        } else if (seconds < 0.0009995) {
            text_format(to, "%.0f us", ceil(seconds * 1e6));
        } else if (seconds < 0.9995) {
            text_format(to, "%.0f ms", seconds * 1e3);
        } else {
            text_format(to, "%.1f s", seconds);
        }
        return;
    }
    whole = (unsigned long long)fmin(round(seconds), EXACT_MAX);
    while (units[first].size > whole) {
        first++;
    }
    text_format(to, "%llu%s", whole / units[first].size, units[first].name);
    whole %= units[first].size;
    if (first + 1 < sizeof units / sizeof *units && whole / units[first + 1].size > 0) {
        text_format(to, " %llu%s", whole / units[first + 1].size, units[first + 1].name);
    }
}

static struct quantity quantity_of(struct text *text)
{
    struct quantity quantity;

    (void)snprintf(quantity.text, sizeof quantity.text, "%s", text_string(text));
    text_free(text);
    return quantity;
}

struct quantity units_count(uint64_t number)
{
    struct text text = {0};

    units_add_count(&text, number);
    return quantity_of(&text);
}

struct quantity units_bytes(uint64_t bytes)
{
    struct text text = {0};

    units_add_bytes(&text, bytes);
    return quantity_of(&text);
}

struct quantity units_seconds(double seconds)
{
    struct text text = {0};

    units_add_seconds(&text, seconds);
    return quantity_of(&text);
}

struct quantity units_moment(double seconds)
{
    struct quantity moment = {"?"};
    time_t whole = (time_t)seconds;
    struct tm parts;

    if (seconds >= 0 && seconds < 1e11 && localtime_r(&whole, &parts)) {
        (void)strftime(moment.text, sizeof moment.text, "%Y-%m-%d %H:%M:%S", &parts);
    }
    return moment;
}

//
// Reading
//

bool units_read_count(const char *from, uint64_t *number)
{
    return digits_read(slice_str(from), number);
}

// Parses a decimal number and advances `*from`. False if it is malformed.
static bool read_decimal(const char **from, double *value)
{
    size_t len = strspn(*from, "0123456789.");
    char *end;

    if (len == 0 || len > 32) {
        return false;
    }
    *value = strtod(*from, &end);
    if (end != *from + len) {
        return false;
    }
    *from = end;
    return true;
}

struct unit {
    const char *name;
    double size;
};

// Parses a unit of letters and advances `*from`. NULL if it is unknown.
static const struct unit *read_unit(const char **from, const struct unit *units, size_t count)
{
    size_t len = strspn(*from, "abcdefghijklmnopqrstuvwxyzBKMGTPEI");

    for (size_t i = 0; i < count; i++) {
        if (strlen(units[i].name) == len && strncasecmp(units[i].name, *from, len) == 0) {
            *from += len;
            return &units[i];
        }
    }
    return NULL;
}

bool units_read_seconds(const char *from, double *seconds)
{
    static const struct unit units[] = {{"ms", 1e-3}, {"s", 1},     {"m", 60},     {"min", 60},
                                        {"h", 3600},  {"d", 86400}, {"w", 604800}, {"", 1}};
    double sum = 0;

    do {
        const struct unit *unit;
        double value;

        if (!read_decimal(&from, &value)) {
            return false;
        }
        unit = read_unit(&from, units, sizeof units / sizeof *units);
        if (!unit) {
            return false;
        }
        sum += value * unit->size;
    } while (*from);
    *seconds = sum;
    return sum <= EXACT_MAX;
}

bool units_read_bytes(const char *from, uint64_t *bytes)
{
    static const struct unit units[] = {
        {"", 1},         {"b", 1},       {"k", 0x1p10},   {"kb", 0x1p10},  {"kib", 0x1p10},
        {"m", 0x1p20},   {"mb", 0x1p20}, {"mib", 0x1p20}, {"g", 0x1p30},   {"gb", 0x1p30},
        {"gib", 0x1p30}, {"t", 0x1p40},  {"tb", 0x1p40},  {"tib", 0x1p40},
    };
    const struct unit *unit;
    double value;

    if (!read_decimal(&from, &value)) {
        return false;
    }
    unit = read_unit(&from, units, sizeof units / sizeof *units);
    if (!unit || *from || value * unit->size > EXACT_MAX) {
        return false;
    }
    *bytes = (uint64_t)(value * unit->size);
    return true;
}

bool units_read_range(const char *from, uint64_t *least, uint64_t *most)
{
    const char *dash = strchr(from, '-');
    struct slice low = slice_of(from, dash ? (size_t)(dash - from) : strlen(from));
    struct slice high = dash ? slice_str(dash + 1) : low;

    *least = 0;
    *most = UINT64_MAX;
    if (low.len == 0 && high.len == 0) {
        return false;
    }
    return (low.len == 0 || digits_read(low, least)) &&
           (high.len == 0 || digits_read(high, most)) && *least <= *most;
}
