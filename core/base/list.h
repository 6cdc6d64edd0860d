/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_BASE_LIST_H
#define TANDEM_CORE_BASE_LIST_H

// An intrusive doubly linked list with a sentinel. A node that is in no list points at itself, so
// that removing it again does no harm. No function allocates or fails; all but list_each and
// list_sort() are O(1).

#include "core/base/macros.h"

#include <stdbool.h>

struct list_node {
    struct list_node *next;
    struct list_node *prev;
};

// The item in which the node is embedded.
#define list_item(node, type, member) container_of(node, type, member)

// NOLINTBEGIN(bugprone-macro-parentheses): `node` is declared here.
#define list_each(node, list)                                                                      \
    for (struct list_node *node = (list)->next; node != (list); node = node->next)
// NOLINTEND(bugprone-macro-parentheses)

static inline void list_init(struct list_node *list)
{
    list->next = list;
    list->prev = list;
}

static inline bool list_empty(const struct list_node *list)
{
    return list->next == list;
}

static inline struct list_node *list_first(const struct list_node *list)
{
    // NOLINTNEXTLINE(clang-analyzer-unix.Malloc): it cannot track nodes that were unlinked.
    return list_empty(list) ? NULL : list->next;
}

// True while `node` is in a list.
static inline bool list_linked(const struct list_node *node)
{
    return node->next != node;
}

static inline void list_insert_before(struct list_node *at, struct list_node *node)
{
    node->prev = at->prev;
    node->next = at;
    at->prev->next = node;
    at->prev = node;
}

static inline void list_append(struct list_node *list, struct list_node *node)
{
    list_insert_before(list, node);
}

// Moves all nodes of `more` to the end of `list`, in one step.
static inline void list_append_all(struct list_node *list, struct list_node *more)
{
    if (list_empty(more)) {
        return;
    }
    list->prev->next = more->next;
    more->next->prev = list->prev;
    list->prev = more->prev;
    more->prev->next = list;
    list_init(more);
}

static inline void list_remove(struct list_node *node)
{
    node->prev->next = node->next;
    node->next->prev = node->prev;
    list_init(node);
}

typedef bool (*list_before)(const struct list_node *a, const struct list_node *b);

// Sorts the list by a stable merge sort of its sorted runs: an almost sorted list costs little more
// than a walk.
void list_sort(struct list_node *list, list_before before);

#endif
