/* SPDX-License-Identifier: MIT */
#include "core/timers.h"

static bool timer_before(const struct tree_node *a, const struct tree_node *b)
{
    const struct timer *x = container_of((struct tree_node *)(uintptr_t)a, struct timer, node);
    const struct timer *y = container_of((struct tree_node *)(uintptr_t)b, struct timer, node);

    if (x->at != y->at || x->rank == y->rank) {
        return x->at != y->at ? x->at < y->at : (uintptr_t)x < (uintptr_t)y;
    }
    return x->rank < y->rank;
}

void timer_set(struct tree *tree, struct timer *moment, nsec_t at, uint64_t rank)
{
    if (at == moment->at && (rank == moment->rank || at == NSEC_NEVER)) {
        return;
    }
    if (moment->at != NSEC_NEVER) {
        tree_remove(tree, &moment->node, timer_before);
    }
    moment->at = at;
    moment->rank = rank;
    if (at != NSEC_NEVER) {
        tree_insert(tree, &moment->node, timer_before);
    }
}
