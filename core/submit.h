/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_SUBMIT_H
#define TANDEM_CORE_SUBMIT_H

// Submitting: the contract of a job, which its submitter sets once, and the watch by which the
// submitter is told of the job's events.

#include "core/base/blob.h"
#include "core/base/macros.h"
#include "core/base/nsec.h"
#include "core/base/slice.h"
#include "core/status.h"
#include "core/types.h"

#include <stdbool.h>
#include <stdint.h>

enum start_kind {
    START_NOW,
    START_AFTER, // `start` is a duration
    START_AT     // `start` is a moment of the wall clock; one in the past means now
};

enum key_kind {
    KEY_NONE,
    KEY_NAME,   // `key` names the job within its queue
    KEY_CONTENT // the body is the key; never equal to a name. An empty body is not a key
};

enum on_fail { ON_FAIL_BURY, ON_FAIL_DROP };
enum on_loss { ON_LOSS_FRONT, ON_LOSS_BACK };

// The contract of a job.
struct job_spec {
    struct queue *queue;
    uint32_t pri;
    enum start_kind start_kind;
    nsec_t start;
    nsec_t ttr_for; // how long a worker may hold it, kept in whole seconds (rounded up); 0: until
                    // its holder leaves
    enum key_kind key_kind;
    struct slice key;      // KEY_NAME: 1 to JOB_KEY_MAX bytes
    struct slice reducer;  // empty for none
    uint32_t max_attempts; // 0: no limit; at most JOB_ATTEMPTS_MAX
    enum on_fail on_fail;
    enum on_loss on_loss;
    bool durable;
    bool watched;           // the session that submits it watches it
    struct slice body;      // copied, if body_blob is NULL
    struct blob *body_blob; // a reference is taken
};

#define JOB_ATTEMPTS_MAX 1000

struct submission {
    uint64_t id;
    bool joined;         // an earlier job has that key: `id` is that job's. It lives, or it is done
                         // and the policy of the queue keeps its key (unique_for_for)
    struct watch *watch; // NULL if none was requested
};

// Accepts a job, or joins the live job of the same queue and key. A join keeps the earlier of the
// two starts; all else of the second contract is dropped, except that a durable one makes the job
// durable. A join does not end a wait that a failed attempt, a worker or an operator has imposed,
// and without a start of its own not the wait for a calendar moment either. `by` is the session
// that submits it, NULL the host itself, which may do everything. If the contract says `watched`,
// that session watches the job from now on (each submission is a watch of its own; a job that is
// not durable ends with its last watch, unless a worker holds it). STATUS_FORBIDDEN,
// STATUS_NO_MEMORY, STATUS_NO_SPACE, STATUS_DRAINING, STATUS_QUEUE_FULL, STATUS_JOB_TOO_LARGE (the
// body, for this queue), STATUS_TOO_LARGE (key or reducer); nothing has changed then.
enum status broker_submit(struct broker *broker, const struct job_spec *spec, struct session *by,
                          struct submission *submission) MUST_USE;

// The same for the queue of that name, which is made if it is missing; `spec->queue` is ignored.
// Also STATUS_BAD_NAME, STATUS_TOO_MANY_QUEUES, and STATUS_TOO_LARGE for the name.
enum status broker_submit_to(struct broker *broker, struct slice name, struct job_spec *spec,
                             struct session *by, struct submission *submission) MUST_USE;

// True if the policy of the queue of that name, which may be missing, gives jobs without a key
// their bodies as keys. A front-end that receives a long body for such a queue, or for a contract
// of KEY_CONTENT, hashes it as it arrives (blob_builder_hash()), so that the submission need not.
bool broker_keys_bodies(struct broker *broker, struct slice name);

// Ends a watch. The pointer is invalid afterwards.
void broker_unwatch(struct watch *watch);

// A pointer of the front-end's, NULL at first.
void watch_set_owner(struct watch *watch, void *owner);
void *watch_owner(const struct watch *watch);

#endif
