/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_WORK_H
#define TANDEM_CORE_WORK_H

// Working: taking jobs, waiting for them, and reporting their outcome; and the acts of clients on
// jobs that are not held. A job that is missing, or not this session's, is STATUS_NOT_FOUND.

#include "core/base/blob.h"
#include "core/base/macros.h"
#include "core/base/nsec.h"
#include "core/session.h"
#include "core/status.h"
#include "core/types.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Takes the best ready job of the session's queues that are not closed: it is reserved, with a
// lease. STATUS_EMPTY, STATUS_NO_MEMORY; STATUS_FORBIDDEN if it may work on none of them.
enum status broker_take(struct session *session, const struct job **job) MUST_USE;

// The links (queues and subscriptions) that all verbs since the last call have looked at, beyond a
// few for each: by a search among many queues, and by sessions that began or stopped to wait on
// many. The count starts again at 0. For front-ends that share time among connections; see
// broker_budget_remaining().
size_t broker_take_links(struct broker *broker);

// Counts as many links for other work of a command.
void broker_charge_links(struct broker *broker, size_t links);

// The rest of a budget of commands: a command that looked at many links counts as several.
#define LINKS_PER_COMMAND 32
static inline unsigned broker_budget_remaining(struct broker *broker, unsigned budget)
{
    size_t cost = broker_take_links(broker) / LINKS_PER_COMMAND;

    return cost < budget ? budget - (unsigned)cost : 0;
}

// Takes the job of that id, ready, delayed or buried, of any queue. STATUS_NOT_FOUND (also if it is
// held), STATUS_NO_SPACE, STATUS_FORBIDDEN.
enum status broker_take_id(struct session *session, uint64_t id, const struct job **job) MUST_USE;

// Waits for a job, after broker_take() found none: exactly one of `leased` and `wait_over` follows
// STATUS_OK. The wait ends at the moment `until` (monotonic, NSEC_NEVER for no end), and when a
// lease of the session itself comes within `margin_for` of its end (negative: never for that; kept
// in milliseconds).
// Answers at once: STATUS_FORBIDDEN as broker_take(), STATUS_LEASE_SOON, STATUS_TIMED_OUT (`until`
// is not in the future), STATUS_NO_MEMORY. If an assigned job is lost or cancelled before the
// session is told, the session waits again, in the last place; if that needs memory (a limited
// subscription) and there is none, the wait ends as if it had timed out.
enum status broker_wait(struct session *session, nsec_t until, nsec_t margin_for) MUST_USE;

// Asks for one `nudged` when a job may be taken. False if one is ready: then no wait begins. A
// nudge reserves no job.
bool broker_await_nudge(struct session *session);

// Ends a wait, for a job or for a nudge, without a callback. A job that was assigned but not told
// of yet stays held: then the answer is false, and `leased` follows, or, if the job is lost or
// cancelled before that, another lease or `wait_over`.
bool broker_unwait(struct session *session);

// The job is done, and ends; its watchers get `result` (may be NULL), or JOB_EVENT_FAILED if a part
// of it was lost. By its holder, or by its last holder after its lease timed out and while it is
// ready again. STATUS_NOT_FOUND.
enum status broker_complete(struct session *session, uint64_t id, struct blob *result) MUST_USE;

// The job has failed: it is buried or ends, as its contract says; watchers are told
// JOB_EVENT_FAILED, or JOB_EVENT_EXCEPTION with `exception`. Without a watch, the policy of its
// queue may have it retried. By its holder. STATUS_NOT_FOUND.
enum status broker_fail(struct session *session, uint64_t id, struct blob *exception) MUST_USE;

// Gives the job back with a new priority, ready or after a delay, at its old place among equals.
// The policy of its queue may count a release without a delay as an attempt. By its holder.
// STATUS_NOT_FOUND, STATUS_NO_SPACE.
enum status broker_release(struct session *session, uint64_t id, uint32_t pri,
                           nsec_t delay_for) MUST_USE;

// Buries the job with a new priority; a job that is not durable fails instead. By its holder.
// STATUS_NOT_FOUND. Its space was reserved by the submission.
enum status broker_bury(struct session *session, uint64_t id, uint32_t pri) MUST_USE;

// Starts the time to run again. By its holder. STATUS_NOT_FOUND.
enum status broker_touch(struct session *session, uint64_t id) MUST_USE;

// Sets how long the session may hold the job from now on, in place of its limit (struct
// subscription_terms); 0: for its time to run, as often as that is renewed. The time to run starts
// again. By its holder. STATUS_NOT_FOUND; STATUS_NO_MEMORY: nothing has changed.
enum status broker_limit(struct session *session, uint64_t id, nsec_t limit_for) MUST_USE;

// Tells the watchers, and starts the time to run again. `kind` is JOB_EVENT_PROGRESS, _DATA or
// _WARNING; `data` may be NULL. By its holder, or by its last holder as in broker_complete(), which
// does not renew its lease. STATUS_NOT_FOUND, STATUS_NO_MEMORY: then data is lost, as below.
enum status broker_report(struct session *session, uint64_t id,
                          const struct job_event *event) MUST_USE;

// The front-end could not receive data that the session reported: unless the job starts again, its
// completion is told as a failure, so that a part is never taken for the whole. A job about which
// the session may not report does not change.
void broker_data_lost(struct session *session, uint64_t id);

// True if events of the job are pending, and with them at least BROKER_SLICE notices of the job or
// BROKER_SLICE events of all jobs: the session should not report about the job again before
// broker_settle() has told them.
bool broker_report_waits(const struct session *session, uint64_t id);

//
// Acts on jobs that are not held
//
// `by` is the session of the caller, NULL for the host itself, which may do everything. A caller
// that may not observe the job gets STATUS_NOT_FOUND in place of STATUS_FORBIDDEN.
//

// Cancels a job: it ends, and watchers are told JOB_EVENT_CANCELLED. STATUS_NOT_FOUND,
// STATUS_FORBIDDEN; STATUS_HELD while a worker holds it, unless `even_held` (the worker is not
// told; its reports find no job), which needs more than MAY_CANCEL.
enum status broker_cancel(struct broker *broker, struct session *by, uint64_t id,
                          bool even_held) MUST_USE;

// A kick of many jobs of one queue, in slices. Fill in with broker_kick_begin(), then call
// broker_kick() until it answers something else than STATUS_MORE. The caller holds a reference to
// the queue meanwhile.
struct kick {
    uint32_t left;   /* private */
    uint32_t kicked; // so far
    bool buried;     /* private */
};

// Selects at most `bound` of the buried jobs, earliest burial first, or, if none is buried, of the
// delayed ones, soonest first. STATUS_FORBIDDEN.
enum status broker_kick_begin(const struct session *by, const struct queue *queue, uint32_t bound,
                              struct kick *kick) MUST_USE;

// STATUS_OK: done; STATUS_MORE; STATUS_NO_SPACE: the remaining jobs are not kicked.
enum status broker_kick(struct broker *broker, struct queue *queue, struct kick *kick) MUST_USE;

// Makes one buried or delayed job ready. STATUS_NOT_FOUND, STATUS_FORBIDDEN, STATUS_NO_SPACE.
enum status broker_kick_id(struct broker *broker, struct session *by, uint64_t id) MUST_USE;

#endif
