/* SPDX-License-Identifier: MIT */
#include "core/base/list.h"

// The end of the run that begins at `node`: the first node that comes before its predecessor, or
// the list itself.
static struct list_node *list_run_end(const struct list_node *list, struct list_node *node,
                                      list_before before)
{
    do {
        node = node->next;
    } while (node != list && !before(node, node->prev));
    return node;
}

// Merges two adjacent runs.
static void list_merge_runs(struct list_node *first, struct list_node *second,
                            const struct list_node *end, list_before before)
{
    while (first != second && second != end) {
        if (before(second, first)) {
            struct list_node *moved = second;

            second = second->next;
            list_remove(moved);
            list_insert_before(first, moved);
        } else {
            first = first->next;
        }
    }
}

void list_sort(struct list_node *list, list_before before)
{
    bool sorted;

    do {
        struct list_node *first = list->next;

        sorted = true;
        while (first != list) {
            struct list_node *second = list_run_end(list, first, before);
            struct list_node *end = second == list ? list : list_run_end(list, second, before);

            sorted = sorted && second == list;
            list_merge_runs(first, second, end, before);
            first = end;
        }
    } while (!sorted);
}
