/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_CONFIG_COMMAND_LINE_H
#define TANDEM_SERVER_CONFIG_COMMAND_LINE_H

#include "core/base/error_text.h"
#include "core/base/macros.h"
#include "server/config/string_list.h"
#include "server/process/daemon.h"

#include <limits.h>
#include <stdbool.h>

// The command line: our own options and beanstalkd's flags, in any mixture. If the program is
// called by the name of another one, or with --as, the options are those of that program
// (compat.h). All values become text of the form `section.key=value`, so that only the table of
// settings knows their meaning.
//
// This header and its source do not include proto_common/option.h, because the C library's getopt.h
// has a `struct option`, too.

enum action {
    ACTION_RUN,
    ACTION_CHECK,
    ACTION_INIT_STORE,
    ACTION_VERSION,
    ACTION_HELP,
    ACTION_HASH_TOKEN,
    ACTION_NONE // the command line was checked, and nothing is left to do
};

struct compat_program;

struct command_line {
    enum action action;
    bool repair; // start with a damaged journal
    bool
        ignore_binlog; // do not import the jobs that beanstalkd has left in the journal's directory
    bool daemon;       // go to the background once started
    enum exit_codes codes;               // the program whose exit codes apply
    const struct compat_program *compat; // the replaced program; NULL: none
    const char *program;                 // prefix of messages
    const char *config_path;             // NULL: none
    const char *optional_pid_file;       // a pid file that is not required; NULL: none
    const char *queue;                   // ACTION_CHECK: print the section of this queue; NULL: all
    char default_path[PATH_MAX];         /* private: buffer of `config_path` */
    struct string_list presets;          // the file and `sets` override them
    struct string_list sets;             // in order
    struct string_list notes;            // for the log
};

// The text of --help.
extern const char command_line_help[];

// Parses the arguments, which must outlive the command. Without --config, the default file is used
// if it exists, but not as a replacement of another program: our file would open our ports, too.
// Returns EXIT_REASON_NONE, or another reason with its text in `why`. In any case `codes` is set,
// and the caller clears the command.
enum exit_reason command_line_parse(struct command_line *command, int argc, char **argv,
                                    struct error_text *why) MUST_USE;
void command_line_clear(struct command_line *command);

// Prints the error of a command line, the help, and the version.
void command_line_print_error(const struct command_line *command, enum exit_reason result,
                              const struct error_text *why);
void command_line_print_help(const struct command_line *command);
void command_line_print_version(const struct command_line *command);

// The path of the configuration file, by the rule that `cmake --install` follows
// (cmake/install_conf.cmake.in): below /etc for a program in /usr/bin, below PREFIX/etc for one in
// PREFIX/bin, and below /etc/opt/NAME for one in /opt/NAME/bin. A program elsewhere, such as in a
// build tree, has the path of /usr/bin.
#define DEFAULT_CONFIG "/etc/tandem/tandemd.conf"

// The path for the program at that absolute path. False if it would be too long.
bool default_config_of(const char *program, char path[PATH_MAX]) MUST_USE;

#endif
