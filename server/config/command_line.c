/* SPDX-License-Identifier: MIT */
#include "server/config/command_line.h"

#include "server/config/beanstalkd_flags.h"
#include "server/config/default_config.h"
#include "server/config/persona.h"
#include "server/config/persona_own.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const char command_line_help[] =
    "Usage: tandemd [options]\n"
    "       tandemd --as beanstalkd|gearmand [options of that program]\n"
    "       tandemd hash-token       read a token and print its hash, for access rules\n"
    "\n"
    "A job broker that speaks the beanstalk protocol, the Gearman protocol and HTTP. With a\n"
    "journal (journal.dir, or journal.postgres), jobs survive the end of the process; otherwise\n"
    "they are in memory only.\n"
    "\n"
    "  -C, --config FILE            read settings from FILE (default: " DEFAULT_CONFIG ", or\n"
    "                               the file below the prefix of this program, if it exists)\n"
    "      --set SECTION.KEY=VALUE  set one key, after the file; may be repeated\n"
    "      --check-config           print the resulting settings, and exit\n"
    "      --queue NAME             with --check-config: print the section of that queue\n"
    "      --init-store             create the tables of a journal in PostgreSQL, print the "
    "SQL\n"
    "                               that grants rights to the broker's role, and exit\n"
    "      --repair                 start with a damaged journal, and log the lost records\n"
    "      --ignore-binlog          start in a directory where beanstalkd has left jobs, and\n"
    "                               ignore them\n"
    "      --as PROGRAM             replace PROGRAM (beanstalkd, gearmand), with its options\n"
    "                               and exit codes; also if this program has that name\n"
    "  -v, --version                print the version, and exit\n"
    "  -h, --help                   print this help, and exit\n"
    "\n"
    "beanstalkd's flags are accepted; with any of them, exit codes are those of beanstalkd.\n"
    "With -l or -p, other protocols listen only if a setting demands it. Unlike beanstalkd,\n"
    "the default is to listen on the loopback address only.\n"
    "\n"
    "  -l ADDR   listen on ADDR (0.0.0.0), or on unix:PATH, for beanstalk clients only\n"
    "  -p PORT   listen on PORT (11300), for beanstalk clients only\n"
    "  -u USER   run as USER and its group\n"
    "  -z BYTES  maximum size of a job body (65535; at most 1073741824)\n"
    "  -V        log each connection\n"
    "  -b DIR    keep a journal in DIR, which must exist\n"
    "  -f MS     sync it every MS milliseconds (50); 0: before each answer\n"
    "  -F        leave syncing to the system; the last one of -f and -F applies\n"
    "  -s BYTES  size of a journal file\n"
    "  -c, -n    ignored\n"
    "\n"
    "Signals: TERM and INT stop the broker, USR1 makes it refuse new jobs, USR2 accept them\n"
    "again, HUP read the settings again and reopen the log file.\n"
    "\n"
    "Exit codes: 0 stopped by a signal; 1 an address, a file, the journal or memory was not\n"
    "available, or the journal could not be completed at the end; 2 the command line or the\n"
    "configuration has an error. As a replacement of beanstalkd: 5 for an error in the command\n"
    "line or configuration, 10 for the journal at the start, 32 to 34 for the user, 111 for an\n"
    "address.\n";

// getopt_long answers with these for options that are words.
enum {
    LONG_CONFIG = 256,
    LONG_SET,
    LONG_CHECK,
    LONG_INIT,
    LONG_QUEUE,
    LONG_VERSION,
    LONG_HELP,
    LONG_REPAIR,
    LONG_IGNORE
};

static const struct option long_options[] = {
    {"config", required_argument, NULL, LONG_CONFIG},
    {"set", required_argument, NULL, LONG_SET},
    {"check-config", no_argument, NULL, LONG_CHECK},
    {"init-store", no_argument, NULL, LONG_INIT},
    {"queue", required_argument, NULL, LONG_QUEUE},
    {"version", no_argument, NULL, LONG_VERSION},
    {"help", no_argument, NULL, LONG_HELP},
    {"repair", no_argument, NULL, LONG_REPAIR},
    {"ignore-binlog", no_argument, NULL, LONG_IGNORE},
    {NULL, 0, NULL, 0},
};

// What is being read: a command, and what of it is put together at the end.
struct reading {
    struct command_line *command;
    struct flags flags;
    struct words said; // by --set
    char **argv;
};

// Names the option that getopt has just refused: a letter of a cluster, or a whole word.
static void option_bad(struct reading *reading, const char *what, struct error_text *why)
{
    if (optopt > 0 && optopt < LONG_CONFIG) {
        if (flags_know(optopt)) {
            reading->command->codes = EXIT_CODES_BEANSTALKD;
        }
        error_set(why, "-%c: %s (see --help)", optopt, what);
    } else {
        error_set(why, "%s: %s (see --help)", reading->argv[optind - 1], what);
    }
}

// Takes one option that getopt has found.
static bool option_take(struct reading *reading, int letter, struct error_text *why)
{
    struct command_line *command = reading->command;

    switch (letter) {
    case 'C':
    case LONG_CONFIG:
        command->config_path = optarg;
        return true;
    case LONG_SET:
        words_add(&reading->said, "%s", optarg);
        return true;
    case LONG_CHECK:
        command->action = ACTION_CHECK;
        return true;
    case LONG_INIT:
        command->action = ACTION_INIT_STORE;
        return true;
    case LONG_QUEUE:
        command->queue = optarg;
        return true;
    case LONG_REPAIR:
        command->repair = true;
        return true;
    case LONG_IGNORE:
        command->ignore_binlog = true;
        return true;
    case 'v':
    case LONG_VERSION:
        command->action = ACTION_VERSION;
        return true;
    case 'h':
    case LONG_HELP:
        command->action = ACTION_HELP;
        return true;
    case ':':
        option_bad(reading, "a value is missing", why);
        return false;
    case '?':
        option_bad(reading, "no such option", why);
        return false;
    default:
        command->codes = EXIT_CODES_BEANSTALKD;
        return flags_take(&reading->flags, letter, optarg, why);
    }
}

// Whether the rest does not matter, as in beanstalkd behind -v or -h.
static bool is_all_said(const struct command_line *command)
{
    return command->action == ACTION_VERSION || command->action == ACTION_HELP;
}

static bool options_scan(struct reading *reading, int argc, struct error_text *why)
{
    int letter;

    opterr = 0;
    optind = 0; // so that GNU's getopt forgets a cluster that it was in the middle of
    while ((letter = getopt_long(argc, reading->argv, ":C:vh" FLAGS_LETTERS, long_options, NULL)) !=
           -1) {
        if (!option_take(reading, letter, why)) {
            return false;
        }
        if (is_all_said(reading->command)) {
            return true;
        }
    }
    if (optind < argc) {
        return error_set(why, "%s: no such argument (see --help)", reading->argv[optind]);
    }
    return true;
}

// Puts what the flags say in front of what --set says.
static enum exit_reason options_merge(struct reading *reading, struct error_text *why)
{
    struct command_line *command = reading->command;
    enum exit_reason result = flags_settings(&reading->flags, &command->sets, why);

    if (flags_listen(&reading->flags)) {
        persona_listen_only(&command->presets, "beanstalk");
    }
    if (!command->ignore_binlog) {
        flags_import(&reading->flags, &command->presets);
    }
    flags_tell(&reading->flags, &command->notes);
    words_move(&command->sets, &reading->said);
    default_config(command->default_path);
    if (!command->config_path && access(command->default_path, F_OK) == 0) {
        command->config_path = command->default_path;
    }
    return result;
}

static enum exit_reason parse_ours(struct command_line *command, int argc, char **argv,
                                   struct error_text *why)
{
    struct reading reading = {.command = command, .argv = argv};
    enum exit_reason result = EXIT_REASON_NONE;

    if (argc == 2 && strcmp(argv[1], "hash-token") == 0) {
        command->action = ACTION_HASH_TOKEN;
    } else if (!options_scan(&reading, argc, why)) {
        result = EXIT_REASON_USAGE;
    } else if (!is_all_said(command)) {
        result = options_merge(&reading, why);
    }
    words_clear(&reading.said);
    return result;
}

// What is wrong with any command line, whoever's options it has.
static enum exit_reason command_finish(const struct command_line *command, struct error_text *why)
{
    if (command->presets.is_torn || command->sets.is_torn || command->notes.is_torn) {
        error_set(why, "out of memory");
        return EXIT_REASON_OTHER;
    }
    if (command->queue && command->action != ACTION_CHECK && !is_all_said(command)) {
        error_set(why, "--queue: only with --check-config");
        return EXIT_REASON_USAGE;
    }
    return EXIT_REASON_NONE;
}

enum exit_reason command_line_parse(struct command_line *command, int argc, char **argv,
                                    struct error_text *why)
{
    const struct persona *persona;
    enum exit_reason result;

    *command = (struct command_line){.action = ACTION_RUN, .program = "tandemd"};
    if (!persona_find(&persona, argc, argv, why)) {
        return EXIT_REASON_USAGE;
    }
    if (persona) {
        command->persona = persona;
        command->codes = persona->codes;
        command->program = argv[0];
        result = persona->parse(command, argc, argv, why);
    } else {
        result = parse_ours(command, argc, argv, why);
    }
    return result == EXIT_REASON_NONE ? command_finish(command, why) : result;
}

void command_line_complain(const struct command_line *command, enum exit_reason result,
                           const struct error_text *why)
{
    const struct persona *persona = command->persona;

    (void)fprintf(stderr, "%s: %s\n", command->program, why->text);
    if (result == EXIT_REASON_USAGE && persona && persona->helps_when_misused) {
        persona->print_help(command, stderr);
    }
}

void command_line_print_help(const struct command_line *command)
{
    const struct persona *persona = command->persona;

    if (persona) {
        persona->print_help(command, persona->help_stream());
    } else {
        (void)fputs(command_line_help, stdout);
    }
}

void command_line_print_version(const struct command_line *command)
{
    if (command->persona) {
        command->persona->print_version(stdout);
    } else {
        (void)printf("tandemd %s\n", TANDEM_VERSION);
    }
}

void command_line_clear(struct command_line *command)
{
    words_clear(&command->presets);
    words_clear(&command->sets);
    words_clear(&command->notes);
    *command = (struct command_line){.action = ACTION_RUN};
}
