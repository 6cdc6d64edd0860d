/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_API_TOKEN_H
#define TANDEM_CTL_API_TOKEN_H

// The secret that says who calls: from a file, or from the environment, and never from the command
// line, which others on the machine can see.

#include "ctl/api/outcome.h"
#include "ctl/print/text.h"

#include <stdbool.h>

// The first line of the file, or where `file` is NULL, TANDEM_TOKEN; empty for none. False with the
// reason.
bool token_find(struct text *token, const char *file, struct problem *problem);

#endif
