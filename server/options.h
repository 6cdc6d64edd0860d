/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_OPTIONS_H
#define TANDEM_SERVER_OPTIONS_H

// The command line. This header and its source stay away from core/option.h: the C library's
// getopt.h has a `struct option` of its own.

#include "core/macros.h"
#include "server/complaint.h"

#include <stdbool.h>

// What the exit code says.
enum exit_code {
    EXIT_CODE_GOOD = 0,
    EXIT_CODE_FAILED = 1, // an address, a file or memory could not be had, at start or later
    EXIT_CODE_USAGE = 2,  // the command line or the configuration is wrong
};

#define OPTIONS_DEFAULT_CONFIG "/etc/tandem/tandemd.conf"

enum action { ACTION_RUN, ACTION_CHECK, ACTION_VERSION, ACTION_HELP };

struct options {
    enum action action;
    const char *config_path; // NULL for none
    const char **sets;       // what each --set said, in order
    size_t set_count;
};

// What --help prints.
extern const char options_help[];

// Reads the arguments, which must outlive the options. Without --config, the default file is used
// where it exists. False, with the reason in `why`; the options are then to be cleared all the
// same.
bool options_parse(struct options *options, int argc, char **argv, struct complaint *why) MUST_USE;

void options_clear(struct options *options);

#endif
