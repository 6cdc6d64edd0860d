/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ACCESS_TOKEN_H
#define TANDEM_ACCESS_TOKEN_H

// Only the hashes of tokens are stored, so a reader of the rules cannot use the tokens. Tokens are
// long and random, so a plain SHA-256 is enough.

#include "core/base/macros.h"
#include "core/base/slice.h"

#include <stdbool.h>

#define TOKEN_DIGEST_SIZE 32
// The hash as in a file: hexadecimal digits in lower case, and NUL.
#define TOKEN_HASH_SIZE (2 * TOKEN_DIGEST_SIZE + 1)

struct token_digest {
    unsigned char bytes[TOKEN_DIGEST_SIZE];
};

// False: the library failed.
bool token_digest(struct slice token, struct token_digest *digest) MUST_USE;

// The time does not depend on the values.
bool token_digest_equal(const struct token_digest *a, const struct token_digest *b);

// Reads the digits of a hash. False: the text is not a hash.
bool token_digest_read(struct slice text, struct token_digest *digest) MUST_USE;

// Writes the digits and a NUL.
void token_digest_write(const struct token_digest *digest, char hash[TOKEN_HASH_SIZE]);

#endif
