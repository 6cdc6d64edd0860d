/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_EXPORT_SORT_H
#define TANDEM_CTL_EXPORT_SORT_H

// Lines of jobs, kept in a file without a name as they come, and written in the order in which a
// restart would have the jobs: by their ids, and buried ones behind all others, longest buried
// first. Memory goes by the number of lines, not by their length.

#include "core/base/slice.h"
#include "ctl/api/outcome.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct export_sort;

// `folder` is where the file is. NULL with a problem.
struct export_sort *export_sort_new(const char *folder, struct problem *problem);
void export_sort_free(struct export_sort *sort);

// A line, with its end. False with a problem.
bool export_sort_add(struct export_sort *sort, struct slice line, struct problem *problem);
uint64_t export_sort_count(const struct export_sort *sort);

// Writes all of them. False with a problem.
bool export_sort_write(struct export_sort *sort, FILE *to, struct problem *problem);

#endif
