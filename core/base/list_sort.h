/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_BASE_LIST_SORT_H
#define TANDEM_CORE_BASE_LIST_SORT_H

// Puts a list in order where it stands: a stable merge sort that finds the runs which are in order
// already, so that a list that nearly is costs little more than a walk. Allocates nothing.

#include "core/base/list.h"

typedef bool (*list_before)(const struct list_node *a, const struct list_node *b);

void list_sort(struct list_node *list, list_before before);

#endif
