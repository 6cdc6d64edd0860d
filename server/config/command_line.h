/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_CONFIG_COMMAND_LINE_H
#define TANDEM_SERVER_CONFIG_COMMAND_LINE_H

// The command line: our own options and beanstalkd's flags, mixed as one likes. This header and
// its source stay away from proto_common/option.h: the C library's getopt.h has a `struct option`
// of its own.

#include "core/base/macros.h"
#include "server/config/beanstalkd_flags.h"
#include "server/process/exit_reason.h"
#include "server/process/reason.h"

#include <limits.h>
#include <stdbool.h>

enum action { ACTION_RUN, ACTION_CHECK, ACTION_VERSION, ACTION_HELP, ACTION_HASH_TOKEN };

struct command_line {
    enum action action;
    bool repair;                 // a damaged journal is taken over as far as it is good
    bool ignore_binlog;          // what beanstalkd has left in the journal's directory stays there
    bool as_beanstalkd;          // one of beanstalkd's flags was there: take its place
    const char *config_path;     // NULL for none
    char default_path[PATH_MAX]; /* private: what `config_path` is where none was named */
    const char *queue;           // ACTION_CHECK: whose section is asked for; NULL: none's
    const char **sets;           // what the flags say, then what each --set said, in order
    size_t set_count;
    struct flags flags;
    char *owned[FLAGS_SETTINGS_MAX]; /* private: those of `sets` that are freed */
    size_t owned_count;              /* private */
};

// What --help prints.
extern const char command_line_help[];

// Reads the arguments, which must outlive the options. Without --config, the default file is used
// where it exists (default_config.h). EXIT_REASON_NONE, or the reason in `why`; the options are to
// be cleared in any case, and `as_beanstalkd` is right in any case.
enum exit_reason command_line_parse(struct command_line *options, int argc, char **argv,
                                    struct reason *why) MUST_USE;

void command_line_clear(struct command_line *options);

#endif
