/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ACCESS_RULES_H
#define TANDEM_ACCESS_RULES_H

// The rules of one file, in its order, and the tokens that they name. Globs and roles stand in a
// text that the rules own.

#include "access/known.h"
#include "access/who.h"

#include "core/base/macros.h"
#include "core/base/slice.h"

#include <stdbool.h>
#include <stddef.h>

struct rule {
    struct who who;
    unsigned rights; // enum right
    size_t glob;     // the first of its globs
    size_t globs;    // how many it has
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
    struct known_list tokens;
};

// Keeps a copy of the text; false without memory. rules_clear() is needed in any case.
bool rules_init(struct rules *rules, struct slice text) MUST_USE;
void rules_clear(struct rules *rules);

// Adds a rule for nobody yet, without a right, globs and role. NULL without memory.
struct rule *rules_add(struct rules *rules) MUST_USE;

// Writes out what \x stands for in a slice of the text, which becomes shorter. NULL, or what is
// wrong with it.
const char *rules_unescape(struct rules *rules, struct slice *glob) MUST_USE;

// The same, and adds it to the rule that was added last.
const char *rules_add_glob(struct rules *rules, struct slice *glob) MUST_USE;

#endif
