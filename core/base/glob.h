/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_BASE_GLOB_H
#define TANDEM_CORE_BASE_GLOB_H

// Patterns for names of any bytes, whatever the locale:
//   *        any bytes, and none
//   ?        any one byte
//   [a-z_]   one of those bytes; a range goes up
//   [!a-z]   one byte that is not in the set; [^a-z], too
//   \c       the byte c, in a set, too
// Any other byte matches itself; in a set, so do ] as the first member and - as the first or last.
// An unclosed set, a descending range, a character class ([:alpha:]) and a \ at the end are
// malformed: such a glob matches no name.

#include "core/base/slice.h"

#include <stdbool.h>

// Whether the glob matches the whole name. Takes at most as many steps as the product of their
// lengths.
bool glob_matches(struct slice glob, struct slice name);

// Whether the glob is well-formed. An empty glob is valid, and matches an empty name.
bool glob_valid(struct slice glob);

#endif
