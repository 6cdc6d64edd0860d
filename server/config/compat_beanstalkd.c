/* SPDX-License-Identifier: MIT */
#include "server/config/compat_beanstalkd.h"

#include "core/base/macros.h"
#include "server/config/journal_settings.h"
#include "server/config/compat.h"
#include "server/config/settings.h"

#include <inttypes.h>
#include <string.h>

// beanstalkd's defaults and limits.
#define DEFAULT_PORT "11300"
static const uint64_t DEFAULT_SYNC_MS = 50;
static const uint64_t JOB_SIZE_MAX = UINT64_C(1) << 30;

static const char NOTE_C[] = "-c is ignored, as by beanstalkd: the journal is always compacted";
static const char NOTE_N[] = "-n is ignored, as by beanstalkd: the journal is always compacted";
static const char NOTE_Z[] = "-z: the maximum job size was set to 1073741824, the limit";

bool flags_know(int letter)
{
    return letter != ':' && letter > 0 && strchr(FLAGS_LETTERS "vh", letter) != NULL;
}

bool flags_listen(const struct beanstalkd_flags *flags)
{
    return flags->host || flags->port;
}

static void flags_note(struct beanstalkd_flags *flags, const char *note)
{
    for (size_t i = 0; i < flags->note_count; i++) {
        if (flags->notes[i] == note) {
            return;
        }
    }
    ENSURE(flags->note_count < FLAGS_NOTES_MAX);
    flags->notes[flags->note_count++] = note;
}

// Parses digits. As in beanstalkd's parser, a number that is too large or negative counts as the
// largest one.
static bool flags_parse_number(int letter, const char *text, uint64_t *count,
                               struct error_text *why)
{
    const char *digits = *text == '-' ? text + 1 : text;
    bool huge = *text == '-';
    uint64_t sum = 0;

    if (*digits == '\0' || digits[strspn(digits, "0123456789")] != '\0') {
        return error_set(why, "-%c: `%s` is not a whole number", letter, text);
    }
    for (; *digits; digits++) {
        huge = huge || __builtin_mul_overflow(sum, 10, &sum) ||
               __builtin_add_overflow(sum, (uint64_t)(*digits - '0'), &sum);
    }
    *count = huge ? UINT64_MAX : sum;
    return true;
}

static bool flags_limit(struct beanstalkd_flags *flags, const char *value, struct error_text *why)
{
    if (!flags_parse_number('z', value, &flags->max_job_size, why)) {
        return false;
    }
    flags->limited = true;
    if (flags->max_job_size > JOB_SIZE_MAX) {
        flags->max_job_size = JOB_SIZE_MAX;
        flags_note(flags, NOTE_Z);
    }
    return true;
}

static bool flags_period(struct beanstalkd_flags *flags, const char *value, struct error_text *why)
{
    if (!flags_parse_number('f', value, &flags->sync_ms, why)) {
        return false;
    }
    if (flags->sync_ms > FSYNC_MOST_MS) {
        flags->sync_ms = FSYNC_MOST_MS;
    }
    flags->timed = true;
    flags->never = false;
    return true;
}

// beanstalkd accepts any size.
static bool flags_segment(struct beanstalkd_flags *flags, const char *value, struct error_text *why)
{
    uint64_t size;

    if (!flags_parse_number('s', value, &size, why)) {
        return false;
    }
    size = size < SETTINGS_SEGMENT_LEAST ? SETTINGS_SEGMENT_LEAST : size;
    flags->segment_size = size > SETTINGS_SEGMENT_MOST ? SETTINGS_SEGMENT_MOST : size;
    flags->sized = true;
    return true;
}

static bool flags_word(const char **word, int letter, const char *value, struct error_text *why)
{
    ENSURE(value); // FLAGS_LETTERS gives these letters a value
    *word = value;
    if (*value == '\0') {
        return error_set(why, "-%c: the value is empty", letter);
    }
    return true;
}

bool flags_take(struct beanstalkd_flags *flags, int letter, const char *value,
                struct error_text *why)
{
    switch (letter) {
    case 'l':
        return flags_word(&flags->host, letter, value, why);
    case 'p':
        return flags_word(&flags->port, letter, value, why);
    case 'u':
        return flags_word(&flags->user, letter, value, why);
    case 'b':
        return flags_word(&flags->dir, letter, value, why);
    case 'z':
        return flags_limit(flags, value, why);
    case 'f':
        return flags_period(flags, value, why);
    case 's':
        return flags_segment(flags, value, why);
    case 'F':
        flags->timed = true;
        flags->never = true;
        return true;
    case 'V':
        flags->verbose = true;
        return true;
    case 'c':
        flags_note(flags, NOTE_C);
        return true;
    case 'n':
        flags_note(flags, NOTE_N);
        return true;
    default:
        UNREACHABLE();
    }
}

static bool flags_parse_port(const char *text, unsigned *port, struct error_text *why)
{
    if (compat_find_port(text, port)) {
        return true;
    }
    return error_set(why,
                     text[strspn(text, "0123456789")] == '\0'
                         ? "-p: `%s` is not between 0 and 65535"
                         : "-p: `%s` is neither a port nor the name of a service",
                     text);
}

// Adds the key for -l and -p. For beanstalkd, :: stands for every address, IPv4 included.
static enum exit_reason flags_add_listen(const struct beanstalkd_flags *flags,
                                         struct string_list *settings, struct error_text *why)
{
    const char *host = flags->host ? flags->host : "0.0.0.0";
    unsigned port;

    if (host[strcspn(host, " \t,")] != '\0') {
        error_set(why, "-l: `%s` is not an address", host);
        return EXIT_REASON_ADDRESS;
    }
    if (strncmp(host, "unix:", 5) == 0) {
        string_list_add(settings, "beanstalk.listen=%s", host);
    } else if (!flags_parse_port(flags->port ? flags->port : DEFAULT_PORT, &port, why)) {
        return EXIT_REASON_ADDRESS;
    } else {
        compat_add_listen(settings, "beanstalk.listen", "", strcmp(host, "::") == 0 ? "*" : host,
                          port);
    }
    return EXIT_REASON_NONE;
}

// With -b, the default sync interval is that of beanstalkd.
static void flags_add_journal(const struct beanstalkd_flags *flags, struct string_list *settings)
{
    if (flags->dir) {
        string_list_add(settings, "journal.dir=%s", flags->dir);
    }
    if (flags->sized) {
        string_list_add(settings, "journal.segment_size=%" PRIu64, flags->segment_size);
    }
    if (flags->timed && flags->never) {
        string_list_add(settings, "journal.fsync=never");
    } else if (flags->timed && flags->sync_ms == 0) {
        string_list_add(settings, "journal.fsync=always");
    } else if (flags->timed || flags->dir) {
        string_list_add(settings, "journal.fsync=%" PRIu64,
                        flags->timed ? flags->sync_ms : DEFAULT_SYNC_MS);
    }
}

enum exit_reason flags_settings(const struct beanstalkd_flags *flags, struct string_list *settings,
                                struct error_text *why)
{
    enum exit_reason result = EXIT_REASON_NONE;

    if (flags_listen(flags)) {
        result = flags_add_listen(flags, settings, why);
    }
    if (result != EXIT_REASON_NONE) {
        return result;
    }
    if (flags->user) {
        string_list_add(settings, "server.user=%s", flags->user);
    }
    if (flags->verbose) {
        string_list_add(settings, "server.log_level=debug");
    }
    if (flags->limited) {
        string_list_add(settings, "beanstalk.max_job_size=%" PRIu64, flags->max_job_size);
    }
    flags_add_journal(flags, settings);
    return EXIT_REASON_NONE;
}

void flags_import(const struct beanstalkd_flags *flags, struct string_list *presets)
{
    if (flags->dir && compat_can_import("beanstalkd")) {
        string_list_add(presets, "journal.import=beanstalkd:%s", flags->dir);
    }
}

void flags_add_notes(const struct beanstalkd_flags *flags, struct string_list *notes)
{
    for (size_t i = 0; i < flags->note_count; i++) {
        string_list_add(notes, "%s", flags->notes[i]);
    }
}

static const char BEANSTALKD_HELP[] =
    "Options:\n"
    "  -b DIR    keep a journal in DIR, and import the jobs that beanstalkd has left there\n"
    "  -f MS     sync it every MS milliseconds (50); 0: before each answer\n"
    "  -F        leave syncing to the system\n"
    "  -l ADDR   listen on ADDR (0.0.0.0), or on unix:PATH\n"
    "  -p PORT   listen on PORT (11300)\n"
    "  -u USER   run as USER and its group\n"
    "  -z BYTES  maximum size of a job body (65535; at most 1073741824)\n"
    "  -s BYTES  size of a journal file\n"
    "  -v        print the version, and exit\n"
    "  -V        log each connection\n"
    "  -h        print this help, and exit\n"
    "  -c, -n    ignored\n"
    "\n"
    "This is tandemd as a replacement of beanstalkd. It also accepts these options:\n"
    "\n";

static FILE *beanstalkd_help_stream(void)
{
    return stderr;
}

static void beanstalkd_print_help(const struct command_line *command, FILE *stream)
{
    (void)fprintf(stream, "Use: %s [OPTIONS]\n\n%s%s", command->program, BEANSTALKD_HELP,
                  compat_own_help);
}

static void beanstalkd_print_version(FILE *stream)
{
    (void)fprintf(stream, "beanstalkd 1.12 (tandemd %s)\n", TANDEM_VERSION);
}

// The failure of beanstalkd with an empty value of that flag.
static enum exit_reason flags_empty_value_reason(char letter)
{
    switch (letter) {
    case 'u':
        return EXIT_REASON_USER_UNKNOWN;
    case 'b':
        return EXIT_REASON_JOURNAL;
    default:
        return EXIT_REASON_ADDRESS;
    }
}

static enum exit_reason flags_take_valued(struct beanstalkd_flags *flags, char letter,
                                          const char *value, struct error_text *why)
{
    if (!value) {
        error_set(why, "flag requires an argument: -%c", letter);
        return EXIT_REASON_USAGE;
    }
    if (flags_take(flags, letter, value, why)) {
        return EXIT_REASON_NONE;
    }
    if (!strchr("zsf", letter)) {
        return flags_empty_value_reason(letter);
    }
    error_set(why, "invalid size: %s", value);
    return EXIT_REASON_USAGE;
}

// Applies a group of flags. `*used` is set if the next argument is a value.
static enum exit_reason flags_take_group(struct command_line *command,
                                         struct beanstalkd_flags *flags, const char *arg,
                                         const char *next, bool *used, struct error_text *why)
{
    for (const char *at = arg + 1; *at; at++) {
        const char *known = *at == ':' ? NULL : strchr(FLAGS_LETTERS, *at);

        if (*at == 'v' || *at == 'h') {
            command->action = *at == 'v' ? ACTION_VERSION : ACTION_HELP;
            return EXIT_REASON_NONE;
        }
        if (!known) {
            // As beanstalkd prints it: with the byte before it, and the rest of the group.
            error_set(why, "unknown flag: %s", at - 1);
            return EXIT_REASON_USAGE;
        }
        if (known[1] == ':') {
            *used = at[1] == '\0' && next;
            return flags_take_valued(flags, *at, at[1] ? at + 1 : next, why);
        }
        if (!flags_take(flags, *at, NULL, why)) {
            return EXIT_REASON_USAGE;
        }
    }
    return EXIT_REASON_NONE;
}

// Applies one argument. `*used` is set if the next one is its value.
static enum exit_reason beanstalkd_parse_arg(struct command_line *command,
                                             struct beanstalkd_flags *flags,
                                             struct string_list *sets, char **args, bool *used,
                                             struct error_text *why)
{
    enum compat_own_option own = compat_own_apply(command, sets, args[0], args[1]);

    *used = own == COMPAT_OWN_VALUED;
    switch (own) {
    case COMPAT_OWN_TAKEN:
    case COMPAT_OWN_VALUED:
        return EXIT_REASON_NONE;
    case COMPAT_OWN_MISSING:
        error_set(why, "flag requires an argument: %s", args[0]);
        return EXIT_REASON_USAGE;
    case COMPAT_OWN_NONE:
        break;
    }
    if (args[0][0] != '-' || args[0][1] == '\0') {
        error_set(why, "unknown argument: %s", args[0]);
        return EXIT_REASON_USAGE;
    }
    return flags_take_group(command, flags, args[0], args[1], used, why);
}

static enum exit_reason beanstalkd_apply(struct command_line *command,
                                         const struct beanstalkd_flags *flags,
                                         struct string_list *sets, struct error_text *why)
{
    enum exit_reason result = flags_settings(flags, &command->sets, why);

    compat_listen_only(&command->presets, "beanstalk");
    string_list_add(&command->presets, "beanstalk.listen=0.0.0.0:11300");
    if (!command->ignore_binlog) {
        flags_import(flags, &command->presets);
    }
    string_list_move(&command->sets, sets);
    flags_add_notes(flags, &command->notes);
    return result;
}

static enum exit_reason beanstalkd_parse(struct command_line *command, int argc, char **argv,
                                         struct error_text *why)
{
    struct beanstalkd_flags flags = {.host = NULL};
    struct string_list sets = {.all = NULL};
    enum exit_reason result = EXIT_REASON_NONE;

    for (int i = 1; i < argc && result == EXIT_REASON_NONE; i++) {
        bool used = false;

        result = beanstalkd_parse_arg(command, &flags, &sets, argv + i, &used, why);
        i += used ? 1 : 0;
        if (command->action == ACTION_VERSION || command->action == ACTION_HELP) {
            break;
        }
    }
    if (result == EXIT_REASON_NONE && command->action != ACTION_VERSION &&
        command->action != ACTION_HELP) {
        result = beanstalkd_apply(command, &flags, &sets, why);
    }
    string_list_clear(&sets);
    return result;
}

const struct compat_program compat_beanstalkd = {.name = "beanstalkd",
                                                 .codes = EXIT_CODES_BEANSTALKD,
                                                 .parse = beanstalkd_parse,
                                                 .help_stream = beanstalkd_help_stream,
                                                 .print_help = beanstalkd_print_help,
                                                 .print_version = beanstalkd_print_version,
                                                 .prints_help_on_error = true};
