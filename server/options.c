/* SPDX-License-Identifier: MIT */
#include "server/options.h"

#include <getopt.h>
#include <stdlib.h>
#include <unistd.h>

const char options_help[] =
    "Usage: tandemd [options]\n"
    "\n"
    "A job broker that speaks beanstalk, Gearman and HTTP over one set of queues.\n"
    "\n"
    "  -C, --config FILE            read settings from FILE (default: " OPTIONS_DEFAULT_CONFIG "\n"
    "                               where it exists)\n"
    "      --set SECTION.KEY=VALUE  set one key, after the file; may be repeated\n"
    "      --check-config           print the settings that result, and exit\n"
    "      --version                print the version, and exit\n"
    "      --help                   print this, and exit\n"
    "\n"
    "Signals: TERM and INT stop it, USR1 makes it refuse new jobs, HUP reads the settings\n"
    "again and opens the log file anew.\n"
    "\n"
    "Exit codes: 0 stopped as asked; 1 an address, a file or memory could not be had;\n"
    "2 the command line or the configuration is wrong.\n";

// getopt_long answers with these where an option has no letter.
enum { LONG_SET = 256, LONG_CHECK, LONG_VERSION, LONG_HELP };

static const struct option long_options[] = {
    {"config", required_argument, NULL, 'C'},        {"set", required_argument, NULL, LONG_SET},
    {"check-config", no_argument, NULL, LONG_CHECK}, {"version", no_argument, NULL, LONG_VERSION},
    {"help", no_argument, NULL, LONG_HELP},          {NULL, 0, NULL, 0},
};

static bool options_scan(struct options *options, int argc, char **argv, struct complaint *why)
{
    int letter;

    opterr = 0;
    optind = 1;
    while ((letter = getopt_long(argc, argv, ":C:", long_options, NULL)) != -1) {
        switch (letter) {
        case 'C':
            options->config_path = optarg;
            break;
        case LONG_SET:
            options->sets[options->set_count++] = optarg;
            break;
        case LONG_CHECK:
            options->action = ACTION_CHECK;
            break;
        case LONG_VERSION:
            options->action = ACTION_VERSION;
            break;
        case LONG_HELP:
            options->action = ACTION_HELP;
            break;
        case ':':
            complaint_set(why, "%s: a value is missing (see --help)", argv[optind - 1]);
            return false;
        default:
            complaint_set(why, "%s: no such option (see --help)", argv[optind - 1]);
            return false;
        }
    }
    if (optind < argc) {
        complaint_set(why, "%s: no such argument (see --help)", argv[optind]);
        return false;
    }
    return true;
}

bool options_parse(struct options *options, int argc, char **argv, struct complaint *why)
{
    *options = (struct options){.action = ACTION_RUN};
    options->sets = calloc((size_t)argc, sizeof *options->sets);
    if (!options->sets) {
        complaint_set(why, "out of memory");
        return false;
    }
    if (!options_scan(options, argc, argv, why)) {
        return false;
    }
    if (!options->config_path && access(OPTIONS_DEFAULT_CONFIG, F_OK) == 0) {
        options->config_path = OPTIONS_DEFAULT_CONFIG;
    }
    return true;
}

void options_clear(struct options *options)
{
    free(options->sets);
    *options = (struct options){.action = ACTION_RUN};
}
