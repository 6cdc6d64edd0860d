/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_HASH_TOKEN_H
#define TANDEM_SERVER_HASH_TOKEN_H

// `tandemd hash-token`: for server.access_file and http.tokens.

#include "core/base/macros.h"
#include "server/process/exit_reason.h"
#include "core/base/error_text.h"

#include <stdio.h>

// Reads a token, a line of `input`, and prints its hash.
enum exit_reason hash_token(FILE *input, FILE *output, struct error_text *why) MUST_USE;

#endif
