/* SPDX-License-Identifier: MIT */
#include "ctl/options.h"

#include "core/base/macros.h"
#include "ctl/print/units.h"

#include <string.h>

// Of options with a time.
#define SECONDS_MAX 1e9

const struct command_option *options_find(const char *name, size_t len)
{
    bool letter = len == 2 && name[0] == '-' && name[1] != '-';

    for (const struct command_option *option = options_table; option->name; option++) {
        if (letter ? option->letter == name[1]
                   : strlen(option->name) == len && memcmp(option->name, name, len) == 0) {
            return option;
        }
    }
    return NULL;
}

//
// Values
//

// Whether `word`, of length `len`, is in the list.
static bool list_has_word(const char *list, const char *word, size_t len)
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

// Whether the value is a word of the list, or several joined by commas if the list allows that.
static bool are_words_of(const char *list, const char *value)
{
    bool several = strchr(list, '+') != NULL;

    for (;;) {
        size_t len = several ? strcspn(value, ",") : strlen(value);

        if (!list_has_word(list, value, len)) {
            return false;
        }
        if (value[len] == '\0') {
            return true;
        }
        value += len + 1;
    }
}

static bool set_option_value(const struct command_option *option, void *place, const char *value)
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
        return are_words_of(option->words, value);
    case OPTION_COUNT:
        // NO_COUNT marks a missing option, so that it is not a valid value.
        return units_read_count(value, place) && *(uint64_t *)place != NO_COUNT;
    case OPTION_BYTES:
        return units_read_bytes(value, place);
    case OPTION_SECONDS:
        return units_read_seconds(value, place) && *(double *)place <= SECONDS_MAX;
    case OPTION_RANGE:
        return units_read_range(value, place, (uint64_t *)place + 1);
    }
    UNREACHABLE();
}

static const char *expected_value(const struct command_option *option)
{
    switch (option->kind) {
    case OPTION_FLAG:
    case OPTION_TEXT:
        return "a value";
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
    const struct command_option *option;
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
        (void)problem_set(problem, OUTCOME_USAGE, "unknown option %.*s; --help lists all options",
                          (int)len, argument);
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

// Names what the option takes. In a table, a plus follows each word that may be one of several.
static void explain_value(const struct given *given, struct problem *problem)
{
    const char *expected = expected_value(given->option);
    bool is_list = given->option->kind == OPTION_WORDS;
    bool several = is_list && strchr(expected, '+');
    char plain[512];
    size_t len = 0;

    for (; *expected && len + 1 < sizeof plain; expected++) {
        if (*expected != '+') {
            plain[len++] = *expected;
        }
    }
    plain[len] = '\0';
    (void)problem_set(problem, OUTCOME_USAGE, "%s: \"%s\" is not valid: give %s%s%s",
                      given->option->name, given->value, is_list ? "one " : "",
                      several   ? "or more of these, with commas: "
                      : is_list ? "of "
                                : "",
                      plain);
}

// Stores the value. False with a problem.
static bool set_option(struct options *options, const struct given *given, struct problem *problem)
{
    void *place = (char *)options + given->option->place;

    if (!set_option_value(given->option, place, given->value)) {
        explain_value(given, problem);
        return false;
    }
    return true;
}

enum outcome options_read(struct options *options, int count, char **arguments,
                          struct problem *problem)
{
    const char **words = options->words;
    bool options_end = false;
    struct given given;

    *options = (struct options){
        .timeout = NO_SECONDS,
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
    for (int i = 0; i < count; i += given.taken) {
        given.taken = 1;
        if (!options_end && strcmp(arguments[i], "--") == 0) {
            options_end = true;
        } else if (options_end || !is_option(arguments[i])) {
            options->words[options->word_count++] = arguments[i];
        } else if (!take_option(count - i, arguments + i, &given, problem) ||
                   !set_option(options, &given, problem)) {
            return OUTCOME_USAGE;
        }
    }
    return OUTCOME_DONE;
}

double options_timeout(const struct options *options)
{
    return options->timeout >= 0 ? options->timeout : 10;
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
                "%s is not an option of \"%s\"; tandemctl %s --help lists its options",
                given.option->name, command, command);
        }
    }
    return OUTCOME_DONE;
}

//
// The table, in the order of the help
//

#define PLACE(member) offsetof(struct options, member)

#define STATES "ready+ delayed+ reserved+ buried+"
#define SORTS                                                                                      \
    "name ready delayed reserved buried submitted completed failed timeouts retries deleted "      \
    "oldest_ready_seconds workers waiting "                                                        \
    "-name -ready -delayed -reserved -buried -submitted -completed -failed -timeouts -retries "    \
    "-deleted -oldest_ready_seconds -workers -waiting"
#define WITH "ready+ delayed+ reserved+ buried+ paused+ waiting+ worked+ unworked+"

// clang-format off
const struct command_option options_table[] = {
    {"--queue", 'q', OPTION_TEXT, PLACE(queue), FOR_MANY | FOR_QUEUE, "QUEUE", NULL,
     "jobs of this queue"},
    {"--queues", 0, OPTION_TEXT, PLACE(queues), FOR_MANY | FOR_PAUSE | FOR_EXPORT, "GLOB", NULL,
     "queues whose names match, such as 'mail-*'"},
    {"--state", 's', OPTION_WORDS, PLACE(state), FOR_STATE | FOR_MANY, "STATE", STATES,
     "this state, or several with commas: ready, delayed, reserved, buried"},
    {"--older-than", 0, OPTION_SECONDS, PLACE(older_than), FOR_MANY, "TIME", NULL,
     "submitted at least this long ago: 90, 10m, 1h30m, 2d"},
    {"--younger-than", 0, OPTION_SECONDS, PLACE(younger_than), FOR_MANY, "TIME", NULL,
     "submitted at most this long ago"},
    {"--priority", 'p', OPTION_RANGE, PLACE(priority_least), FOR_MANY | FOR_ADD, "A-B", NULL,
     "priority, or a range; 0 is the highest"},
    {"--contains", 0, OPTION_TEXT, PLACE(contains), FOR_MANY, "TEXT", NULL,
     "jobs whose body contains these bytes"},
    {"--larger-than", 0, OPTION_BYTES, PLACE(larger_than), FOR_MANY, "SIZE", NULL,
     "jobs whose body has more bytes: 512, 10k, 1M"},
    {"--smaller-than", 0, OPTION_BYTES, PLACE(smaller_than), FOR_MANY, "SIZE", NULL,
     "jobs whose body has fewer bytes"},
    {"--max", 'm', OPTION_COUNT, PLACE(max), FOR_MANY, "N", NULL, "maximum number of jobs"},
    {"--dry-run", 'n', OPTION_FLAG, PLACE(dry_run), FOR_MANY, NULL, NULL,
     "only count the jobs"},
    {"--yes", 'y', OPTION_FLAG, PLACE(yes), FOR_MANY, NULL, NULL, "do not ask"},
    {"--to", 't', OPTION_TEXT, PLACE(to), FOR_MOVE | FOR_MIGRATE, "QUEUE", NULL,
     "target queue; for migrate, the target server: beanstalk://HOST:PORT, or the admin.listen of a "
     "Tandem"},
    {"--back", 0, OPTION_FLAG, PLACE(back), FOR_MOVE, NULL, NULL,
     "back to the original queues of dead letters"},
    {"--new-priority", 0, OPTION_COUNT, PLACE(new_priority), FOR_PRIORITY, "N", NULL,
     "the new priority"},
    {"--delay", 'd', OPTION_SECONDS, PLACE(delay), FOR_DELAY | FOR_ADD, "TIME", NULL,
     "delay before the job is ready"},
    {"--for", 0, OPTION_SECONDS, PLACE(pause_for), FOR_PAUSE | FOR_DRAIN, "TIME", NULL,
     "duration of a pause, by default a day; maximum time that drain --wait waits, by default any"},
    {"--high", 0, OPTION_COUNT, PLACE(high), FOR_LIMIT, "N", NULL,
     "number of jobs from which on new jobs of high priority are refused"},
    {"--normal", 0, OPTION_COUNT, PLACE(normal), FOR_LIMIT, "N", NULL,
     "the same for normal priority"},
    {"--low", 0, OPTION_COUNT, PLACE(low), FOR_LIMIT, "N", NULL, "the same for low priority"},
    {"--ttr", 0, OPTION_COUNT, PLACE(ttr), FOR_ADD | FOR_SCHEDULE | FOR_MIGRATE, "SECONDS", NULL,
     "TTR; 0: until the worker disconnects"},
    {"--unique", 0, OPTION_TEXT, PLACE(job_key), FOR_ADD, "KEY", NULL,
     "join a live job with that key, if there is one"},
    {"--attempts", 0, OPTION_COUNT, PLACE(attempts), FOR_ADD, "N", NULL,
     "maximum number of attempts; 0: no limit"},
    {"--on-failure", 0, OPTION_WORDS, PLACE(on_failure), FOR_ADD, "WHAT", "bury drop",
     "what happens after the last attempt: bury or drop"},
    {"--timezone", 0, OPTION_TEXT, PLACE(timezone), FOR_SCHEDULE, "ZONE", NULL,
     "time zone, such as Europe/Berlin; the default is the broker's"},
    {"--missed", 0, OPTION_WORDS, PLACE(missed), FOR_SCHEDULE, "WHAT", "skip once all",
     "what happens for missed times: skip, once or all"},
    {"--overlap", 0, OPTION_WORDS, PLACE(overlap), FOR_SCHEDULE, "WHAT", "allow skip",
     "whether to submit while the previous job is unfinished: allow or skip"},
    {"--tubes", 0, OPTION_TEXT, PLACE(tubes), FOR_MIGRATE, "GLOB", NULL,
     "jobs of tubes whose names match, such as 'mail-*'"},
    {"--state-file", 0, OPTION_TEXT, PLACE(state_file), FOR_MIGRATE, "FILE", NULL,
     "state of the migration, for a repeated run; the default is a file in XDG_STATE_HOME or here"},
    {"--from-token-file", 0, OPTION_TEXT, PLACE(from_token_file), FOR_MIGRATE, "FILE", NULL,
     "file with the token for the source, if it is a Tandem"},
    {"--to-token-file", 0, OPTION_TEXT, PLACE(to_token_file), FOR_MIGRATE, "FILE", NULL,
     "file with the token for the target, if it is a Tandem"},
    {"--wait", 0, OPTION_FLAG, PLACE(wait), FOR_MIGRATE | FOR_DRAIN, NULL, NULL,
     "wait until no worker holds a job"},
    {"--ready", 0, OPTION_FLAG, PLACE(ready), FOR_HEALTH, NULL, NULL,
     "whether clients should connect: not while the journal is read, the broker drains or stands by"},
    {"--follow", 'f', OPTION_FLAG, PLACE(follow), FOR_MIGRATE, NULL, NULL, "continue until Ctrl-C"},
    {"--from", 0, OPTION_COUNT, PLACE(from), FOR_IMPORT, "LINE", NULL,
     "begin with this line or job; the first is 1"},
    {"--repair", 0, OPTION_FLAG, PLACE(repair), FOR_IMPORT, NULL, NULL,
     "import the intact jobs of a damaged store"},
    {"--search", 0, OPTION_TEXT, PLACE(search), FOR_QUEUE_LIST, "TEXT", NULL,
     "queues whose names contain this"},
    {"--name", 0, OPTION_TEXT, PLACE(name), FOR_QUEUE_LIST, "GLOB", NULL,
     "queues whose names match, such as 'mail-*'"},
    {"--with", 'w', OPTION_WORDS, PLACE(with), FOR_QUEUE_LIST, "WHAT", WITH,
     "queues with ready, delayed, reserved or buried jobs, paused ones, queues with waiting workers, "
     "with workers (worked) or without (unworked); several with commas"},
    {"--sort", 'S', OPTION_WORDS, PLACE(sort), FOR_QUEUE_LIST, "COLUMN", SORTS,
     "sort by this column; with a minus, the largest first"},
    {"--protocol", 0, OPTION_WORDS, PLACE(protocol), FOR_CONNECTIONS, "NAME",
     "beanstalk gearman http admin", "connections of this protocol"},
    {"--limit", 'l', OPTION_COUNT, PLACE(limit), FOR_PAGES, "N", NULL,
     "maximum number of entries; 0: all"},
    {"--text", 0, OPTION_FLAG, PLACE(as_text), FOR_SHOW, NULL, NULL, "the body as text"},
    {"--hex", 0, OPTION_FLAG, PLACE(as_hex), FOR_SHOW, NULL, NULL, "the body as hexadecimal"},
    {"--raw", 0, OPTION_FLAG, PLACE(raw), FOR_SHOW, NULL, NULL,
     "the whole body alone, unchanged"},
    {"--interval", 'i', OPTION_SECONDS, PLACE(interval), FOR_LIVE, "TIME", NULL,
     "update interval; the default is 2 s"},
    {"--count", 'c', OPTION_COUNT, PLACE(count), FOR_EVENTS, "N", NULL, "end after this number of events"},
    {"--json", 'j', OPTION_FLAG, PLACE(json), FOR_JSON, NULL, NULL,
     "the answer of the broker in JSON, for programs"},
    {"--address", 'a', OPTION_TEXT, PLACE(address), FOR_ALL, "ADDRESS", NULL,
     "the broker's admin.listen: http://127.0.0.1:9180, https://..., unix:/path; also "
     "TANDEM_ADDRESS"},
    {"--token-file", 0, OPTION_TEXT, PLACE(token_file), FOR_ALL, "FILE", NULL,
     "file whose first line is the token; also TANDEM_TOKEN"},
    {"--cacert", 0, OPTION_TEXT, PLACE(cacert), FOR_ALL, "FILE", NULL,
     "authorities of the broker's certificate"},
    {"--cert", 0, OPTION_TEXT, PLACE(cert), FOR_ALL, "FILE", NULL, "client certificate"},
    {"--key", 0, OPTION_TEXT, PLACE(key), FOR_ALL, "FILE", NULL, "key of the client certificate"},
    {"--timeout", 0, OPTION_SECONDS, PLACE(timeout), FOR_ALL, "TIME", NULL,
     "timeout of an answer; the default is 10 s, of health 2 s"},
    {"--help", 'h', OPTION_FLAG, PLACE(help), FOR_ALL, NULL, NULL, "print the help of a command"},
    {"--version", 'V', OPTION_FLAG, PLACE(version), FOR_ALL, NULL, NULL, "print the version"},
    {0},
};
// clang-format on
