/* SPDX-License-Identifier: MIT */
#include "server/config/setting.h"

#include "server/config/credential.h"
#include "server/config/quantity.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void *setting_field(const struct option *option, void *values)
{
    return (char *)values + option->offset;
}

static const void *setting_field_const(const struct option *option, const void *values)
{
    return (const char *)values + option->offset;
}

static int unit_shift(char unit)
{
    switch (unit) {
    case 'k':
    case 'K':
        return 10;
    case 'm':
    case 'M':
        return 20;
    case 'g':
    case 'G':
        return 30;
    default:
        return 0;
    }
}

static bool parse_in_range(const struct option *option, const char *text, int64_t *value,
                           struct error_text *why)
{
    const char *end;
    bool good = quantity_digits(text, value, &end);

    if (good && option->kind == OPTION_SIZE) {
        int shift = unit_shift(*end);

        end += shift ? 1 : 0;
        good = !__builtin_mul_overflow(*value, INT64_C(1) << shift, value);
    }
    if (!good || *end != '\0') {
        return error_set(why, "`%s` is not %s", text,
                         option->kind == OPTION_SIZE
                             ? "a size (a number, with k, M or G where wanted)"
                             : "a whole number");
    }
    if (*value < option->min || *value > option->max) {
        return error_set(why, "`%s` is not between %" PRId64 " and %" PRId64, text, option->min,
                         option->max);
    }
    return true;
}

static bool parse_bool(const char *text, bool *value, struct error_text *why)
{
    *value = strcmp(text, "true") == 0 || strcmp(text, "yes") == 0;
    if (!*value && strcmp(text, "false") != 0 && strcmp(text, "no") != 0) {
        return error_set(why, "`%s` is neither `true` nor `false`", text);
    }
    return true;
}

static void print_bounds(const struct option *option, const char *text, struct error_text *why)
{
    char bounds[64];
    FILE *file = fmemopen(bounds, sizeof bounds, "w");

    bounds[0] = '\0';
    if (file) {
        quantity_print_duration(option->min, file);
        (void)fputs(" and ", file);
        quantity_print_duration(option->max, file);
        (void)fclose(file);
    }
    error_set(why, "`%s` is not between %s", text, bounds);
}

static bool parse_duration(const struct option *option, const char *text, nsec_t *value,
                           struct error_text *why)
{
    nsec_t duration_for;

    if (!quantity_duration(text, &duration_for, why)) {
        return false;
    }
    if (duration_for < option->min || duration_for > option->max) {
        print_bounds(option, text, why);
        return false;
    }
    *value = duration_for;
    return true;
}

static bool parse_text(const char *text, char **value, struct error_text *why)
{
    size_t size = strlen(text) + 1;
    char *copy = malloc(size);

    if (!copy) {
        return error_set(why, "out of memory");
    }
    memcpy(copy, text, size);
    free(*value);
    *value = copy;
    return true;
}

static bool parse_file(const char *text, char **value, struct error_text *why)
{
    char path[PATH_MAX];

    if (!credential_is_named(text)) {
        return parse_text(text, value, why);
    }
    return credential_path(text, path, why) && parse_text(path, value, why);
}

static bool parse_credential(const char *text, char **value, struct error_text *why)
{
    char line[CREDENTIAL_ROOM];

    if (!credential_is_named(text)) {
        return parse_text(text, value, why);
    }
    return credential_read(text, line, why) && parse_text(line, value, why);
}

static bool parse_any_text(const struct option *option, const char *text, char **value,
                           struct error_text *why)
{
    if (option->is_credential) {
        return parse_credential(text, value, why);
    }
    return option->is_file ? parse_file(text, value, why) : parse_text(text, value, why);
}

// The word at place `index` of the list, its length in `*len`; NULL behind the last.
static const char *choice_at(const char *choices, int index, size_t *len)
{
    for (; index > 0 && choices; index--) {
        choices = strchr(choices, '|');
        choices = choices ? choices + 1 : NULL;
    }
    *len = choices ? strcspn(choices, "|") : 0;
    return choices;
}

static bool parse_choice(const struct option *option, const char *text, int *value,
                         struct error_text *why)
{
    const char *word;
    size_t len;

    for (int i = 0; (word = choice_at(option->choices, i, &len)); i++) {
        if (strlen(text) == len && memcmp(word, text, len) == 0) {
            *value = i;
            return true;
        }
    }
    return error_set(why, "`%s` is not one of %s", text, option->choices);
}

bool setting_parse(const struct option *option, void *values, const char *text,
                   struct error_text *why)
{
    void *field = setting_field(option, values);
    int64_t number = 0;
    bool flag;

    switch (option->kind) {
    case OPTION_SIZE:
        if (!parse_in_range(option, text, &number, why)) {
            return false;
        }
        *(uint64_t *)field = (uint64_t)number;
        return true;
    case OPTION_NUMBER:
        if (!parse_in_range(option, text, &number, why)) {
            return false;
        }
        *(int64_t *)field = number;
        return true;
    case OPTION_COUNT:
        if (!parse_in_range(option, text, &number, why)) {
            return false;
        }
        *(uint32_t *)field = (uint32_t)number;
        return true;
    case OPTION_BOOL:
        if (!parse_bool(text, &flag, why)) {
            return false;
        }
        *(bool *)field = flag;
        return true;
    case OPTION_TEXT:
        return parse_any_text(option, text, field, why);
    case OPTION_CHOICE:
        return parse_choice(option, text, field, why);
    case OPTION_DURATION:
        return parse_duration(option, text, field, why);
    case OPTION_RATE:
        return quantity_rate(text, field, why);
    case OPTION_SHARE:
        return quantity_share(text, field, why);
    }
    UNREACHABLE();
}

// In the largest unit that leaves no fraction.
static void print_size(uint64_t size, FILE *file)
{
    static const char units[] = {'\0', 'k', 'M', 'G'};
    size_t unit = 0;

    while (size && size % 1024 == 0 && unit + 1 < sizeof units) {
        size /= 1024;
        unit++;
    }
    (void)fprintf(file, "%" PRIu64, size);
    if (unit) {
        (void)fputc(units[unit], file);
    }
}

static void print_text(const struct option *option, const char *text, FILE *file)
{
    if (option->show) {
        option->show(text, file);
    } else {
        (void)fputs(option->secret && *text ? SETTING_HIDDEN : text, file);
    }
}

void setting_print(const struct option *option, const void *values, FILE *file)
{
    const void *field = setting_field_const(option, values);
    const char *word;
    size_t len;

    switch (option->kind) {
    case OPTION_SIZE:
        print_size(*(const uint64_t *)field, file);
        return;
    case OPTION_NUMBER:
        (void)fprintf(file, "%" PRId64, *(const int64_t *)field);
        return;
    case OPTION_COUNT:
        (void)fprintf(file, "%" PRIu32, *(const uint32_t *)field);
        return;
    case OPTION_BOOL:
        (void)fputs(*(const bool *)field ? "true" : "false", file);
        return;
    case OPTION_TEXT:
        print_text(option, *(char *const *)field, file);
        return;
    case OPTION_CHOICE:
        word = choice_at(option->choices, *(const int *)field, &len);
        ENSURE(word);
        (void)fwrite(word, 1, len, file);
        return;
    case OPTION_DURATION:
        quantity_print_duration(*(const nsec_t *)field, file);
        return;
    case OPTION_RATE:
        quantity_print_rate(*(const nsec_t *)field, file);
        return;
    case OPTION_SHARE:
        quantity_print_share(*(const uint32_t *)field, file);
        return;
    }
    UNREACHABLE();
}

void setting_text(const struct option *option, const void *values, char *text, size_t room)
{
    FILE *file = fmemopen(text, room, "w");

    text[0] = '\0';
    if (file) {
        setting_print(option, values, file);
        (void)fclose(file);
        text[room - 1] = '\0';
    }
}

static size_t setting_size(const struct option *option)
{
    switch (option->kind) {
    case OPTION_SIZE:
        return sizeof(uint64_t);
    case OPTION_NUMBER:
        return sizeof(int64_t);
    case OPTION_COUNT:
    case OPTION_SHARE:
        return sizeof(uint32_t);
    case OPTION_DURATION:
    case OPTION_RATE:
        return sizeof(nsec_t);
    case OPTION_BOOL:
        return sizeof(bool);
    case OPTION_TEXT:
        return sizeof(char *);
    case OPTION_CHOICE:
        return sizeof(int);
    }
    UNREACHABLE();
}

bool setting_equal(const struct option *option, const void *a, const void *b)
{
    const void *left = setting_field_const(option, a);
    const void *right = setting_field_const(option, b);

    if (option->kind == OPTION_TEXT) {
        return strcmp(*(char *const *)left, *(char *const *)right) == 0;
    }
    return memcmp(left, right, setting_size(option)) == 0;
}

void setting_swap(const struct option *option, void *a, void *b)
{
    char spare[sizeof(uint64_t)];
    size_t size = setting_size(option);

    ENSURE(size <= sizeof spare);
    memcpy(spare, setting_field(option, a), size);
    memcpy(setting_field(option, a), setting_field(option, b), size);
    memcpy(setting_field(option, b), spare, size);
}

void setting_clear(const struct option *option, void *values)
{
    if (option->kind == OPTION_TEXT) {
        char **text = setting_field(option, values);

        free(*text);
        *text = NULL;
    }
}
