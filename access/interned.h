/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ACCESS_INTERNED_H
#define TANDEM_ACCESS_INTERNED_H

// Interned grants: one for each set of rules that matches a caller, so callers that match the same
// rules share it. Grants without users are freed when others are made.

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
    size_t words;              // in a set
    struct hash sets;          /* private */
    struct list_node all;      /* private */
    size_t sweep_at;           /* private: the number of sets at which unused ones are freed */
};

void interned_init(struct interned *interned, const struct rules *rules);
void interned_clear(struct interned *interned);

// The grants of a set of rules; the caller gets a reference. The set has a bit for each rule, and
// the first rule is the lowest bit of the first word. NULL: no memory.
struct grants *interned_get(struct interned *interned, const uint64_t *set) MUST_USE;

#endif
