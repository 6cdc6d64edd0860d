/* SPDX-License-Identifier: MIT */
// When endpoints are to be called, as push_private.h has it.
#include "push/push_private.h"

static struct endpoint *endpoint_of(const struct tree_node *node)
{
    return container_of((struct tree_node *)(uintptr_t)node, struct endpoint, due);
}

static bool is_before(const struct tree_node *a, const struct tree_node *b)
{
    nsec_t a_at = endpoint_of(a)->due_at;
    nsec_t b_at = endpoint_of(b)->due_at;

    return a_at < b_at || (a_at == b_at && (uintptr_t)a < (uintptr_t)b);
}

struct endpoint *push_first_due(const struct push *push)
{
    const struct tree_node *first = tree_first(&push->due);

    return first ? endpoint_of(first) : NULL;
}

void push_call_at(struct push *push, struct endpoint *endpoint, nsec_t due_at)
{
    if (due_at == endpoint->due_at) {
        return;
    }
    if (endpoint->due_at != NSEC_NEVER) {
        tree_remove(&push->due, &endpoint->due, is_before);
    }
    endpoint->due_at = due_at;
    if (due_at != NSEC_NEVER) {
        tree_insert(&push->due, &endpoint->due, is_before);
    }
}

void push_call_by(struct push *push, struct endpoint *endpoint, nsec_t due_at)
{
    if (due_at < endpoint->due_at) {
        push_call_at(push, endpoint, due_at);
    }
}
