/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SCHEDULE_SCHEDULE_PRIVATE_H
#define TANDEM_SCHEDULE_SCHEDULE_PRIVATE_H

// Private to the room: one schedule, and all of them.

#include "core/base/tree.h"

#include "schedule/plan.h"
#include "schedule/schedule.h"

#include <stdbool.h>

struct schedule {
    struct tree_node by_name;
    struct tree_node by_wake; // while `wakes`
    struct plan *file, *given;
    nsec_t wake_at; // wall clock
    bool wakes;
    bool adopted; // the configuration that is being taken over has it
    bool unkept;  // what came of its moments is still to be kept
    // Moments up to this one have been decided. It falls only where somebody asks for that: no
    // moment happens twice, whatever is done to the clock.
    nsec_t decided_at;
    nsec_t next_at;    // the first moment after that; NSEC_NEVER: none
    nsec_t missed_to;  // moments that were missed up to here are to happen
    nsec_t give_up_at; // `next_at` was refused, and is tried until then; 0: it was not
    nsec_t fired_at;
    enum schedule_outcome outcome;
    nsec_t outcome_at;
    enum status status;
    uint64_t job_id;
    struct schedule_counts counts;
    size_t name_len;
    char name[];
};

struct schedules {
    struct broker *broker;
    const struct zone_source *zones;
    struct tree by_name, by_wake;
    size_t count;
    struct schedule_counts counts;
    // Wall clock when schedules_work() was called last: none has decided a moment after that, so
    // that only a clock that is behind it can have made one silent. NSEC_NEVER: not called yet, or
    // the schedules are others since.
    nsec_t looked_at;
    uint64_t position; // that the answer to the last verb must wait for
};

// The one that holds.
static inline const struct plan *schedule_plan(const struct schedule *schedule)
{
    return schedule->given ? schedule->given : schedule->file;
}

static inline struct slice schedule_name(const struct schedule *schedule)
{
    return slice_of(schedule->name, schedule->name_len);
}

// When it is to be looked at; NSEC_NEVER: not at all.
void schedule_wake(struct schedules *schedules, struct schedule *schedule, nsec_t at);

static inline struct schedule *schedule_by_wake(const struct tree_node *node)
{
    return node ? container_of((struct tree_node *)(uintptr_t)node, struct schedule, by_wake)
                : NULL;
}

#endif
