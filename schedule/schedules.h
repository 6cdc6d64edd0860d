/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SCHEDULE_SCHEDULES_H
#define TANDEM_SCHEDULE_SCHEDULES_H

// Schedules: each submits a durable job to its queue at moments of the calendar. SCHEDULES.md
// beside this file tells the rules. A schedule stands in the configuration, or was made at run time
// and is kept as a memo; where both have one of the same name, the one made at run time holds.
//
// Like the broker, this reads no clock: the host asks schedules_due() when there is something to
// do, and has it done by schedules_work(), in slices. What came of a moment is kept as a memo, too,
// behind the job, whose key is NAME@MOMENT: so each moment happens once, whatever crashes.

#include "core/base/macros.h"
#include "core/base/nsec.h"
#include "core/base/slice.h"
#include "core/broker.h"

#include "schedule/spec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct schedules;

// The most schedules, those of the configuration included.
#define SCHEDULES_MAX 1000

// Schedules of a broker that has its jobs and memos, those made at run time among them; NULL
// without memory. Both arguments outlive it.
struct schedules *schedules_new(struct broker *broker, const struct zone_source *zones) MUST_USE;

// NULL is allowed. Nothing is forgotten: the broker keeps what the next start needs.
void schedules_free(struct schedules *schedules);

// Those of the configuration are these from now on: new ones begin now, changed ones go on, others
// end. False, with the reason, where one makes no sense, where there are too many, or without
// memory; nothing has changed then. No name stands in the list twice.
bool schedules_adopt(struct schedules *schedules, const struct schedule_spec *specs, size_t count,
                     struct schedule_reason *why) MUST_USE;

//
// Time
//

// When there is something to do, by the monotonic clock: the present where that has come. While
// there is any schedule it is at most a second away, so that a wall clock that is set is obeyed.
nsec_t schedules_due(const struct schedules *schedules);

// Does a slice of what is due.
void schedules_work(struct schedules *schedules);

//
// At run time
//

// Makes a schedule, or changes the one of that name. STATUS_BAD_NAME, with the reason, where the
// spec makes no sense; STATUS_TOO_LARGE where there are SCHEDULES_MAX; STATUS_NO_MEMORY,
// STATUS_NO_SPACE.
enum status schedules_put(struct schedules *schedules, const struct schedule_spec *spec,
                          struct schedule_reason *why) MUST_USE;

// Takes back what was said at run time: the schedule ends, or is the configuration's again.
// STATUS_NOT_FOUND; STATUS_IN_USE where it stands in the configuration only; STATUS_NO_SPACE.
enum status schedules_remove(struct schedules *schedules, struct slice name) MUST_USE;

// Submits the job now, besides all moments of the calendar, and whether the one before is done or
// not. STATUS_NOT_FOUND, and as broker_submit().
enum status schedules_run(struct schedules *schedules, struct slice name,
                          struct submission *submission) MUST_USE;

// Forgets which moments have been decided: those from now on are to come, also where they came
// before the wall clock was set back. The decision is kept. STATUS_NOT_FOUND, STATUS_NO_MEMORY,
// STATUS_NO_SPACE; nothing has changed then.
enum status schedules_replan(struct schedules *schedules, struct slice name) MUST_USE;

// The position in the store that the answer to the last of these must wait for; 0: none.
uint64_t schedules_position(const struct schedules *schedules);

//
// Looking
//

enum schedule_outcome {
    SCHEDULE_NOTHING,    // no moment has come yet
    SCHEDULE_FIRED,      // the job was submitted
    SCHEDULE_MISSED,     // it had passed before anybody looked
    SCHEDULE_OVERLAPPED, // the job of the moment before was not done
    SCHEDULE_REFUSED,    // the job was not accepted, and is tried again
    SCHEDULE_GIVEN_UP    // it was not accepted until the next moment came
};

// What has come of moments since the process began.
struct schedule_counts {
    uint64_t fired;      // jobs submitted
    uint64_t late;       // of these, a minute or more after their moment
    uint64_t missed;     // times that moments were passed over since they had passed
    uint64_t overlapped; // moments passed over since a job was not done
    uint64_t refused;    // times that a job was not accepted
    uint64_t given_up;   // moments for which it was not accepted until the next one
};

struct schedule_info {
    const struct schedule_spec *spec;
    bool in_file, at_run_time; // where it was said; the latter holds
    nsec_t next_at;            // wall clock; NSEC_NEVER: no more
    nsec_t silent_until;       // wall clock; it was set back, and nothing happens until then; 0: no
    nsec_t fired_at;           // the moment that was fired last; 0: none is known
    enum schedule_outcome outcome;
    nsec_t outcome_at;  // the moment that it is about
    enum status status; // why: REFUSED, GIVEN_UP
    uint64_t job_id;    // FIRED
    struct schedule_counts counts;
};

// The first schedule whose name comes after that one, by bytes; false where there is none. Borrowed
// until the next call that may change schedules.
bool schedules_next(const struct schedules *schedules, struct slice after,
                    struct schedule_info *info);

bool schedules_find(const struct schedules *schedules, struct slice name,
                    struct schedule_info *info);

// How many there are, and what has come of the moments of all, those of schedules that are gone,
// too.
size_t schedules_count(const struct schedules *schedules);
void schedules_counts(const struct schedules *schedules, struct schedule_counts *counts);

// A moment as keys of jobs have it: 2026-11-23T03:00:00Z. For moments from 1970 on.
#define SCHEDULE_MOMENT_MAX 32
struct slice schedule_moment_text(nsec_t at, char text[SCHEDULE_MOMENT_MAX]);

#endif
