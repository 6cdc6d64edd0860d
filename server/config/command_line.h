/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_CONFIG_COMMAND_LINE_H
#define TANDEM_SERVER_CONFIG_COMMAND_LINE_H

// The command line: our own options and beanstalkd's flags, mixed as one likes. Where we are called
// by the name of another program, or with --as, it is read as that program does (persona.h). This
// header and its source stay away from proto_common/option.h: the C library's getopt.h has a
// `struct option` of its own.

#include "core/base/macros.h"
#include "server/config/command.h"
#include "core/base/error_text.h"

// What --help prints.
extern const char command_line_help[];

// Reads the arguments, which must outlive the command. Without --config, the default file is used
// where it exists (default_config.h), but not in another program's place: that would bring ours to
// its port. Returns EXIT_REASON_NONE, or the reason in `why`; the command is to be cleared in any
// case, and whose `codes` it has is right in any case.
enum exit_reason command_line_parse(struct command_line *command, int argc, char **argv,
                                    struct error_text *why) MUST_USE;

// Prints what the command line has to do with nothing but itself: the words about a wrong one, the
// help, the version.
void command_line_complain(const struct command_line *command, enum exit_reason result,
                           const struct error_text *why);
void command_line_print_help(const struct command_line *command);
void command_line_print_version(const struct command_line *command);

void command_line_clear(struct command_line *command);

#endif
