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

struct job_image; // core/record.h

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

//
// Import: jobs from another broker, or from an earlier export of this one, with their states,
// counters, ages and, if wanted, their ids
//

// The highest id that an import may give. Ids have 48 bits, in a store, too; later ids follow it.
#define IMPORT_ID_MAX (UINT64_C(1) << 47)

struct imported {
    uint64_t id;
    bool joined; // a live job has the key already: `id` is that job's, and nothing was imported
};

// Imports the job that the image describes, durable, and records it. The image is as for
// broker_restore_job(), but: an id of 0 means the next one; `now.burial` is ignored, the job is
// buried behind all buried jobs; `now.keyed` is ignored, a job that has a key and is not buried
// holds it, or joins the live job that does; a queue that is made here is removed when it is idle,
// unless `queue_kept`. A delay ends at `now.due_at` by the wall clock, whatever its length.
//
// A given id must not be in use (STATUS_IN_USE), and the caller ensures that no other job ever had
// it. Jobs of equal priority stand in the order of their import; after a restart in that of their
// ids.
//
// `by` is the session that imports: it must have the right to submit to the queue, whose limits
// apply, and whose policy may make the body the key of a job without one. NULL is the host itself,
// to which no limit and no policy of a queue applies. STATUS_BAD_NAME and STATUS_TOO_LARGE if no
// job can be like that, and all answers of broker_submit(); nothing has changed then. Output that
// depends on the job waits for broker_position().
enum status broker_import(struct broker *broker, const struct job_image *image, struct session *by,
                          struct imported *imported) MUST_USE;

#endif
