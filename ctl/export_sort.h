/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_EXPORT_SORT_H
#define TANDEM_CTL_EXPORT_SORT_H

// Sorts the lines of jobs in a file without a name, in the order in which a restart would restore
// the jobs: by id, with buried jobs last, and among these the longest buried first. Memory grows
// with the number of lines, not with their length.

#include "core/base/slice.h"
#include "ctl/api/outcome.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct export_sort;

// `folder` is the folder of the file. NULL with a problem.
struct export_sort *export_sort_new(const char *folder, struct problem *problem);
void export_sort_free(struct export_sort *sort);

// Adds a line, including its line feed. False with a problem.
bool export_sort_add(struct export_sort *sort, struct slice line, struct problem *problem);
uint64_t export_sort_count(const struct export_sort *sort);

// Writes all lines in order. False with a problem.
bool export_sort_write(struct export_sort *sort, FILE *to, struct problem *problem);

#endif
