/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ACCESS_KNOWN_H
#define TANDEM_ACCESS_KNOWN_H

// The tokens of the rules. Names and hashes are unique. Tokens are numbered from 1, in the order of
// their first line.

#include "access/token.h"
#include "core/base/hash.h"
#include "core/base/macros.h"
#include "core/base/slice.h"

#include <stdbool.h>
#include <stddef.h>

// A token; `has_digest` is false as long as no line has given its hash.
struct known {
    struct hash_node named;  /* private */
    struct hash_node hashed; /* private */
    unsigned number;
    unsigned line; // the first line with its name
    bool has_digest;
    struct token_digest digest;
    struct slice name; // in `bytes`
    char bytes[];
};

struct known_list {
    struct known **list; // owned, with its elements
    size_t count;
    size_t room;           /* private */
    struct hash by_name;   /* private */
    struct hash by_digest; /* private */
};

void known_init(struct known_list *tokens);
void known_clear(struct known_list *tokens);

// NULL: there is no such token.
struct known *known_by_name(const struct known_list *tokens, struct slice name);
struct known *known_by_digest(const struct known_list *tokens, const struct token_digest *digest);

// Adds a token. The name, which no token may have yet, is copied. NULL: no memory.
struct known *known_add(struct known_list *tokens, struct slice name, unsigned line) MUST_USE;

// Sets the hash of the token. Returns NULL, or the error: the token has another hash, or another
// token has this one.
const char *known_set_digest(struct known_list *tokens, struct known *known,
                             const struct token_digest *digest) MUST_USE;

// The number of the token with this hash; 0: there is none. It compares all hashes, so the time
// does not depend on the result.
unsigned known_find(const struct known_list *tokens, const struct token_digest *digest);

#endif
