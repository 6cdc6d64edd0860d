/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_BROKER_H
#define TANDEM_CORE_BROKER_H

// The broker: jobs in queues, sessions that submit, hold and watch them, and their timers. It is a
// state machine: it does no I/O and reads no clock. MODEL.md beside this file describes the model,
// and the headers included here the verbs. This header declares the broker's own life, its turns,
// and its positions in the store.
//
// Use. A front-end opens a session for each connection and calls verbs. A verb changes the state
// and answers at once; it never calls back. Its effects on other sessions (a blocked worker gets a
// job, a watcher gets a result) are kept as notices, and only broker_settle() calls session_ops to
// tell them. The host tells the time with broker_tick(), at the latest at broker_next_due().
//
// Failure. Only verbs that bring something in may fail: submitting, subscribing, opening, waiting,
// reporting data. What happens to a job afterwards, and its end, cannot fail.
//
// Ownership. Strings and bodies are copied, except a blob, of which a reference is taken. Pointers
// to jobs, queues and watches that a function returns are borrowed: a job or a queue stays valid
// until the next verb, tick or settle that can end it; a queue to which the caller holds a
// reference stays valid until that is dropped.

#include "core/base/macros.h"
#include "core/base/nsec.h"
#include "core/base/siphash.h"
#include "core/grants.h"
#include "core/job.h"
#include "core/memo.h"
#include "core/operate.h"
#include "core/policy.h"
#include "core/queue.h"
#include "core/record.h"
#include "core/result.h"
#include "core/session.h"
#include "core/statistics.h"
#include "core/status.h"
#include "core/submit.h"
#include "core/types.h"
#include "core/work.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

//
// Life cycle
//

struct broker_options {
    const struct recorder *recorder; // NULL: nothing is durable, and no verb is STATUS_NO_SPACE
    void *store;                     // the argument of the recorder's functions
    uint64_t first_id;               // of the first job; 0 means 1
    uint64_t secret;                 // random: mixed into the hashes of ids
    struct siphash_key key;          // random: for the hashes of names and keys
};

// A broker at the moment `now`; NULL without memory.
struct broker *broker_new(const struct broker_options *options, struct instant now) MUST_USE;

// Finishes the closing of sessions at once, which otherwise happens in slices. This may append
// records: it is called before the store closes.
void broker_dismantle(struct broker *broker);

// Frees everything. All sessions must be closed. NULL is allowed.
void broker_free(struct broker *broker);

// Sets the number of sessions that one ready job nudges; 0, the default: all that wait for a nudge
// of its queue.
void broker_set_nudges(struct broker *broker, uint32_t nudges);

// Refuses all further submissions (STATUS_DRAINING).
void broker_drain(struct broker *broker);

// Accepts submissions again.
void broker_end_drain(struct broker *broker);

// The process is about to end, and its sessions with it: jobs that these lose spend no attempt, as
// a restart finds them after a crash. The store is told the used parts of long rates.
void broker_retire(struct broker *broker);

//
// The turn
//

// Sets the present and handles at most BROKER_SLICE due objects. The monotonic clock must not go
// back.
void broker_tick(struct broker *broker, struct instant now);

// Tells sessions at most BROKER_SLICE notices. True: there are more.
bool broker_settle(struct broker *broker);

// A callback calls it with the number of bytes that it encoded, beyond those of a small answer.
// They count as one more notice for each ENCODED_AT_ONCE, so that other watches, and connections
// that do not watch the job, get their turn. Bytes sent by reference cost nothing.
#define ENCODED_AT_ONCE 1024
void broker_charge_bytes(struct broker *broker, size_t len);

// The monotonic moment at which broker_tick() and broker_settle() have work: the present if work
// remains, NSEC_NEVER if none is pending. While a calendar moment is pending it is at most a second
// ahead, so that steps of the wall clock are noticed.
nsec_t broker_next_due(const struct broker *broker);

// The present, as last set.
struct instant broker_now(const struct broker *broker);

//
// The store: positions for which output waits (record.h)
//

// The position for which the answer to the last verb waits: that of the records that it appended,
// or of the job that a submission joined; 0 for none. Any other verb changes it, and so does the
// next slice of a kick.
uint64_t broker_position(const struct broker *broker);

// The position for which output waits that contains the job's body, or names a job that is not
// durable; 0 for none.
uint64_t broker_job_position(const struct broker *broker, const struct job *job);

// The state of the store. False, and all zero, without one.
bool broker_store_info(const struct broker *broker, struct store_info *info);

#endif
