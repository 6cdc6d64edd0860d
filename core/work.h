/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_WORK_H
#define TANDEM_CORE_WORK_H

// Working: taking jobs, waiting for them, and saying what became of them; and what administrators
// do to jobs that nobody holds. A job that is not there, or not this session's, is
// STATUS_NOT_FOUND.

#include "core/base/blob.h"
#include "core/base/macros.h"
#include "core/base/nsec.h"
#include "core/session.h"
#include "core/status.h"
#include "core/types.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Takes the best ready job of the session's queues that are not paused: reserved, with a lease.
// STATUS_EMPTY, STATUS_NO_MEMORY; STATUS_FORBIDDEN where it may work on none of them.
enum status broker_take(struct session *session, const struct job **job) MUST_USE;

// How many queues and subscriptions all verbs since the last call have looked at, beyond a few
// each: by a search among many queues, and by sessions that began or stopped to wait on many. The
// count starts anew. For front-ends that share time out among connections, see
// broker_budget_remaining().
size_t broker_take_links(struct broker *broker);

// So many things that are no queues were looked at for a command, and count as these do.
void broker_charge_links(struct broker *broker, size_t links);

// What is left of a budget of commands: one that looked at very many of these counts for several.
#define LINKS_PER_COMMAND 32
static inline unsigned broker_budget_remaining(struct broker *broker, unsigned budget)
{
    size_t cost = broker_take_links(broker) / LINKS_PER_COMMAND;

    return cost < budget ? budget - (unsigned)cost : 0;
}

// Takes the job of that id, ready, delayed or buried, whatever its queue. STATUS_NOT_FOUND (a job
// that is held, too), STATUS_NO_SPACE, STATUS_FORBIDDEN.
enum status broker_take_id(struct session *session, uint64_t id, const struct job **job) MUST_USE;

// Waits for a job, after broker_take() found none: exactly one of `leased` and `wait_over` follows
// STATUS_OK. The wait ends at the moment `until` (monotonic, NSEC_NEVER for no end), and when a
// lease of the session itself comes within `margin_for` of its end (negative: never for that; kept
// in milliseconds).
// Answers at once: STATUS_FORBIDDEN as broker_take(), STATUS_LEASE_SOON, STATUS_TIMED_OUT (`until`
// is not in the future), STATUS_NO_MEMORY. An assigned job that is lost or taken back before the
// session is told leaves it waiting, in the last place; where that would need memory (a limited
// subscription) and there is none, the wait is over as if it had timed out.
enum status broker_wait(struct session *session, nsec_t until, nsec_t margin_for) MUST_USE;

// Asks for one `nudged` when a job may be taken; at once where one is ready: the answer is false
// then. Withholds no job.
bool broker_await_nudge(struct session *session);

// Ends a wait, for a job or for a nudge, without a word. A job that was assigned but not told of
// yet stays held: the answer is then false, and `leased` still comes, or, where the job is lost or
// taken back before that, another lease or `wait_over`.
bool broker_unwait(struct session *session);

// The job is done, and gone; its watchers get `result` (may be NULL), or JOB_EVENT_FAILED where a
// part of it was lost on its way. By its holder, or by its last holder after its time to run ran
// out and while it is ready again. STATUS_NOT_FOUND.
enum status broker_complete(struct session *session, uint64_t id, struct blob *result) MUST_USE;

// The job cannot be done: buried or gone, as its submitter said; watchers are told
// JOB_EVENT_FAILED, or JOB_EVENT_EXCEPTION with `exception`. Where nobody watches it, the policy of
// its queue may have it tried again. By its holder. STATUS_NOT_FOUND.
enum status broker_fail(struct session *session, uint64_t id, struct blob *exception) MUST_USE;

// Gives the job back with a new priority, ready or after a delay, at its old place among equals. To
// the policy of its queue, one without a delay may be an attempt. By its holder. STATUS_NOT_FOUND,
// STATUS_NO_SPACE.
enum status broker_release(struct session *session, uint64_t id, uint32_t pri,
                           nsec_t delay_for) MUST_USE;

// Sets the job aside with a new priority; a job that is not durable fails instead. By its holder.
// STATUS_NOT_FOUND. Its room was reserved by the submission.
enum status broker_bury(struct session *session, uint64_t id, uint32_t pri) MUST_USE;

// Starts the time to run anew. By its holder. STATUS_NOT_FOUND.
enum status broker_touch(struct session *session, uint64_t id) MUST_USE;

// The session holds the job no longer than this from now on, whatever limit it had (struct
// subscription_terms); 0: for its time to run, however often that is renewed. The time to run
// starts anew. By its holder. STATUS_NOT_FOUND; STATUS_NO_MEMORY: nothing has changed.
enum status broker_limit(struct session *session, uint64_t id, nsec_t limit_for) MUST_USE;

// Tells the watchers, and starts the time to run anew. `kind` is JOB_EVENT_PROGRESS, _DATA or
// _WARNING; `data` may be NULL. By its holder, or by its last holder as in broker_complete(), which
// gets no new time by it. STATUS_NOT_FOUND, STATUS_NO_MEMORY: data that is refused so is lost, as
// below.
enum status broker_report(struct session *session, uint64_t id,
                          const struct job_event *event) MUST_USE;

// Data that whoever may report it has reported could not be taken in: unless the job is begun anew,
// its completion is told as a failure, so that a part is never taken for the whole. A job that the
// session may not report about is left alone.
void broker_data_lost(struct session *session, uint64_t id);

// Whether so much is still to be told, of a job that the session may report about, or of all jobs
// and of this one, too, that it should report no more about it before broker_settle() has caught
// up: watches may be very many.
bool broker_report_waits(const struct session *session, uint64_t id);

//
// Looking after jobs
//
// `by` is the session that asks, NULL the host itself, which may do everything. STATUS_FORBIDDEN
// tells of a job, so that one who may not even observe it is told STATUS_NOT_FOUND.
//

// Takes a job back: gone, watchers are told JOB_EVENT_CANCELLED. STATUS_NOT_FOUND,
// STATUS_FORBIDDEN; STATUS_HELD while a worker holds it, unless `even_held` (the worker is not
// told; its reports find no job), which takes more than MAY_CANCEL.
enum status broker_cancel(struct broker *broker, struct session *by, uint64_t id,
                          bool even_held) MUST_USE;

// A kick of many jobs of one queue, made in slices. Fill in with broker_kick_begin(), then call
// broker_kick() until it answers something else than STATUS_MORE. The caller holds the queue
// meanwhile.
struct kick {
    uint32_t left;   /* private */
    uint32_t kicked; // how many so far
    bool buried;     /* private */
};

// Decides what is kicked: at most `bound` of the buried jobs, longest buried first, or, where none
// is buried, of the delayed ones, soonest first. STATUS_FORBIDDEN.
enum status broker_kick_begin(const struct session *by, const struct queue *queue, uint32_t bound,
                              struct kick *kick) MUST_USE;

// STATUS_OK: done; STATUS_MORE; STATUS_NO_SPACE: the rest stays as it is.
enum status broker_kick(struct broker *broker, struct queue *queue, struct kick *kick) MUST_USE;

// Makes one buried or delayed job ready. STATUS_NOT_FOUND, STATUS_FORBIDDEN, STATUS_NO_SPACE.
enum status broker_kick_id(struct broker *broker, struct session *by, uint64_t id) MUST_USE;

#endif
