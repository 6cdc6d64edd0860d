/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SCHEDULE_SCHEDULE_H
#define TANDEM_SCHEDULE_SCHEDULE_H

#include "core/base/error_text.h"
#include "core/base/macros.h"
#include "core/base/nsec.h"
#include "core/base/slice.h"
#include "core/broker.h"
#include "schedule/zone.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Schedules: each submits a durable job to its queue at moments of the calendar. SCHEDULES.md
// beside this file has the rules. A schedule is defined in the configuration, or at run time, and
// is then stored as a memo. If both define the same name, the definition made at run time holds.
//
// Like the broker, this module reads no clock: the host asks schedules_due() when there is work,
// and calls schedules_work(), which does one slice of it. The outcome of a moment is also stored as
// a memo, in a record after the job's. The key of the job is NAME@MOMENT. So each moment submits
// one job, even if the process crashes.

//
// The definition of a schedule
//

// A name has 1 to SCHEDULE_NAME_MAX letters, digits, dots, `_` and `-`. The other limits are in
// bytes.
#define SCHEDULE_NAME_MAX 64
#define SCHEDULE_CRON_MAX 256
#define SCHEDULE_ZONE_MAX 64
#define SCHEDULE_BODY_MAX 65535

// Which of the moments that passed a minute or more ago, because the broker did not run or the
// clock was set, still submit a job: none, the last one, or each of the last SCHEDULE_MISSED_MAX.
enum schedule_missed { SCHEDULE_MISSED_SKIP, SCHEDULE_MISSED_ONCE, SCHEDULE_MISSED_ALL };
#define SCHEDULE_MISSED_MAX 100

// Whether a moment submits a job while the job of the moment before is not done.
enum schedule_overlap { SCHEDULE_OVERLAP_ALLOW, SCHEDULE_OVERLAP_SKIP };

struct schedule_spec {
    struct slice name;
    struct slice cron;     // syntax: cron.h
    struct slice timezone; // IANA name; empty: the local time of the machine
    struct slice queue, body;
    uint32_t pri;
    nsec_t ttr_for; // whole seconds; 0: no time to run
    enum schedule_missed missed;
    enum schedule_overlap overlap;
};

// Whether a schedule may have that name.
bool schedule_name_valid(struct slice name);

// Whether `missed` and `overlap` contradict each other: of all missed moments, only the first would
// have a job.
bool schedule_contradicts(const struct schedule_spec *spec);

// Whether the spec, apart from its name, is valid. If not, sets `*why`.
bool schedule_check(const struct schedule_spec *spec, const struct zone_source *zones,
                    struct error_text *why) MUST_USE;

//
// All schedules
//

struct schedules;

// The limit for all schedules together.
#define SCHEDULES_MAX 1000

// Creates the schedules of a broker whose jobs and memos are restored; includes the schedules that
// are stored as memos. NULL: no memory. Both arguments must outlive the result.
struct schedules *schedules_new(struct broker *broker, const struct zone_source *zones) MUST_USE;

// NULL is allowed. The broker keeps the memos for the next start.
void schedules_free(struct schedules *schedules);

// Replaces the schedules of the configuration: new ones begin now, changed ones go on, missing ones
// end. No name may be twice in the list. If a spec is invalid, there are too many, or there is no
// memory, returns false, sets `*why` and changes nothing.
bool schedules_adopt(struct schedules *schedules, const struct schedule_spec *specs, size_t count,
                     struct error_text *why) MUST_USE;

//
// Time
//

// When schedules_work() has something to do, by the monotonic clock. While a schedule exists, this
// is at most a second ahead, so that a change of the wall clock is noticed.
nsec_t schedules_due(const struct schedules *schedules);

// Does one slice of the work that is due.
void schedules_work(struct schedules *schedules);

//
// Changes at run time
//

// Creates a schedule, or changes the one of that name. STATUS_BAD_NAME: the spec is invalid, and
// `*why` is set; STATUS_TOO_LARGE: there are SCHEDULES_MAX already; STATUS_NO_MEMORY,
// STATUS_NO_SPACE.
enum status schedules_put(struct schedules *schedules, const struct schedule_spec *spec,
                          struct error_text *why) MUST_USE;

// Removes the definition made at run time: the schedule ends, or the configuration's holds again.
// STATUS_NOT_FOUND; STATUS_IN_USE: only the configuration defines it; STATUS_NO_SPACE.
enum status schedules_remove(struct schedules *schedules, struct slice name) MUST_USE;

// Submits the job now, in addition to the moments of the calendar, even if the job before is not
// done. STATUS_NOT_FOUND, and the statuses of broker_submit().
enum status schedules_run(struct schedules *schedules, struct slice name,
                          struct submission *submission) MUST_USE;

// Forgets which moments are decided: all moments from now on count, including moments that came
// before the wall clock was set back. STATUS_NOT_FOUND, STATUS_NO_MEMORY and STATUS_NO_SPACE change
// nothing.
enum status schedules_replan(struct schedules *schedules, struct slice name) MUST_USE;

// The log position that the reply to the last of these four must wait for; 0: none.
uint64_t schedules_position(const struct schedules *schedules);

//
// Introspection
//

enum schedule_outcome {
    SCHEDULE_NOTHING,    // no moment has come yet
    SCHEDULE_FIRED,      // the job was submitted
    SCHEDULE_MISSED,     // the moment had passed when it was noticed
    SCHEDULE_OVERLAPPED, // the job of the moment before was not done
    SCHEDULE_REFUSED,    // the broker refused the job; the submission is retried
    SCHEDULE_GIVEN_UP    // the broker refused the job until the next moment came
};

// Counts since the process began.
struct schedule_counts {
    uint64_t fired;      // jobs submitted
    uint64_t late;       // of these, a minute or more after their moment
    uint64_t missed;     // times that missed moments were skipped
    uint64_t overlapped; // moments skipped because the job before was not done
    uint64_t refused;    // times that the broker refused a job
    uint64_t given_up;   // moments whose job was refused until the next moment
};

struct schedule_info {
    const struct schedule_spec *spec;
    bool in_file, at_run_time; // where it is defined; the latter holds
    nsec_t next_at;            // wall clock; NSEC_NEVER: no further moment
    nsec_t silent_until; // the wall clock was set back: no moment counts before; 0: it was not
    nsec_t fired_at;     // the moment of the last job; 0: not known
    enum schedule_outcome outcome;
    nsec_t outcome_at;  // the moment that `outcome` is about
    enum status status; // the reason of REFUSED and GIVEN_UP
    uint64_t job_id;    // of FIRED
    struct schedule_counts counts;
};

// The first schedule whose name is after `after`, in the order of bytes; false: there is none. The
// info borrows from the schedule until the next call that may change schedules.
bool schedules_next(const struct schedules *schedules, struct slice after,
                    struct schedule_info *info);

bool schedules_find(const struct schedules *schedules, struct slice name,
                    struct schedule_info *info);

// The number of schedules.
size_t schedules_count(const struct schedules *schedules);

// The sum over all schedules, including schedules that have ended.
void schedules_counts(const struct schedules *schedules, struct schedule_counts *counts);

// Writes a moment, which must be in 1970 or later, as keys of jobs have it: 2026-11-23T03:00:00Z.
#define SCHEDULE_MOMENT_MAX 32
struct slice schedule_moment_text(nsec_t at, char text[SCHEDULE_MOMENT_MAX]);

#endif
