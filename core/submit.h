/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_SUBMIT_H
#define TANDEM_CORE_SUBMIT_H

// Submitting: the contract of a job, written once by whoever submits it, and the watch by which its
// submitter is told what becomes of it.

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
    START_AT     // `start` is a moment of the wall clock; a past one means now
};

enum key_kind {
    KEY_NONE,
    KEY_NAME,   // `key` names the job within its queue
    KEY_CONTENT // the body is the key; a space of its own. An empty body is no key
};

enum on_fail { ON_FAIL_BURY, ON_FAIL_DROP };
enum on_loss { ON_LOSS_FRONT, ON_LOSS_BACK };

// The contract of a job, written once by whoever submits it.
struct job_spec {
    struct queue *queue;
    uint32_t pri;
    enum start_kind start_kind;
    nsec_t start;
    nsec_t ttr_for; // how long a worker may hold it, kept in whole seconds (rounded up);
                    // 0: until its holder leaves
    enum key_kind key_kind;
    struct slice key;      // KEY_NAME: 1 to JOB_KEY_MAX bytes
    struct slice reducer;  // empty for none
    uint32_t max_attempts; // 0: no limit; at most JOB_ATTEMPTS_MAX
    enum on_fail on_fail;
    enum on_loss on_loss;
    bool durable;
    bool watched;           // the session that submits it is told of it
    struct slice body;      // copied, where body_blob is NULL
    struct blob *body_blob; // a reference is taken
};

#define JOB_ATTEMPTS_MAX 1000

struct submission {
    uint64_t id;
    bool joined;         // an earlier job of that key was found: the id is that job's. It lives, or
                         // is done and the queue's policy has its key stand for it (unique_for_for)
    struct watch *watch; // NULL where none was asked for
};

// Accepts a job, or joins the live one of the same queue and key: of the starts that submitters
// asked for, the earlier one wins, all else of the second is dropped, but a durable duplicate makes
// the job durable. A wait that a failed attempt, a worker or an operator has imposed is not ended
// by a duplicate, nor does one that names no start end the wait for a calendar moment. `by` is the
// session that submits it, NULL the host itself, which may do everything. Where the contract says
// `watched`, that session is told of the job from now on (each submission is a watch of its own; a
// job that is not durable goes with its last watch, unless a worker holds it). STATUS_FORBIDDEN,
// STATUS_NO_MEMORY, STATUS_NO_SPACE, STATUS_DRAINING, STATUS_QUEUE_FULL, STATUS_JOB_TOO_LARGE (the
// body, for this queue), STATUS_TOO_LARGE (key or reducer); nothing is changed then.
enum status broker_submit(struct broker *broker, const struct job_spec *spec, struct session *by,
                          struct submission *submission) MUST_USE;

// The same for the queue of that name, which is made where there is none; `spec->queue` is not
// looked at. STATUS_BAD_NAME, STATUS_TOO_MANY_QUEUES, and STATUS_TOO_LARGE for the name, too.
enum status broker_submit_to(struct broker *broker, struct slice name, struct job_spec *spec,
                             struct session *by, struct submission *submission) MUST_USE;

// Whether the policy of the queue of that name, which need not be there, gives jobs without a key
// their bodies as keys. Who receives a long body for it, or for a contract of KEY_CONTENT, has it
// hashed as it comes (blob_builder_hash()), so that the submission need not do that at once.
bool broker_keys_bodies(struct broker *broker, struct slice name);

// Ends a watch. The watch is not valid afterwards.
void broker_unwatch(struct watch *watch);

// Room for the front-end to find its own state by: what was set last, at first NULL.
void watch_set_owner(struct watch *watch, void *owner);
void *watch_owner(const struct watch *watch);

#endif
