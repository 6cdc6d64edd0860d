/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_HTTP_TOKENS_H
#define TANDEM_PROTO_HTTP_TOKENS_H

// Tokens: who may submit to which functions. The file has a line for each: the hash of the token,
// blanks, and globs of functions divided by commas. Lines that are empty or begin with # do not
// count. The file does not hold the tokens themselves, so that whoever reads it cannot use them;
// tokens are long and random, so that a plain SHA-256 is enough to keep them.

#include "core/base/macros.h"
#include "core/base/slice.h"
#include "proto_common/frontend.h"

#include <stdbool.h>

// The hash of a token as it stands in the file, in hexadecimal digits, and NUL.
#define WEB_TOKEN_HASH 65

struct web_tokens;

// Reads the file; NULL with the reason in `why` where it cannot be read, or is wrong in any line.
struct web_tokens *web_tokens_read(const char *path, struct frontend_reason *why) MUST_USE;

// The same with the reason in a line of the log.
struct web_tokens *web_tokens_load(const char *path) MUST_USE;

// NULL is allowed.
void web_tokens_free(struct web_tokens *tokens);

// The globs of that token, NULL where it is none. Takes the same time whichever it is.
const char *web_tokens_find(const struct web_tokens *tokens, struct slice token);

// Writes the hash of the token; false where the library fails.
bool web_token_hash(struct slice token, char hash[WEB_TOKEN_HASH]) MUST_USE;

#endif
