/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_SESSION_H
#define TANDEM_CORE_SESSION_H

// Sessions: one for each connection. A session submits jobs, watches them, subscribes to queues and
// works on the jobs that it takes from them. broker_settle() (broker.h) tells it of all that is not
// the answer to its own verb.

#include "core/base/blob.h"
#include "core/base/list.h"
#include "core/base/macros.h"
#include "core/base/nsec.h"
#include "core/base/slice.h"
#include "core/status.h"
#include "core/types.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum wait_end {
    WAIT_TIMED_OUT, // the wait reached `until`
    WAIT_LEASE_SOON // a lease of this session is within `margin` of its end
};

enum job_event_kind {
    JOB_EVENT_PROGRESS,  // numerator of denominator; data: as the worker wrote it, may be NULL
    JOB_EVENT_DATA,      // a part of the result
    JOB_EVENT_WARNING,   // a remark of the worker
    JOB_EVENT_RETRIED,   // the job starts again: parts sent so far are void. While its last holder
                         // may still complete the job, told when another session has taken it
    JOB_EVENT_COMPLETE,  // the result. This event and the following are final: the watch is freed
    JOB_EVENT_FAILED,    // when the call returns
    JOB_EVENT_EXCEPTION, // failed, with the worker's explanation
    JOB_EVENT_CANCELLED  // by a client or an operator
};

struct job_event {
    enum job_event_kind kind;
    uint64_t job_id;
    uint64_t numerator, denominator;
    struct blob *data; // borrowed; NULL for no bytes
    uint64_t position; // in the store, for which output about the event waits; 0 for none
};

// The callbacks of a session. Only broker_settle() calls them. A callback writes output and may
// read the state, but calls no verb. If it writes a large number of bytes, it calls
// broker_charge_bytes(). `owner` is the argument of broker_session_open().
struct session_ops {
    // The wait is over: the session holds `job` now.
    void (*leased)(void *owner, const struct job *job);
    // The wait is over without a job.
    void (*wait_over)(void *owner, enum wait_end why);
    // The wait for a nudge is over: there may be a job, unless another session takes it first.
    void (*nudged)(void *owner);
    // An event of a job that this session watches.
    void (*job_event)(void *owner, struct watch *watch, const struct job_event *event);
    // The session held jobs and holds none now, for whatever reason. May be NULL.
    void (*emptied)(void *owner);
    // True if the message that gives the session the job of that id has not left the process. Asked
    // when the lease has ended by time; changes nothing. May be NULL: not known.
    bool (*undelivered)(void *owner, uint64_t id);
    // The front-end calls session_job_revoked().
    bool ignores_revoked;
};

// How a session chooses among queues that have a ready job.
enum choice {
    CHOICE_OLDEST, // the lowest priority number, then the oldest job
    CHOICE_IN_TURN // the lowest priority number, then the queue whose turn it is (MODEL.md); a new
                   // subscription comes before all others
};

// STATUS_NO_MEMORY. `ops` must outlive the session.
enum status broker_session_open(struct broker *broker, const struct session_ops *ops, void *owner,
                                enum choice choice, struct session **session) MUST_USE;

// The connection has closed: the session's waits and watches end, and it loses the jobs that it
// holds (an attempt each), in slices if there are many. No callback follows. NULL is allowed; the
// pointer is invalid afterwards.
void broker_session_close(struct session *session);

// Called right before that, if the message that gives the session the job, or all its jobs, has not
// left the process: the job was not delivered, so that no attempt is spent, no backoff applies, and
// it keeps its place. A job that the session does not hold is ignored.
void broker_undelivered(struct session *session, uint64_t id);
void broker_all_undelivered(struct session *session);

// The session's owner if it has these callbacks and is not closed, else NULL.
void *session_owner(const struct session *session, const struct session_ops *ops);

// The number of jobs that the session holds.
size_t session_leases(const struct session *session);

// True if an operator revoked the session's lease of the job of that id. The session was not told
// and may still report about the job. With `is_last`, no further report comes, and the id is
// forgotten. The last 1024 ids are remembered, none without memory.
bool session_job_revoked(struct session *session, uint64_t id, bool is_last);

// True if it holds no job, watches none and waits for none: only its own next verb concerns it.
bool session_is_idle(const struct session *session);

struct session_info {
    uint64_t number; // rising in the order in which sessions were opened
    size_t held;     // jobs
    size_t watches;
    size_t subscriptions;
    bool waits_for_job, waits_for_nudge;
    bool producer; // it has submitted a job, or joined one
    bool worker;   // it has asked for a job, or for a nudge
};

void session_info(const struct session *session, struct session_info *info);

//
// Subscriptions: the queues from which a session takes jobs
//

enum on_limit { ON_LIMIT_RETRY, ON_LIMIT_FAIL };

struct subscription_terms {
    nsec_t limit_for;       // the longest lease of a job taken by this subscription; 0: no limit.
                            // Kept in milliseconds, rounded up, at most 49 days
    enum on_limit on_limit; // what happens to the job then
};

// Subscribes, or changes the terms of a subscription that exists, for later leases. Creates the
// queue. A session that waits for a nudge gets it if a job is ready. Not while the session waits
// for a job. STATUS_FORBIDDEN, STATUS_NO_MEMORY, STATUS_TOO_LARGE, STATUS_BAD_NAME.
enum status broker_subscribe(struct session *session, struct slice name,
                             const struct subscription_terms *terms) MUST_USE;

// Ends the subscription; a missing one is no error. With `give_back`, the session loses the jobs
// that were taken by it (an attempt each); otherwise leases do not change, and the answer is
// STATUS_OK. STATUS_MORE: many are held, call again before the session's next verb.
enum status broker_unsubscribe(struct session *session, struct slice name, bool give_back);

// Ends all subscriptions; leases do not change. STATUS_MORE: there are many, call again.
enum status broker_unsubscribe_all(struct session *session);

bool session_subscribed(const struct session *session, struct slice name);
size_t session_subscriptions(const struct session *session);

// Removes the limits of the session's leases: each lasts for its job's time to run, which starts
// again. STATUS_MORE: there are many, call again before the session's next verb.
enum status broker_end_limits(struct session *session) MUST_USE;

// Walks the session's subscriptions in the order in which they were made. Start with NULL in
// `*cursor`; NULL at the end. The subscriptions must not change meanwhile.
struct queue *session_queue_next(const struct session *session, const struct subscription **cursor);

// A walk over the session's subscriptions, newest first, that stays valid while they change:
// subscriptions made since it began are left out, ended ones are skipped.
struct subscription_walk {
    struct list_node in_session; /* private */
    struct subscription *next;   /* private */
};

void subscription_walk_begin(struct subscription_walk *walk, const struct session *session);

// NULL at the end, and when the session has closed.
struct queue *subscription_walk_next(struct subscription_walk *walk);

// Registers the walk: from now until subscription_walk_end() it follows changes. False without
// memory.
bool subscription_walk_keep(struct subscription_walk *walk) MUST_USE;

// Ends a walk that was begun, and unregisters it.
void subscription_walk_end(struct subscription_walk *walk);

#endif
