/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_CONFIG_COMMAND_H
#define TANDEM_SERVER_CONFIG_COMMAND_H

// What a command line comes to, whichever program's it is (command_line.h, persona.h). All that it
// says of how the broker works is text of the form `section.key=value`: what that means stands in
// the table of settings alone.

#include "server/config/words.h"
#include "server/process/exit_reason.h"

#include <limits.h>
#include <stdbool.h>

enum action {
    ACTION_RUN,
    ACTION_CHECK,
    ACTION_INIT_STORE,
    ACTION_VERSION,
    ACTION_HELP,
    ACTION_HASH_TOKEN,
    ACTION_NONE
};

struct persona;

struct command_line {
    enum action action;    // ACTION_NONE: everything is said, and good
    bool repair;           // a damaged journal is taken over as far as it is good
    bool ignore_binlog;    // what beanstalkd has left in the journal's directory stays there
    bool daemon;           // go to the background once started
    enum exit_codes codes; // whose exit codes there are
    const struct persona *persona; // in whose place we are; NULL: nobody's
    const char *program;           // what messages begin with
    const char *config_path;       // NULL for none
    const char *spare_pid_file;    // one without which we start, too; NULL: none
    const char *queue;             // ACTION_CHECK: whose section is asked for; NULL: none's
    char default_path[PATH_MAX];   /* private: what `config_path` is where none was named */
    struct words presets;          // in force where neither the file nor `sets` say anything else
    struct words sets;             // in order
    struct words notes;            // for the log: what the operator should know
};

#endif
