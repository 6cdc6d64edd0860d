/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_RESTORE_H
#define TANDEM_CORE_RESTORE_H

// Restoring: when the process starts, the store gives its records back, in the order in which they
// were written, to a new broker without sessions. Nothing is recorded meanwhile. Limits of queues
// and of memory refuse nothing. At the end broker_restore_finish() puts the state in order: before
// that, buried jobs must not be read, and of two jobs that held the same key, the one that was
// submitted first has it.
//
// Jobs of equal priority stand in the order of their ids. A delay that has ended by the wall clock
// has ended. A delay of known length, and a pause, lasts no longer from now on than its whole
// length. Restored jobs do not count as submitted. An empty queue stays until things are tidied, or
// until broker_restore_finish(); after that, a queue with nothing but a pause stays until the pause
// ends.
//
// A standby may follow a store, that another process writes, for any time: it sets the present and
// tidies regularly, and calls broker_restore_finish() when the other process writes no more. Until
// then nothing falls due: pauses and memos, whose ends have no records, end when things are tidied,
// and a job whose delay has ended stays delayed until the first ticks.
//
// After STATUS_NO_MEMORY, what was restored before stays, and the same call may be made again.

#include "core/base/macros.h"
#include "core/memo.h"
#include "core/record.h"
#include "core/status.h"

#include <stdbool.h>
#include <stdint.h>

// How far a start is that gives the broker its jobs back: the one description of it, from the
// journal to the answers for operators.
struct restore_progress {
    uint64_t read; // bytes or, of some sources of an import, rows
    uint64_t size; // of all that is to be read; 0: not known yet
    uint64_t jobs; // that the broker has been given back, approximately
    bool imports;  // the store has been read, and jobs of another broker are being imported
};

// Restores the job, in place of the job of that id if there is one. STATUS_NO_MEMORY;
// STATUS_BAD_NAME or STATUS_TOO_LARGE if no job can be like that. If `image->blob` is not NULL, it
// contains the body, and a reference is taken; else the body is copied.
enum status broker_restore_job(struct broker *broker, const struct job_image *image,
                               const struct job **job) MUST_USE;

// Applies a record of `kind` (RELEASE, BURY, KICK, TAKE, START, SET) to the job. All kinds but SET,
// and the next two functions, also end a durable lease of the job (durable_lease.h), even if the
// job is missing. STATUS_NOT_FOUND; STATUS_BAD_NAME if no job can be like that.
enum status broker_restore_change(struct broker *broker, enum record_kind kind,
                                  const struct job_change *change) MUST_USE;

// Applies a RECORD_MOVE: the job is in the queue of that name from now on, which is kept if `kept`,
// and has that dead letter, or none if it is DEAD_NOT. STATUS_NOT_FOUND, STATUS_NO_MEMORY;
// STATUS_BAD_NAME or STATUS_TOO_LARGE if no job or queue can be like that.
enum status broker_restore_move(struct broker *broker, const struct job_change *change,
                                struct slice name, bool kept,
                                const struct dead_letter *letter) MUST_USE;

// The job has ended. STATUS_NOT_FOUND.
enum status broker_restore_end(struct broker *broker, uint64_t id) MUST_USE;

// Pauses a queue until that moment of the wall clock, for at most `pause_for`; a moment in the past
// ends its pause. STATUS_NO_MEMORY, STATUS_BAD_NAME, STATUS_TOO_LARGE.
enum status broker_restore_pause(struct broker *broker, struct slice name, nsec_t pause_for,
                                 nsec_t until_at, const struct queue **queue) MUST_USE;

// Restores a memo, in place of the memo of its kind and key; `*restored` is NULL if it has ended.
// STATUS_NO_MEMORY, STATUS_BAD_NAME, STATUS_TOO_LARGE.
enum status broker_restore_memo(struct broker *broker, const struct memo *memo,
                                const struct memo **restored) MUST_USE;
// The memo was dropped. STATUS_NOT_FOUND.
enum status broker_restore_forget(struct broker *broker, enum memo_kind kind,
                                  struct slice key) MUST_USE;

// Sets the present for what is restored next: a moment in the past would cut delays short. The
// clocks continue from there.
void broker_restore_now(struct broker *broker, struct instant now);

// Ends pauses that are over, drops memos that have ended, and frees queues without a job and a
// pause, even if old records kept them; at most that many of all these, each looked at in vain at
// most once. True if nothing remains to be tidied.
bool broker_restore_tidy(struct broker *broker, unsigned most);

// All records are restored. The next id is `first_id`, which must be above those of all jobs. The
// memory for it is there: STATUS_OK. It visits each queue and each buried job once, in one go.
enum status broker_restore_finish(struct broker *broker, uint64_t first_id) MUST_USE;

#endif
