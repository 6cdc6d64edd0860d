/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ACCESS_TOKEN_H
#define TANDEM_ACCESS_TOKEN_H

// Tokens are known by their hash alone, so that whoever reads a file of rules cannot use them. They
// are long and random: a plain SHA-256 is enough to keep them.

#include "core/base/macros.h"
#include "core/base/slice.h"

#include <stdbool.h>

#define TOKEN_DIGEST_SIZE 32
// The hash as it stands in a file: hexadecimal digits in lower case, and NUL.
#define TOKEN_HASH_SIZE (2 * TOKEN_DIGEST_SIZE + 1)

struct token_digest {
    unsigned char bytes[TOKEN_DIGEST_SIZE];
};

// False where the library fails.
bool token_digest(struct slice token, struct token_digest *digest) MUST_USE;

// Takes the same time for any two.
bool token_digest_equal(const struct token_digest *a, const struct token_digest *b);

// Reads the digits of a hash; false for anything else.
bool token_digest_read(struct slice text, struct token_digest *digest) MUST_USE;

// Writes the digits, and NUL.
void token_digest_write(const struct token_digest *digest, char hash[TOKEN_HASH_SIZE]);

#endif
