/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_CONFIRM_H
#define TANDEM_CTL_CONFIRM_H

// Before something is destroyed, or much is changed, a person says yes.

#include "ctl/command.h"

// OUTCOME_DONE: go on. --yes says so beforehand; where nobody can be asked, and nothing is said, it
// is no. The question is in plain words, and escaped here.
enum outcome confirm(struct context *context, const char *question);

#endif
