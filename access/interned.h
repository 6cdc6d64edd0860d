/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ACCESS_INTERNED_H
#define TANDEM_ACCESS_INTERNED_H

// Grants, one for each set of rules that somebody fits: those to whom the same rules apply share
// them. A set that nobody has any more goes when more are made.

#include "access/rules.h"

#include "core/base/hash.h"
#include "core/base/list.h"
#include "core/base/macros.h"
#include "core/grants.h"

#include <stddef.h>
#include <stdint.h>

#define INTERNED_WORD_BITS 64

struct interned {
    const struct rules *rules; // borrowed
    size_t words;              // of a set
    struct hash sets;          /* private */
    struct list_node all;      /* private */
    size_t sweep_at; /* private: how many sets there are when it is looked for unused ones */
};

void interned_init(struct interned *interned, const struct rules *rules);
void interned_clear(struct interned *interned);

// What the rules of that set grant; the caller has a reference. The set has a bit for each rule,
// the lowest of the first word for the first. NULL without memory.
struct grants *interned_get(struct interned *interned, const uint64_t *set) MUST_USE;

#endif
