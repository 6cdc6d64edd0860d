/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SCHEDULE_INDEX_H
#define TANDEM_SCHEDULE_INDEX_H

// All schedules, by their names.

#include "schedule/schedule_private.h"

// The one of that name; the first whose name comes after that one, by bytes. NULL: none.
struct schedule *index_find(const struct schedules *schedules, struct slice name);
struct schedule *index_after(const struct schedules *schedules, struct slice name);

// A further one, of which nothing is known but the name. NULL without memory.
struct schedule *index_add(struct schedules *schedules, struct slice name);

// Frees it, with its plans.
void index_remove(struct schedules *schedules, struct schedule *schedule);

#endif
