/* SPDX-License-Identifier: MIT */
#include "server/config/setting.h"

#include "os/small_file.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

// Digits of a share after the decimal point.
#define SHARE_DIGITS 6

static const struct time_unit {
    const char *word;
    nsec_t length_for;
} time_units[] = {
    {"ms", NSEC_PER_MSEC},      {"s", NSEC_PER_SEC},         {"m", 60 * NSEC_PER_SEC},
    {"h", 3600 * NSEC_PER_SEC}, {"d", 86400 * NSEC_PER_SEC},
};

#define TIME_UNITS (sizeof time_units / sizeof *time_units)
#define UNIT_SECOND 1 // the index of the unit of a number without one

// Parses digits with an optional minus sign; `*end` is behind them. False without digits, or if the
// number is too large.
static bool quantity_digits(const char *text, int64_t *value, const char **end)
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

// NULL if there is no unit of that name.
static const struct time_unit *time_unit_find(const char *word)
{
    for (size_t i = 0; i < TIME_UNITS; i++) {
        if (strcmp(time_units[i].word, word) == 0) {
            return &time_units[i];
        }
    }
    return NULL;
}

bool quantity_duration(const char *text, nsec_t *duration_for, struct error_text *why)
{
    const struct time_unit *unit = NULL;
    const char *end;
    int64_t count;

    if (quantity_digits(text, &count, &end) && *text != '-') {
        unit = *end ? time_unit_find(end) : &time_units[UNIT_SECOND];
    }
    if (!unit || __builtin_mul_overflow(count, unit->length_for, duration_for)) {
        return error_set(why, "`%s` is not a duration (a number with ms, s, m, h or d after it)",
                         text);
    }
    return true;
}

bool quantity_rate(const char *text, nsec_t *interval_for, struct error_text *why)
{
    const struct time_unit *unit = NULL;
    const char *end;
    int64_t count;

    if (strcmp(text, "0") == 0) {
        *interval_for = 0;
        return true;
    }
    if (quantity_digits(text, &count, &end) && count > 0 && *end == '/') {
        unit = time_unit_find(end + 1);
    }
    if (!unit || unit == &time_units[0]) {
        return error_set(why, "`%s` is not a rate (a number with /s, /m, /h or /d after it, or 0)",
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
        return error_set(
            why, "`%s` is not a number from 0 to 1 (with at most %d digits after the point)", text,
            SHARE_DIGITS);
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
    for (size_t i = 0; i < TIME_UNITS; i++) {
        unit = duration_for % time_units[i].length_for == 0 ? i : unit;
    }
    (void)fprintf(file, "%" PRId64 "%s", duration_for / time_units[unit].length_for,
                  time_units[unit].word);
}

// Of all counts a unit of time with this interval, the quotient is the largest.
void quantity_print_rate(nsec_t interval_for, FILE *file)
{
    if (interval_for == 0) {
        (void)fputc('0', file);
        return;
    }
    for (size_t i = UNIT_SECOND; i < TIME_UNITS; i++) {
        nsec_t count = time_units[i].length_for / interval_for;

        if (count > 0 &&
            (time_units[i].length_for / count == interval_for || i + 1 == TIME_UNITS)) {
            (void)fprintf(file, "%" PRId64 "/%s", count, time_units[i].word);
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

//
// Files that the service manager passes to the process (systemd's LoadCredential=). They are in a
// directory that only this process may read, and that $CREDENTIALS_DIRECTORY names. In a setting,
// `credential:NAME` stands for such a file, or for its content.
//

static const char credential_prefix[] = "credential:";

// The longest content of a credential, with its line end.
#define CREDENTIAL_MOST 4096

static bool is_credential(const char *text)
{
    return strncmp(text, credential_prefix, strlen(credential_prefix)) == 0;
}

// The path of the file, which need not exist.
static bool credential_path(const char *text, char path[PATH_MAX], struct error_text *why)
{
    const char *name = text + strlen(credential_prefix);
    const char *dir = getenv("CREDENTIALS_DIRECTORY");
    int len;

    // The name must not lead out of the directory.
    if (*name == '\0' || strchr(name, '/') || strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
        return error_set(why, "`%s` is not the name of a credential", text);
    }
    if (!dir || *dir != '/') {
        return error_set(why, "`%s`: no credentials were handed over ($CREDENTIALS_DIRECTORY)",
                         text);
    }
    len = snprintf(path, PATH_MAX, "%s/%s", dir, name);
    if (len < 0 || len >= PATH_MAX) {
        return error_set(why, "`%s`: the path is too long", text);
    }
    return true;
}

bool setting_read_line(const char *path, bool waits, struct small_file *file,
                       struct error_text *why)
{
    int error = waits ? small_file_read_any(file, path, CREDENTIAL_MOST)
                      : small_file_read(file, path, CREDENTIAL_MOST);

    if (error && error != EFBIG) {
        return error_set(why, "%s: %s", path, small_file_error(error));
    }
    if (!error && file->len > 0 && file->bytes[file->len - 1] == '\n') {
        file->bytes[--file->len] = '\0';
    }
    if (error || file->len == CREDENTIAL_MOST || memchr(file->bytes, '\n', file->len) ||
        memchr(file->bytes, '\0', file->len)) {
        small_file_free(file);
        return error_set(why, "%s: not one line of less than %d bytes", path, CREDENTIAL_MOST);
    }
    return true;
}

static void *setting_field(const struct option *option, void *values)
{
    return (char *)values + option->offset;
}

static const void *setting_field_const(const struct option *option, const void *values)
{
    return (const char *)values + option->offset;
}

static int size_unit_shift(char unit)
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

static bool setting_parse_number(const struct option *option, const char *text, int64_t *value,
                                 struct error_text *why)
{
    const char *end;
    bool good = quantity_digits(text, value, &end);

    if (good && option->kind == OPTION_SIZE) {
        int shift = size_unit_shift(*end);

        end += shift ? 1 : 0;
        good = !__builtin_mul_overflow(*value, INT64_C(1) << shift, value);
    }
    if (!good || *end != '\0') {
        return error_set(why, "`%s` is not %s", text,
                         option->kind != OPTION_SIZE ? "a whole number"
                         : option->has_auto
                             ? "`auto` or a size (a number, optionally with k, M or G)"
                             : "a size (a number, optionally with k, M or G)");
    }
    if (*value < option->min || *value > option->max) {
        return error_set(why, "`%s` is not between %" PRId64 " and %" PRId64, text, option->min,
                         option->max);
    }
    return true;
}

static bool setting_parse_size(const struct option *option, const char *text, uint64_t *size,
                               struct error_text *why)
{
    int64_t number = 0;

    if (option->has_auto && strcmp(text, "auto") == 0) {
        *size = OPTION_AUTO;
        return true;
    }
    if (!setting_parse_number(option, text, &number, why)) {
        return false;
    }
    *size = (uint64_t)number;
    return true;
}

static bool setting_parse_bool(const char *text, bool *value, struct error_text *why)
{
    *value = strcmp(text, "true") == 0 || strcmp(text, "yes") == 0;
    if (!*value && strcmp(text, "false") != 0 && strcmp(text, "no") != 0) {
        return error_set(why, "`%s` is neither `true` nor `false`", text);
    }
    return true;
}

static bool setting_parse_duration(const struct option *option, const char *text, nsec_t *value,
                                   struct error_text *why)
{
    const struct option plain = {.kind = OPTION_DURATION};
    char least[32], most[32];
    nsec_t duration_for = 0;

    if (!quantity_duration(text, &duration_for, why)) {
        return false;
    }
    if (duration_for < option->min || duration_for > option->max) {
        setting_text(&plain, &option->min, least, sizeof least);
        setting_text(&plain, &option->max, most, sizeof most);
        return error_set(why, "`%s` is not between %s and %s", text, least, most);
    }
    *value = duration_for;
    return true;
}

static bool setting_copy_text(const char *text, char **value, struct error_text *why)
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

static bool setting_parse_text(const struct option *option, const char *text, char **value,
                               struct error_text *why)
{
    char path[PATH_MAX];
    struct small_file file;
    bool good;

    if ((!option->is_credential && !option->is_file) || !is_credential(text)) {
        return setting_copy_text(text, value, why);
    }
    if (!option->is_credential) {
        return credential_path(text, path, why) && setting_copy_text(path, value, why);
    }
    if (!credential_path(text, path, why) || !setting_read_line(path, true, &file, why)) {
        return false;
    }
    good = setting_copy_text(file.bytes, value, why);
    small_file_free(&file);
    return good;
}

// The word at `index` of the list, its length in `*len`; NULL after the last one.
static const char *setting_choice(const char *choices, int index, size_t *len)
{
    for (; index > 0 && choices; index--) {
        choices = strchr(choices, '|');
        choices = choices ? choices + 1 : NULL;
    }
    *len = choices ? strcspn(choices, "|") : 0;
    return choices;
}

static bool setting_parse_choice(const struct option *option, const char *text, int *value,
                                 struct error_text *why)
{
    const char *word;
    size_t len;

    for (int i = 0; (word = setting_choice(option->choices, i, &len)); i++) {
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
        return setting_parse_size(option, text, field, why);
    case OPTION_NUMBER:
        if (!setting_parse_number(option, text, &number, why)) {
            return false;
        }
        *(int64_t *)field = number;
        return true;
    case OPTION_COUNT:
        if (!setting_parse_number(option, text, &number, why)) {
            return false;
        }
        *(uint32_t *)field = (uint32_t)number;
        return true;
    case OPTION_BOOL:
        if (!setting_parse_bool(text, &flag, why)) {
            return false;
        }
        *(bool *)field = flag;
        return true;
    case OPTION_TEXT:
        return setting_parse_text(option, text, field, why);
    case OPTION_CHOICE:
        return setting_parse_choice(option, text, field, why);
    case OPTION_DURATION:
        return setting_parse_duration(option, text, field, why);
    case OPTION_RATE:
        return quantity_rate(text, field, why);
    case OPTION_SHARE:
        return quantity_share(text, field, why);
    }
    UNREACHABLE();
}

// In the largest unit that leaves no fraction.
static void setting_print_size(const struct option *option, uint64_t size, FILE *file)
{
    static const char suffixes[] = {'\0', 'k', 'M', 'G'};
    size_t unit = 0;

    if (option->has_auto && size == OPTION_AUTO) {
        (void)fputs("auto", file);
        return;
    }
    while (size && size % 1024 == 0 && unit + 1 < sizeof suffixes) {
        size /= 1024;
        unit++;
    }
    (void)fprintf(file, "%" PRIu64, size);
    if (unit) {
        (void)fputc(suffixes[unit], file);
    }
}

static void setting_print_text(const struct option *option, const char *text, FILE *file)
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
        setting_print_size(option, *(const uint64_t *)field, file);
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
        setting_print_text(option, *(char *const *)field, file);
        return;
    case OPTION_CHOICE:
        word = setting_choice(option->choices, *(const int *)field, &len);
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
