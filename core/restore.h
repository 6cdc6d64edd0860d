/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_RESTORE_H
#define TANDEM_CORE_RESTORE_H

// Jobs that a store gives back when the process starts, record by record, in the order in which
// they were written. Called for a new broker, before any session is open; nothing is recorded
// meanwhile. Limits of queues and of memory refuse nothing. When all is back,
// broker_restore_finish() puts things in order: until then buried jobs are not to be looked at, and
// of two that held the same key the one that was submitted first has it.
//
// Places among equals are those of the ids. A delay that is over, by the wall clock, is over. None,
// unless its length is not known, and no pause lasts longer from now on than it was to last in all.
// What is restored does not count as put. A queue that is empty stays until things are tidied, or
// broker_restore_finish(); after that, one that has nothing but a pause stays until the pause is
// over.
//
// A store that somebody else goes on writing may be followed for as long as one likes: the present
// is set and things are tidied every now and then, and broker_restore_finish() is called when the
// other writes no more. Until then nothing falls due, so that what ends by itself, of which there
// is no record, ends when things are tidied; but a job whose delay is over stays delayed until the
// first ticks.
//
// What was restored before STATUS_NO_MEMORY stays, and the same call may be made again.

#include "core/base/macros.h"
#include "core/memo.h"
#include "core/record.h"
#include "core/status.h"

// The job as it was; in place of the one of that id, where there is one. STATUS_NO_MEMORY;
// STATUS_BAD_NAME or STATUS_TOO_LARGE where no job can be like that. `image->blob`, whose bytes are
// then the body, is referred to where it is not NULL, otherwise the body is copied.
enum status broker_restore_job(struct broker *broker, const struct job_image *image,
                               const struct job **job) MUST_USE;

// What a record of `kind` (RELEASE, BURY, KICK, TAKE, START, SET) says of a job. All but SET say
// that a lease that was kept of the job (durable_lease.h) is over, and so do the next two
// functions, though the job is not there. STATUS_NOT_FOUND; STATUS_BAD_NAME where no job can be
// like that.
enum status broker_restore_change(struct broker *broker, enum record_kind kind,
                                  const struct job_change *change) MUST_USE;

// What a record of RECORD_MOVE says: the job is in the queue of that name from now on, which stays
// when it is empty where `kept`, and has that past, or, where that is DEAD_NOT, none.
// STATUS_NOT_FOUND, STATUS_NO_MEMORY; STATUS_BAD_NAME or STATUS_TOO_LARGE where no job or queue can
// be like that.
enum status broker_restore_move(struct broker *broker, const struct job_change *change,
                                struct slice name, bool kept,
                                const struct dead_letter *past) MUST_USE;

// The job is gone. STATUS_NOT_FOUND.
enum status broker_restore_end(struct broker *broker, uint64_t id) MUST_USE;

// A queue is paused until that moment of the wall clock, at most for `pause_for`; a moment in the
// past ends its pause. STATUS_NO_MEMORY, STATUS_BAD_NAME, STATUS_TOO_LARGE.
enum status broker_restore_pause(struct broker *broker, struct slice name, nsec_t pause_for,
                                 nsec_t until_at, const struct queue **queue) MUST_USE;

// A memo as it was, in place of the one of its kind and key; `*restored` is NULL where its moment
// has passed. STATUS_NO_MEMORY, STATUS_BAD_NAME, STATUS_TOO_LARGE.
enum status broker_restore_memo(struct broker *broker, const struct memo *memo,
                                const struct memo **restored) MUST_USE;
// The memo was dropped. STATUS_NOT_FOUND.
enum status broker_restore_forget(struct broker *broker, enum memo_kind kind,
                                  struct slice key) MUST_USE;

// The present, for what is restored next: a moment that is past would cut delays short. The clocks
// go on from there.
void broker_restore_now(struct broker *broker, struct instant now);

// Ends pauses that are over, forgets memos whose moment has passed, and frees queues that have
// neither a job nor a pause, though records that are not stored any more said that they be kept; at
// most so many of all these, of which none is looked at in vain more than once. Whether that was
// all there is.
bool broker_restore_tidy(struct broker *broker, unsigned most);

// All jobs are back. Ids go on at `first_id`, which must be above those of all jobs. What it needs
// is there: STATUS_OK. Queues and buried jobs are looked at once each, in one go.
enum status broker_restore_finish(struct broker *broker, uint64_t first_id) MUST_USE;

#endif
