/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_API_TOKEN_H
#define TANDEM_CTL_API_TOKEN_H

// The token that authenticates the caller: from a file or the environment, but never from the
// command line, which other users of the machine can see.

#include "ctl/api/outcome.h"
#include "ctl/print/text.h"

#include <stdbool.h>

// Reads the first line of the file, or TANDEM_TOKEN if `file` is NULL; empty if there is no token.
// False with a problem.
bool token_find(struct text *token, const char *file, struct problem *problem);

#endif
