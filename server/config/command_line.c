/* SPDX-License-Identifier: MIT */
#include "server/config/command_line.h"

#include "server/config/default_config.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char command_line_help[] =
    "Usage: tandemd [options]\n"
    "       tandemd hash-token       print the hash of a token that is read, for rules\n"
    "\n"
    "A job broker that speaks the beanstalk protocol, the Gearman protocol and HTTP. Its jobs\n"
    "survive it where it has a journal (journal.dir); otherwise they are in memory only.\n"
    "\n"
    "  -C, --config FILE            read settings from FILE (default: " DEFAULT_CONFIG ", or\n"
    "                               that below the prefix of this program, where it exists)\n"
    "      --set SECTION.KEY=VALUE  set one key, after the file; may be repeated\n"
    "      --check-config           print the settings that result, and exit\n"
    "      --queue NAME             with --check-config: print which section that queue has\n"
    "      --repair                 start with a damaged journal, and say in the log what is lost\n"
    "      --ignore-binlog          start in a directory where beanstalkd has left jobs, without\n"
    "                               them\n"
    "  -v, --version                print the version, and exit\n"
    "  -h, --help                   print this, and exit\n"
    "\n"
    "beanstalkd's own flags are understood; any of them brings beanstalkd's exit codes. With -l "
    "or\n"
    "-p, no other protocol listens unless it is set to. Without them, other than beanstalkd, it\n"
    "listens at the loopback only.\n"
    "\n"
    "  -l ADDR   listen at ADDR (0.0.0.0), or at unix:PATH, for beanstalk clients only\n"
    "  -p PORT   listen at PORT (11300), for beanstalk clients only\n"
    "  -u USER   become USER and its group\n"
    "  -z BYTES  the largest job body (65535; at most 1073741824)\n"
    "  -V        log each connection\n"
    "  -b DIR    keep a journal in DIR, which must be there\n"
    "  -f MS     sync it every MS milliseconds (50); 0: before anybody is answered\n"
    "  -F        leave syncing to the system; of -f and -F, the last one counts\n"
    "  -s BYTES  the size of a file of the journal\n"
    "  -c, -n    ignored\n"
    "\n"
    "Signals: TERM and INT stop it, USR1 makes it refuse new jobs, USR2 take them again, HUP\n"
    "reads the settings again and opens the log file anew.\n"
    "\n"
    "Exit codes: 0 stopped as asked; 1 an address, a file, the journal or memory could not be\n"
    "had, or the journal not be completed at the end; 2 the command line or the configuration\n"
    "is wrong. In beanstalkd's place: 5 for a wrong command line or configuration, 10 for the\n"
    "journal at the start, 32 to 34 for the user, 111 for an address.\n";

// getopt_long answers with these for options that are words.
enum {
    LONG_CONFIG = 256,
    LONG_SET,
    LONG_CHECK,
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
    {"queue", required_argument, NULL, LONG_QUEUE},
    {"version", no_argument, NULL, LONG_VERSION},
    {"help", no_argument, NULL, LONG_HELP},
    {"repair", no_argument, NULL, LONG_REPAIR},
    {"ignore-binlog", no_argument, NULL, LONG_IGNORE},
    {NULL, 0, NULL, 0},
};

// Names the option that getopt has just refused: a letter of a cluster, or a whole word.
static void option_bad(struct command_line *options, char **argv, const char *what,
                       struct reason *why)
{
    if (optopt > 0 && optopt < LONG_CONFIG) {
        options->as_beanstalkd = options->as_beanstalkd || flags_know(optopt);
        reason_set(why, "-%c: %s (see --help)", optopt, what);
    } else {
        reason_set(why, "%s: %s (see --help)", argv[optind - 1], what);
    }
}

// Takes one option that getopt has found.
static bool option_take(struct command_line *options, int letter, char **argv, struct reason *why)
{
    switch (letter) {
    case 'C':
    case LONG_CONFIG:
        options->config_path = optarg;
        return true;
    case LONG_SET:
        options->sets[options->set_count++] = optarg;
        return true;
    case LONG_CHECK:
        options->action = ACTION_CHECK;
        return true;
    case LONG_QUEUE:
        options->queue = optarg;
        return true;
    case LONG_REPAIR:
        options->repair = true;
        return true;
    case LONG_IGNORE:
        options->ignore_binlog = true;
        return true;
    case 'v':
    case LONG_VERSION:
        options->action = ACTION_VERSION;
        return true;
    case 'h':
    case LONG_HELP:
        options->action = ACTION_HELP;
        return true;
    case ':':
        option_bad(options, argv, "a value is missing", why);
        return false;
    case '?':
        option_bad(options, argv, "no such option", why);
        return false;
    default:
        options->as_beanstalkd = true;
        return flags_take(&options->flags, letter, optarg, why);
    }
}

// As in beanstalkd, what stands behind -v or -h is not looked at.
static bool options_scan(struct command_line *options, int argc, char **argv, struct reason *why)
{
    int letter;

    opterr = 0;
    optind = 0; // so that GNU's getopt forgets a cluster that it was in the middle of
    while ((letter = getopt_long(argc, argv, ":C:vh" FLAGS_LETTERS, long_options, NULL)) != -1) {
        if (!option_take(options, letter, argv, why)) {
            return false;
        }
        if (options->action == ACTION_VERSION || options->action == ACTION_HELP) {
            return true;
        }
    }
    if (optind < argc) {
        reason_set(why, "%s: no such argument (see --help)", argv[optind]);
        return false;
    }
    if (options->queue && options->action != ACTION_CHECK) {
        reason_set(why, "--queue: only with --check-config");
        return false;
    }
    return true;
}

// Puts what the flags say in front of what --set says.
static enum exit_reason options_merge(struct command_line *options, struct reason *why)
{
    enum exit_reason result =
        flags_settings(&options->flags, options->owned, &options->owned_count, why);

    if (result != EXIT_REASON_NONE) {
        return result;
    }
    memmove(options->sets + options->owned_count, options->sets,
            options->set_count * sizeof *options->sets);
    for (size_t i = 0; i < options->owned_count; i++) {
        options->sets[i] = options->owned[i];
    }
    options->set_count += options->owned_count;
    return EXIT_REASON_NONE;
}

enum exit_reason command_line_parse(struct command_line *options, int argc, char **argv,
                                    struct reason *why)
{
    *options = (struct command_line){.action = ACTION_RUN};
    options->sets = calloc((size_t)argc + FLAGS_SETTINGS_MAX, sizeof *options->sets);
    if (!options->sets) {
        reason_set(why, "out of memory");
        return EXIT_REASON_OTHER;
    }
    if (argc == 2 && strcmp(argv[1], "hash-token") == 0) {
        options->action = ACTION_HASH_TOKEN;
        return EXIT_REASON_NONE;
    }
    if (!options_scan(options, argc, argv, why)) {
        return EXIT_REASON_USAGE;
    }
    if (options->action == ACTION_VERSION || options->action == ACTION_HELP) {
        return EXIT_REASON_NONE;
    }
    default_config(options->default_path);
    if (!options->config_path && access(options->default_path, F_OK) == 0) {
        options->config_path = options->default_path;
    }
    return options_merge(options, why);
}

void command_line_clear(struct command_line *options)
{
    for (size_t i = 0; i < options->owned_count; i++) {
        free(options->owned[i]);
    }
    free(options->sets);
    *options = (struct command_line){.action = ACTION_RUN};
}
