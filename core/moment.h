/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_MOMENT_H
#define TANDEM_CORE_MOMENT_H

// Private to the core: moments at which something falls due, and the trees that hold them.

#include "core/base/macros.h"
#include "core/base/nsec.h"
#include "core/base/tree.h"

#include <stdint.h>

enum clock { CLOCK_MONO, CLOCK_WALL };
#define CLOCKS 2

// An entry in one of the broker's trees of moments. `at` is NSEC_NEVER while it is in none. Of
// those that come at the same time, the lowest rank is first.
struct moment {
    struct tree_node node;
    nsec_t at;
    uint64_t rank;
};

// Puts the moment into the tree, moves it there, or (NSEC_NEVER) takes it out.
void moment_set(struct tree *tree, struct moment *moment, nsec_t at, uint64_t rank);

static inline struct moment *moment_first(const struct tree *tree)
{
    struct tree_node *node = tree_first(tree);

    return node ? container_of(node, struct moment, node) : NULL;
}

#endif
