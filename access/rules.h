/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ACCESS_RULES_H
#define TANDEM_ACCESS_RULES_H

// The rules of one file, in order, and their tokens. Globs and roles are slices of a text that the
// rules own.

#include "access/known.h"
#include "access/who.h"

#include "core/base/macros.h"
#include "core/base/slice.h"

#include <stdbool.h>
#include <stddef.h>

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
    struct known_list tokens;
};

// Copies the text. False: no memory. rules_clear() must be called in any case.
bool rules_init(struct rules *rules, struct slice text) MUST_USE;
void rules_clear(struct rules *rules);

// Adds a rule without rights, globs and role; the caller sets `who`. NULL: no memory.
struct rule *rules_add(struct rules *rules) MUST_USE;

// Replaces the \x escapes in a slice of the text, which becomes shorter. Returns NULL, or the
// error.
const char *rules_unescape(struct rules *rules, struct slice *glob) MUST_USE;

// The same, and adds the glob to the last rule. Returns NULL, or the error.
const char *rules_add_glob(struct rules *rules, struct slice *glob) MUST_USE;

#endif
