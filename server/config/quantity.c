/* SPDX-License-Identifier: MIT */
#include "server/config/quantity.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

// How many digits of a share stand behind the point.
#define SHARE_DIGITS 6

static const struct unit {
    const char *word;
    nsec_t length_for;
} units[] = {
    {"ms", NSEC_PER_MSEC},      {"s", NSEC_PER_SEC},         {"m", 60 * NSEC_PER_SEC},
    {"h", 3600 * NSEC_PER_SEC}, {"d", 86400 * NSEC_PER_SEC},
};

#define UNITS (sizeof units / sizeof *units)
#define UNIT_SECOND 1 // its place: a number without a unit has this one

bool quantity_digits(const char *text, int64_t *value, const char **end)
{
    const char *digits = *text == '-' ? text + 1 : text;
    int64_t sum = 0;

    if (*digits < '0' || *digits > '9') {
        return false;
    }
    for (; *digits >= '0' && *digits <= '9'; digits++) {
        if (__builtin_mul_overflow(sum, 10, &sum) ||
            __builtin_add_overflow(sum, *digits - '0', &sum)) {
            return false;
        }
    }
    *value = *text == '-' ? -sum : sum;
    *end = digits;
    return true;
}

// NULL for none.
static const struct unit *unit_called(const char *word)
{
    for (size_t i = 0; i < UNITS; i++) {
        if (strcmp(units[i].word, word) == 0) {
            return &units[i];
        }
    }
    return NULL;
}

bool quantity_duration(const char *text, nsec_t *duration_for, struct error_text *why)
{
    const struct unit *unit = NULL;
    const char *end;
    int64_t count;

    if (quantity_digits(text, &count, &end) && *text != '-') {
        unit = *end ? unit_called(end) : &units[UNIT_SECOND];
    }
    if (!unit || __builtin_mul_overflow(count, unit->length_for, duration_for)) {
        return error_set(why, "`%s` is not a duration (a number with ms, s, m, h or d behind it)",
                         text);
    }
    return true;
}

bool quantity_rate(const char *text, nsec_t *interval_for, struct error_text *why)
{
    const struct unit *unit = NULL;
    const char *end;
    int64_t count;

    if (strcmp(text, "0") == 0) {
        *interval_for = 0;
        return true;
    }
    if (quantity_digits(text, &count, &end) && count > 0 && *end == '/') {
        unit = unit_called(end + 1);
    }
    if (!unit || unit == &units[0]) {
        return error_set(why, "`%s` is not a rate (a number with /s, /m, /h or /d behind it, or 0)",
                         text);
    }
    if (unit->length_for / count < NSEC_PER_SEC / QUANTITY_RATE_MOST) {
        return error_set(why, "`%s` is more than %d/s", text, QUANTITY_RATE_MOST);
    }
    *interval_for = unit->length_for / count;
    return true;
}

bool quantity_share(const char *text, uint32_t *share, struct error_text *why)
{
    uint32_t sum = *text == '1' ? QUANTITY_SHARE_WHOLE : 0;
    uint32_t place = QUANTITY_SHARE_WHOLE / 10;
    bool good = *text == '0' || *text == '1';
    const char *at = good ? text + 1 : text;

    if (good && *at == '.') {
        at++;
        good = *at != '\0';
        for (; *at >= '0' && *at <= '9' && place > 0; at++) {
            sum += (uint32_t)(*at - '0') * place;
            place /= 10;
        }
    }
    if (!good || *at != '\0' || sum > QUANTITY_SHARE_WHOLE) {
        return error_set(why,
                         "`%s` is not a number from 0 to 1 (with at most %d digits behind a point)",
                         text, SHARE_DIGITS);
    }
    *share = sum;
    return true;
}

void quantity_print_duration(nsec_t duration_for, FILE *file)
{
    size_t unit = 0;

    if (duration_for == 0) {
        (void)fputc('0', file);
        return;
    }
    for (size_t i = 0; i < UNITS; i++) {
        unit = duration_for % units[i].length_for == 0 ? i : unit;
    }
    (void)fprintf(file, "%" PRId64 "%s", duration_for / units[unit].length_for, units[unit].word);
}

// Of all counts in a unit of time that come to this interval, the quotient is the largest.
void quantity_print_rate(nsec_t interval_for, FILE *file)
{
    if (interval_for == 0) {
        (void)fputc('0', file);
        return;
    }
    for (size_t i = UNIT_SECOND; i < UNITS; i++) {
        nsec_t count = units[i].length_for / interval_for;

        if (count > 0 && (units[i].length_for / count == interval_for || i + 1 == UNITS)) {
            (void)fprintf(file, "%" PRId64 "/%s", count, units[i].word);
            return;
        }
    }
}

void quantity_print_share(uint32_t share, FILE *file)
{
    uint32_t rest = share % QUANTITY_SHARE_WHOLE;
    int digits = SHARE_DIGITS;

    (void)fprintf(file, "%" PRIu32, share / QUANTITY_SHARE_WHOLE);
    for (; rest > 0 && rest % 10 == 0; digits--) {
        rest /= 10;
    }
    if (rest > 0) {
        (void)fprintf(file, ".%0*" PRIu32, digits, rest);
    }
}
