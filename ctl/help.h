/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_HELP_H
#define TANDEM_CTL_HELP_H

// What the program says of itself.

#include "ctl/command.h"

// The commands and what each does.
void help_all(struct text *out);

// One command: its words, what it does, its options. `width` is that of the terminal; 0: 80.
void help_command(struct text *out, const struct command *command, size_t width);

#endif
