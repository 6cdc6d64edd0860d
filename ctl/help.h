/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_HELP_H
#define TANDEM_CTL_HELP_H

// Help texts.

#include "ctl/command.h"

// All commands, with their effects.
void help_all(struct text *out);

// One command: its operands, effect and options. `width` in columns of the terminal; 0: 80.
void help_command(struct text *out, const struct command *command, size_t width);

#endif
