/* SPDX-License-Identifier: MIT */
#include "ctl/options.h"

#include "core/base/macros.h"
#include "ctl/print/units.h"

#include <string.h>

enum { MOST_SECONDS = 1000000000 };

static bool is_called(const struct option *option, const char *name, size_t len)
{
    if (len == 2 && name[0] == '-' && name[1] != '-') {
        return option->letter == name[1];
    }
    return strlen(option->name) == len && memcmp(option->name, name, len) == 0;
}

const struct option *options_find(const char *name, size_t len)
{
    for (const struct option *option = options_table; option->name; option++) {
        if (is_called(option, name, len)) {
            return option;
        }
    }
    return NULL;
}

//
// Values
//

// Whether `word`, of length `len`, is in the list.
static bool has_word(const char *list, const char *word, size_t len)
{
    while (*list) {
        size_t size = strcspn(list, " +");

        if (size == len && memcmp(list, word, len) == 0) {
            return true;
        }
        list += size;
        list += strspn(list, " +");
    }
    return false;
}

static bool are_words(const char *list, const char *value)
{
    bool several = strchr(list, '+') != NULL;

    for (;;) {
        size_t len = several ? strcspn(value, ",") : strlen(value);

        if (!has_word(list, value, len)) {
            return false;
        }
        if (value[len] == '\0') {
            return true;
        }
        value += len + 1;
    }
}

static bool read_seconds(const char *value, double *seconds)
{
    return units_read_seconds(value, seconds) && *seconds <= MOST_SECONDS;
}

static bool set_value(const struct option *option, void *place, const char *value)
{
    switch (option->kind) {
    case OPTION_FLAG:
        *(bool *)place = true;
        return true;
    case OPTION_TEXT:
        *(const char **)place = value;
        return true;
    case OPTION_WORDS:
        *(const char **)place = value;
        return are_words(option->words, value);
    case OPTION_COUNT:
        // NO_COUNT marks a missing option, so that it is not a valid value.
        return units_read_count(value, place) && *(uint64_t *)place != NO_COUNT;
    case OPTION_BYTES:
        return units_read_bytes(value, place);
    case OPTION_SECONDS:
        return read_seconds(value, place);
    case OPTION_RANGE:
        return units_read_range(value, place, (uint64_t *)place + 1);
    }
    UNREACHABLE();
}

static const char *expected(const struct option *option)
{
    switch (option->kind) {
    case OPTION_FLAG:
    case OPTION_TEXT:
        return "something";
    case OPTION_WORDS:
        return option->words;
    case OPTION_COUNT:
        return "a number";
    case OPTION_BYTES:
        return "a size such as 512, 10k or 1.5M";
    case OPTION_SECONDS:
        return "a time such as 30, 500ms, 10m or 1h30m";
    case OPTION_RANGE:
        return "a number, or two such as 0-99, 100- or -99";
    }
    UNREACHABLE();
}

//
// The command line
//

// A parsed option.
struct given {
    const struct option *option;
    const char *value; // NULL: a flag
    int taken;         // number of arguments used
};

// False with a problem.
static bool take_option(int count, char **arguments, struct given *given, struct problem *problem)
{
    const char *argument = *arguments;
    size_t len = strcspn(argument, "=");

    given->option = options_find(argument, len);
    given->value = argument[len] ? argument + len + 1 : NULL;
    given->taken = 1;
    if (!given->option) {
        (void)problem_set(problem, OUTCOME_USAGE,
                          "there is no option %.*s; --help lists those that there are", (int)len,
                          argument);
        return false;
    }
    if (given->option->kind == OPTION_FLAG) {
        if (given->value) {
            (void)problem_set(problem, OUTCOME_USAGE, "%.*s takes no value", (int)len, argument);
        }
        return !given->value;
    }
    if (!given->value && count > 1) {
        given->value = arguments[1];
        given->taken = 2;
    }
    if (!given->value) {
        (void)problem_set(problem, OUTCOME_USAGE, "%s needs a value: %s %s", argument, argument,
                          given->option->value);
    }
    return given->value != NULL;
}

static bool is_option(const char *argument)
{
    return argument[0] == '-' && argument[1] != '\0';
}

static bool set(struct options *options, const struct given *given, struct problem *problem)
{
    void *place = (char *)options + given->option->place;

    if (!set_value(given->option, place, given->value)) {
        (void)problem_set(problem, OUTCOME_USAGE, "%s: \"%s\" is not understood; it wants %s",
                          given->option->name, given->value, expected(given->option));
        return false;
    }
    return true;
}

static void begin(struct options *options)
{
    const char **words = options->words;

    *options = (struct options){
        .timeout = 10,
        .limit = NO_COUNT,
        .from = NO_COUNT,
        .older_than = NO_SECONDS,
        .younger_than = NO_SECONDS,
        .priority_least = 0,
        .priority_most = NO_COUNT,
        .larger_than = NO_COUNT,
        .smaller_than = NO_COUNT,
        .max = NO_COUNT,
        .new_priority = NO_COUNT,
        .delay = NO_SECONDS,
        .pause_for = NO_SECONDS,
        .high = NO_COUNT,
        .normal = NO_COUNT,
        .low = NO_COUNT,
        .ttr = NO_COUNT,
        .attempts = NO_COUNT,
        .interval = NO_SECONDS,
        .count = NO_COUNT,
        .words = words,
    };
}

enum outcome options_read(struct options *options, int count, char **arguments,
                          struct problem *problem)
{
    bool options_end = false;
    struct given given;

    begin(options);
    for (int i = 0; i < count; i += given.taken) {
        given.taken = 1;
        if (!options_end && strcmp(arguments[i], "--") == 0) {
            options_end = true;
        } else if (options_end || !is_option(arguments[i])) {
            options->words[options->word_count++] = arguments[i];
        } else if (!take_option(count - i, arguments + i, &given, problem) ||
                   !set(options, &given, problem)) {
            return OUTCOME_USAGE;
        }
    }
    return OUTCOME_DONE;
}

enum outcome options_allow(int count, char **arguments, unsigned groups, const char *command,
                           struct problem *problem)
{
    struct given given;

    for (int i = 0; i < count && strcmp(arguments[i], "--") != 0; i += given.taken) {
        given.taken = 1;
        if (!is_option(arguments[i])) {
            continue;
        }
        if (!take_option(count - i, arguments + i, &given, problem)) {
            return OUTCOME_USAGE;
        }
        if (!(given.option->groups & groups)) {
            return problem_set(
                problem, OUTCOME_USAGE,
                "%s has nothing to do with \"%s\"; tandemctl %s --help says what has",
                given.option->name, command, command);
        }
    }
    return OUTCOME_DONE;
}
