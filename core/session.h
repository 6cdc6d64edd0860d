/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_SESSION_H
#define TANDEM_CORE_SESSION_H

// Sessions: one for each connection. A session submits jobs, watches them, subscribes to queues and
// works what it takes from them. What concerns it, and is not the answer to its own verb, it is
// told by broker_settle() (broker.h).

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
    WAIT_TIMED_OUT, // `until` came
    WAIT_LEASE_SOON // a lease of this session comes within `margin` of its end
};

enum job_event_kind {
    JOB_EVENT_PROGRESS,  // numerator of denominator; data: as the worker spelt it, may be NULL
    JOB_EVENT_DATA,      // a part of the result
    JOB_EVENT_WARNING,   // a remark of the worker
    JOB_EVENT_RETRIED,   // to be begun anew: parts sent so far count for nothing. Where its last
                         // holder may still complete the job, when another has taken it
    JOB_EVENT_COMPLETE,  // the result. This and the following are final: the watch is gone when
    JOB_EVENT_FAILED,    // the call returns
    JOB_EVENT_EXCEPTION, // failed, with the worker's explanation
    JOB_EVENT_CANCELLED  // taken back by somebody
};

struct job_event {
    enum job_event_kind kind;
    uint64_t job_id;
    uint64_t numerator, denominator;
    struct blob *data; // borrowed; NULL stands for no bytes
    uint64_t position; // in the store, that telling the outside must wait for; 0 for none
};

// How a session is told. Called by broker_settle() only; a callback stages output and may read
// what it is shown, but calls no verb. Where it makes many bytes, it says so by
// broker_charge_bytes(). `owner` is what broker_session_open() was given.
struct session_ops {
    // The wait is over: the session holds `job` now.
    void (*leased)(void *owner, const struct job *job);
    // The wait is over without a job.
    void (*wait_over)(void *owner, enum wait_end why);
    // The wait for a nudge is over: there may be a job to take. Others may be quicker.
    void (*nudged)(void *owner);
    // Something happened to a job that this session watches.
    void (*job_event)(void *owner, struct watch *watch, const struct job_event *event);
    // The session held jobs, and holds none any more, however the last of them has left it. May be
    // NULL.
    void (*emptied)(void *owner);
    // Whether what tells the session that it holds the job of that id has not left the process:
    // asked when the lease has ended by time. Nothing may be changed. May be NULL: nobody knows.
    bool (*undelivered)(void *owner, uint64_t id);
    // The front-end asks session_job_revoked().
    bool ignores_revoked;
};

// How a session chooses among its queues, where several have a ready job.
enum choice {
    CHOICE_OLDEST, // the lowest priority number, then the job that came first
    CHOICE_IN_TURN // the lowest priority number, then the queue whose turn it is (MODEL.md);
                   // a new subscription comes before all that are there
};

// STATUS_NO_MEMORY. `ops` must outlive the session.
enum status broker_session_open(struct broker *broker, const struct session_ops *ops, void *owner,
                                enum choice choice, struct session **session) MUST_USE;

// The connection is gone: what it waits for or watches is forgotten, and the jobs it holds are
// lost to it (an attempt each), in slices where there are many. No callback follows. NULL is
// allowed; the pointer is not valid afterwards.
void broker_session_close(struct session *session);

// To be called right before that, where what would have told the session of the job, or of all that
// it holds, has not left the process: the job was not delivered, so that no attempt is spent, no
// backoff is due, and it keeps its place. One that the session does not hold is passed over.
void broker_undelivered(struct session *session, uint64_t id);
void broker_all_undelivered(struct session *session);

// Whose session it is, where it has these callbacks and is not closed; otherwise NULL.
void *session_owner(const struct session *session, const struct session_ops *ops);

// How many jobs the session holds.
size_t session_leases(const struct session *session);

// Whether an operator has taken the job of that id away from the session, which was not told: it
// may still report about it. With `is_last`, no more reports about it come: it is forgotten. Of
// very many jobs the last 1024 are remembered, and none without memory.
bool session_job_revoked(struct session *session, uint64_t id, bool is_last);

// Whether it holds no job, watches none and waits for none: nothing concerns it but its own next
// verb.
bool session_is_idle(const struct session *session);

//
// Subscriptions: what a session takes jobs from
//

enum on_limit { ON_LIMIT_RETRY, ON_LIMIT_FAIL };

struct subscription_terms {
    nsec_t limit_for;       // a job taken by this subscription is held no longer; 0: no limit.
                            // Kept in milliseconds, rounded up, at most 49 days
    enum on_limit on_limit; // what becomes of it then
};

// Subscribes, or changes the terms of a subscription that exists (for leases to come). Creates the
// queue. A session that waits for a nudge gets it where a job is ready. Not while it waits for a
// job. STATUS_FORBIDDEN, STATUS_NO_MEMORY, STATUS_TOO_LARGE, STATUS_BAD_NAME.
enum status broker_subscribe(struct session *session, struct slice name,
                             const struct subscription_terms *terms) MUST_USE;

// Ends the subscription; one that does not exist is no error. With `give_back`, jobs that were
// taken by it are lost to the session (an attempt each); otherwise leases are not touched, and the
// answer is STATUS_OK. STATUS_MORE: many are held, call again before the session does anything
// else.
enum status broker_unsubscribe(struct session *session, struct slice name, bool give_back);

// Ends all subscriptions, and leaves leases alone. STATUS_MORE: there are many, call again.
enum status broker_unsubscribe_all(struct session *session);

bool session_subscribed(const struct session *session, struct slice name);
size_t session_subscriptions(const struct session *session);

// Takes the limits off the leases that the session has: each may be held for its time to run, which
// starts anew. STATUS_MORE: there are many, call again before the session does anything else.
enum status broker_end_limits(struct session *session) MUST_USE;

// Walks the session's subscriptions in the order in which they were made. Start with NULL in
// `*cursor`; NULL at the end. The session's subscriptions must not change in between.
struct queue *session_queue_next(const struct session *session, const struct subscription **cursor);

// A walk over the session's subscriptions, the one that was made last first. It may be kept while
// they change: those that were made since it began are left out, those that ended are passed over.
struct subscription_walk {
    struct list_node in_session; /* private */
    struct subscription *next;   /* private */
};

void subscription_walk_begin(struct subscription_walk *walk, const struct session *session);

// NULL at the end, and when the session has closed.
struct queue *subscription_walk_next(struct subscription_walk *walk);

// From now on until subscription_walk_end() it notices what changes. False without memory.
bool subscription_walk_keep(struct subscription_walk *walk) MUST_USE;

// Of one that was begun. Whatever its session does then does not matter to it.
void subscription_walk_end(struct subscription_walk *walk);

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

#endif
