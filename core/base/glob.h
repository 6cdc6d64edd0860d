/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_BASE_GLOB_H
#define TANDEM_CORE_BASE_GLOB_H

// Patterns for names of any bytes, whatever the locale:
//   *        any bytes, and none
//   ?        any one byte
//   [a-z_]   one of those bytes; a range goes up
//   [!a-z]   one byte that is none of those; [^a-z], too
//   \c       the byte c, in a set, too
// Any other byte stands for itself; in a set, so does ] at its beginning, and - at either end. A
// set that is not closed, a range that goes down, a class of a locale ([:alpha:]) and a \ at the
// end are malformed: such a glob fits no name.

#include "core/base/slice.h"

#include <stdbool.h>

// Whether the whole name is as the glob says. Takes at most as many steps as the product of their
// lengths.
bool glob_matches(struct slice glob, struct slice name);

// Whether nothing in it is malformed. An empty glob is valid, and fits an empty name.
bool glob_valid(struct slice glob);

#endif
