/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_BASE_LIST_SORT_H
#define TANDEM_CORE_BASE_LIST_SORT_H

// Sorts a list in place by a stable merge sort of its sorted runs: an almost sorted list costs
// little more than a walk. Allocates nothing.

#include "core/base/list.h"

typedef bool (*list_before)(const struct list_node *a, const struct list_node *b);

void list_sort(struct list_node *list, list_before before);

#endif
