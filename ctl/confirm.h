/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_CONFIRM_H
#define TANDEM_CTL_CONFIRM_H

// Confirmation of an act that destroys data or changes much.

#include "ctl/command.h"

// Returns OUTCOME_DONE to continue. --yes answers in advance; without it, and if there is no
// terminal to ask on, the answer is no. `question` is plain text, which is escaped here.
enum outcome confirm(struct context *context, const char *question);

#endif
