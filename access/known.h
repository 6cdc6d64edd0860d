/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ACCESS_KNOWN_H
#define TANDEM_ACCESS_KNOWN_H

// The tokens that rules name: each has a name and a hash, and no other has either. They have
// numbers from 1 on, in the order in which they are named first.

#include "access/token.h"
#include "core/base/hash.h"
#include "core/base/macros.h"
#include "core/base/slice.h"

#include <stdbool.h>
#include <stddef.h>

// A token that is known by its name, or only named so far.
struct known {
    struct hash_node named;  /* private */
    struct hash_node hashed; /* private */
    unsigned number;
    unsigned line; // where it is named first
    bool has_digest;
    struct token_digest digest;
    struct slice name; // the bytes below
    char bytes[];
};

struct known_list {
    struct known **list; // owned, and so is each
    size_t count;
    size_t room;           /* private */
    struct hash by_name;   /* private */
    struct hash by_digest; /* private */
};

void known_init(struct known_list *tokens);
void known_clear(struct known_list *tokens);

// NULL where there is none.
struct known *known_by_name(const struct known_list *tokens, struct slice name);
struct known *known_by_digest(const struct known_list *tokens, const struct token_digest *digest);

// A token of that name, which is copied and which none has yet. NULL without memory.
struct known *known_add(struct known_list *tokens, struct slice name, unsigned line) MUST_USE;

// Gives it its hash. NULL, or what is wrong: it has another one, or another token has it.
const char *known_set_digest(struct known_list *tokens, struct known *known,
                             const struct token_digest *digest) MUST_USE;

// The number of the token with that hash, 0 for none; compares all, and takes the same time
// whichever it is.
unsigned known_find(const struct known_list *tokens, const struct token_digest *digest);

#endif
