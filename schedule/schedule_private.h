/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SCHEDULE_SCHEDULE_PRIVATE_H
#define TANDEM_SCHEDULE_SCHEDULE_PRIVATE_H

// The parts of a schedule. plan.c reads and checks its definition, memo.c stores it, firing.c
// decides its moments, and schedule.c finds it by name and by time, and changes it.

#include "core/base/tree.h"

#include "schedule/cron.h"
#include "schedule/schedule.h"

#include <stdbool.h>

//
// Plans: definitions that have been checked
//

// A definition with its own copy of the texts and with its zone open. It never changes: a schedule
// gets another plan instead.
struct schedule_plan {
    struct schedule_spec spec; // its texts are in `texts`
    struct cron cron;
    struct zone *zone;
    const struct zone_source *zones;
    char texts[];
};

// False: the spec is invalid, or there is no memory; `*why` is set and `*plan` is not.
bool schedule_plan_new(const struct schedule_spec *spec, const struct zone_source *zones,
                       struct schedule_plan **plan, struct error_text *why) MUST_USE;

// NULL is allowed.
void schedule_plan_free(struct schedule_plan *plan);

// Whether the moments of the plan are given by the same texts.
bool schedule_plan_has_moments(const struct schedule_plan *plan, struct slice cron,
                               struct slice timezone);

//
// Schedules
//

struct schedule {
    struct tree_node by_name;
    struct tree_node by_wake;                 // only if `wakes`
    struct schedule_plan *file, *at_run_time; // owned; NULL: not defined there
    nsec_t wake_at;                           // wall clock: when firing_work() is called next
    bool wakes;
    bool adopted; // the configuration that is being adopted has it
    bool unsaved; // the memo could not be written; this is retried
    // All moments up to this one are decided. It decreases only if an operator asks for it, so that
    // no moment happens twice, however the clock is set.
    nsec_t decided_at;
    nsec_t next_at;    // the first moment after that; NSEC_NEVER: none
    nsec_t missed_to;  // missed moments up to here are to submit their jobs
    nsec_t give_up_at; // the job of `next_at` was refused, and is retried until then; 0: it was not
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
    // The wall clock at the last call of schedules_work(). No moment after it has been decided, so
    // schedules can be silent only if the clock is now behind it. NSEC_NEVER: not called since the
    // schedules were created or adopted.
    nsec_t worked_at;
    uint64_t position; // the reply to the last change waits for this log position
};

// The plan that holds; NULL: the schedule is being added or removed.
static inline const struct schedule_plan *schedule_plan(const struct schedule *schedule)
{
    return schedule->at_run_time ? schedule->at_run_time : schedule->file;
}

static inline struct slice schedule_name(const struct schedule *schedule)
{
    return slice_of(schedule->name, schedule->name_len);
}

//
// The index
//

// The schedule of that name. NULL: none.
struct schedule *schedule_index_find(const struct schedules *schedules, struct slice name);

// The first schedule whose name is after `name`, in the order of bytes. NULL: none.
struct schedule *schedule_index_after(const struct schedules *schedules, struct slice name);

// Adds a schedule without a plan. NULL: no memory.
struct schedule *schedule_index_add(struct schedules *schedules, struct slice name);

// Removes and frees the schedule with its plans.
void schedule_index_remove(struct schedules *schedules, struct schedule *schedule);

// The schedule that wakes first. NULL: none wakes.
struct schedule *schedule_index_first(const struct schedules *schedules);

//
// Memos
//

// Stores the definition. STATUS_NO_MEMORY, STATUS_NO_SPACE.
enum status schedule_memo_put_spec(struct broker *broker,
                                   const struct schedule_spec *spec) MUST_USE;

// Reads a definition, whose texts borrow from the memo. False: the memo is not valid.
bool schedule_memo_read_spec(const struct memo *memo, struct schedule_spec *spec);

// Stores which moments are decided. STATUS_NO_MEMORY, STATUS_NO_SPACE.
enum status schedule_memo_put_fired(struct broker *broker,
                                    const struct schedule *schedule) MUST_USE;

// Restores which moments are decided. False: there is no valid memo, or it is about other moments
// than those of the present plan.
bool schedule_memo_read_fired(const struct broker *broker, struct schedule *schedule);

//
// Firing
//

// The schedule has a new plan: finds out which moment is next.
void firing_begin(struct schedules *schedules, struct schedule *schedule);

// Sets the time of the next call of firing_work(). NSEC_NEVER: none.
void firing_set_wake(struct schedules *schedules, struct schedule *schedule, nsec_t at);

// The schedule wakes: decides at most one moment, or a number of missed moments at once. Returns
// the cost, of which schedules_work() may spend FIRING_SLICE in a call.
#define FIRING_SLICE 16
unsigned firing_work(struct schedules *schedules, struct schedule *schedule);

// Until when no moment comes because the wall clock, which is at `now`, was set back; 0: it was
// not, or by less than a minute.
nsec_t firing_silent_until(const struct schedule *schedule, nsec_t now);

// See schedules_replan().
enum status firing_replan(struct schedules *schedules, struct schedule *schedule) MUST_USE;

// See schedules_run().
enum status firing_now(struct schedules *schedules, struct schedule *schedule,
                       struct submission *submission) MUST_USE;

#endif
