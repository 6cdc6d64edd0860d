/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ACCESS_RULES_H
#define TANDEM_ACCESS_RULES_H

// The rules of one file, in order, and their tokens. Globs and roles are slices of a text that the
// rules own.

#include "access/token.h"
#include "access/who.h"
#include "core/base/hash.h"
#include "core/base/macros.h"
#include "core/base/slice.h"

#include <stdbool.h>
#include <stddef.h>

// A token of the rules; `has_digest` is false as long as no line has given its hash.
struct known_token {
    struct hash_node named;  /* private */
    struct hash_node hashed; /* private */
    unsigned number;
    unsigned line; // the first line with its name
    bool has_digest;
    struct token_digest digest;
    struct slice name; // in `bytes`
    char bytes[];
};

// All of them. Names and hashes are unique. Tokens are numbered from 1, in the order of their first
// line.
struct known_tokens {
    struct known_token **list; // owned, with its elements
    size_t count;
    size_t room;           /* private */
    struct hash by_name;   /* private */
    struct hash by_digest; /* private */
};

void known_tokens_init(struct known_tokens *tokens);
void known_tokens_clear(struct known_tokens *tokens);

// NULL: there is no such token.
struct known_token *known_token_by_name(const struct known_tokens *tokens, struct slice name);
struct known_token *known_token_by_digest(const struct known_tokens *tokens,
                                          const struct token_digest *digest);

// Adds a token. The name, which no token may have yet, is copied. NULL: no memory.
struct known_token *known_tokens_add(struct known_tokens *tokens, struct slice name,
                                     unsigned line) MUST_USE;

// Sets the hash of the token. Returns NULL, or the error: the token has another hash, or another
// token has this one.
const char *known_token_set_digest(struct known_tokens *tokens, struct known_token *known,
                                   const struct token_digest *digest) MUST_USE;

// The number of the token with this hash; 0: there is none. It compares all hashes, so the time
// does not depend on the result.
unsigned known_tokens_find(const struct known_tokens *tokens, const struct token_digest *digest);

struct rule {
    struct who who;
    unsigned rights; // enum right
    size_t glob;     // the index of its first glob
    size_t globs;    // their number
    struct slice role;
};

struct rules {
    char *text; // owned
    struct rule *list;
    size_t count;
    size_t room; /* private */
    struct slice *globs;
    size_t glob_count;
    size_t glob_room; /* private */
    struct known_tokens tokens;
};

// Copies the text. False: no memory. rules_clear() must be called in any case.
bool rules_init(struct rules *rules, struct slice text) MUST_USE;
void rules_clear(struct rules *rules);

// Adds a rule without rights, globs and role; the caller sets `who`. NULL: no memory.
struct rule *rules_add(struct rules *rules) MUST_USE;

// Replaces each \xHH in a slice of the text by a \ and the byte with that value; the slice becomes
// shorter. Returns NULL, or the error.
const char *rules_unescape(struct rules *rules, struct slice *glob) MUST_USE;

// The same, and adds the glob to the last rule. Returns NULL, or the error.
const char *rules_add_glob(struct rules *rules, struct slice *glob) MUST_USE;

#endif
