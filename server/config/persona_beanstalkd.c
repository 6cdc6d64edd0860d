/* SPDX-License-Identifier: MIT */
#include "server/config/beanstalkd_flags.h"
#include "server/config/persona.h"
#include "server/config/persona_own.h"

#include <string.h>

static const char HELP[] =
    "Options:\n"
    "  -b DIR    keep a journal in DIR, and take over the jobs that beanstalkd has left there\n"
    "  -f MS     sync it every MS milliseconds (50); 0: before anybody is answered\n"
    "  -F        leave syncing to the system\n"
    "  -l ADDR   listen at ADDR (0.0.0.0), or at unix:PATH\n"
    "  -p PORT   listen at PORT (11300)\n"
    "  -u USER   become USER and its group\n"
    "  -z BYTES  the largest job body (65535; at most 1073741824)\n"
    "  -s BYTES  the size of a file of the journal\n"
    "  -v        print the version, and exit\n"
    "  -V        log each connection\n"
    "  -h        print this, and exit\n"
    "  -c, -n    ignored\n"
    "\n"
    "This is tandemd in beanstalkd's place. Of its own options it knows, too:\n"
    "\n";

static FILE *help_stream(void)
{
    return stderr;
}

static void print_help(const struct command_line *command, FILE *stream)
{
    (void)fprintf(stream, "Use: %s [OPTIONS]\n\n%s%s", command->program, HELP, persona_own_help);
}

static void print_version(FILE *stream)
{
    (void)fprintf(stream, "beanstalkd 1.12 (tandemd %s)\n", TANDEM_VERSION);
}

// What an empty value of the flag would fail at there.
static enum exit_reason empty_value(char letter)
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

// The value of a flag that takes one: the rest of the argument, or the next one.
static const char *flag_value(const char *rest, const char *next, bool *used)
{
    *used = *rest == '\0' && next;
    return *rest != '\0' ? rest : next;
}

static enum exit_reason take_valued(struct flags *flags, char letter, const char *value,
                                    struct error_text *why)
{
    if (!value) {
        error_set(why, "flag requires an argument: -%c", letter);
        return EXIT_REASON_USAGE;
    }
    if (flags_take(flags, letter, value, why)) {
        return EXIT_REASON_NONE;
    }
    if (!strchr("zsf", letter)) {
        return empty_value(letter);
    }
    error_set(why, "invalid size: %s", value);
    return EXIT_REASON_USAGE;
}

// An argument of flags in a row. `*used`: the next argument is a value.
static enum exit_reason take_flags(struct command_line *command, struct flags *flags,
                                   const char *arg, const char *next, bool *used,
                                   struct error_text *why)
{
    for (const char *at = arg + 1; *at; at++) {
        const char *known = *at == ':' ? NULL : strchr(FLAGS_LETTERS, *at);

        if (*at == 'v' || *at == 'h') {
            command->action = *at == 'v' ? ACTION_VERSION : ACTION_HELP;
            return EXIT_REASON_NONE;
        }
        if (!known) {
            // As it stands there: with what is before it, and with the flags behind it.
            error_set(why, "unknown flag: %s", at - 1);
            return EXIT_REASON_USAGE;
        }
        if (known[1] == ':') {
            return take_valued(flags, *at, flag_value(at + 1, next, used), why);
        }
        if (!flags_take(flags, *at, NULL, why)) {
            return EXIT_REASON_USAGE;
        }
    }
    return EXIT_REASON_NONE;
}

// One argument, and in `*used` whether the next one is its value.
static enum exit_reason take_arg(struct command_line *command, struct flags *flags,
                                 struct words *said, char **args, bool *used,
                                 struct error_text *why)
{
    enum own_option own = persona_own_take(command, said, args[0], args[1]);

    *used = own == OWN_VALUED;
    switch (own) {
    case OWN_TAKEN:
    case OWN_VALUED:
        return EXIT_REASON_NONE;
    case OWN_MISSING:
        error_set(why, "flag requires an argument: %s", args[0]);
        return EXIT_REASON_USAGE;
    case OWN_NONE:
        break;
    }
    if (args[0][0] != '-' || args[0][1] == '\0') {
        error_set(why, "unknown argument: %s", args[0]);
        return EXIT_REASON_USAGE;
    }
    return take_flags(command, flags, args[0], args[1], used, why);
}

static enum exit_reason settle(struct command_line *command, const struct flags *flags,
                               struct words *said, struct error_text *why)
{
    enum exit_reason result = flags_settings(flags, &command->sets, why);

    persona_listen_only(&command->presets, "beanstalk");
    words_add(&command->presets, "beanstalk.listen=0.0.0.0:11300");
    if (!command->ignore_binlog) {
        flags_import(flags, &command->presets);
    }
    words_move(&command->sets, said);
    flags_tell(flags, &command->notes);
    return result;
}

static enum exit_reason parse(struct command_line *command, int argc, char **argv,
                              struct error_text *why)
{
    struct flags flags = {.host = NULL};
    struct words said = {.all = NULL};
    enum exit_reason result = EXIT_REASON_NONE;

    for (int i = 1; i < argc && result == EXIT_REASON_NONE; i++) {
        bool used = false;

        result = take_arg(command, &flags, &said, argv + i, &used, why);
        i += used ? 1 : 0;
        if (command->action == ACTION_VERSION || command->action == ACTION_HELP) {
            break;
        }
    }
    if (result == EXIT_REASON_NONE && command->action != ACTION_VERSION &&
        command->action != ACTION_HELP) {
        result = settle(command, &flags, &said, why);
    }
    words_clear(&said);
    return result;
}

const struct persona persona_beanstalkd = {.name = "beanstalkd",
                                           .codes = EXIT_CODES_BEANSTALKD,
                                           .parse = parse,
                                           .help_stream = help_stream,
                                           .print_help = print_help,
                                           .print_version = print_version,
                                           .helps_when_misused = true};
