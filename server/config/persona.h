/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_CONFIG_PERSONA_H
#define TANDEM_SERVER_CONFIG_PERSONA_H

// The programs whose place we take where we are called by their name, or with --as: a persona reads
// the command line as that program does, refuses it in its words and with its exit codes, and turns
// what it says into settings. Each serves its own protocol only, at that program's addresses,
// unless settings say otherwise. Of our own options it knows the long ones of persona_own.h.

#include "core/base/macros.h"
#include "server/config/command.h"
#include "core/base/error_text.h"

#include <stdio.h>

struct persona {
    const char *name;
    enum exit_codes codes;
    // Fills in the command, which has the persona, codes and program already. EXIT_REASON_NONE, or
    // the reason in `why`.
    enum exit_reason (*parse)(struct command_line *command, int argc, char **argv,
                              struct error_text *why);
    // Where the program prints its help.
    FILE *(*help_stream)(void);
    void (*print_help)(const struct command_line *command, FILE *stream);
    void (*print_version)(FILE *stream);
    bool helps_when_misused; // the help stands behind words about a wrong command line
};

extern const struct persona persona_beanstalkd;
extern const struct persona persona_gearmand;

// Whose place the command line asks to take: NULL for nobody's. False with the reason in `why`
// where --as names a program that is none of them.
bool persona_find(const struct persona **persona, int argc, char **argv,
                  struct error_text *why) MUST_USE;

#endif
