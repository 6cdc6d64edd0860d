/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_BROKER_H
#define TANDEM_CORE_BROKER_H

// The broker: jobs in queues, sessions that submit, hold and watch them, and the moments at which
// something falls due. It is a state machine: it does no I/O and reads no clock. MODEL.md beside
// this file tells the model; what each verb does to a job is said in the headers that this one
// includes: what is here is the broker's own life, its turns, and the store behind it.
//
// Use. A front-end opens a session for each connection and calls verbs. A verb changes the state
// and answers at once; it never calls back. What a verb means for other sessions (a blocked worker
// gets a job, a watcher gets a result) is kept as a notice and told by broker_settle(), which is
// the only place where session_ops are called. The host tells the time with broker_tick() and asks
// broker_next_due() when it must do so again.
//
// Failure. What may fail fails at the door: submitting, subscribing, opening, waiting, reporting
// data. What happens to a job afterwards, and its end, cannot fail.
//
// Ownership. Strings and bodies handed in are copied, unless they come as a blob, of which a
// reference is taken. Pointers to jobs, queues and watches that come out are borrowed: a job or a
// queue stays valid until the next verb, tick or settle that can end it; a queue that the caller
// holds stays valid until it is dropped.

#include "core/base/macros.h"
#include "core/base/nsec.h"
#include "core/base/siphash.h"
#include "core/grants.h"
#include "core/statistics.h"
#include "core/job.h"
#include "core/memo.h"
#include "core/operate.h"
#include "core/policy.h"
#include "core/queue.h"
#include "core/record.h"
#include "core/result.h"
#include "core/session.h"
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
    const struct recorder *recorder; // NULL: nothing is durable, nothing is refused for the store
    void *store;                     // handed to the recorder
    uint64_t first_id;               // of the first job; 0 stands for 1
    uint64_t secret;                 // random: mixed into the hashes of ids
    struct siphash_key key;          // random: of the hashes of names and keys
};

// A broker at the moment `now`; NULL without memory.
struct broker *broker_new(const struct broker_options *options, struct instant now) MUST_USE;

// Takes apart at once what sessions have left that are closed, which goes in slices otherwise. That
// may have records written: it is to be done before the store closes.
void broker_dismantle(struct broker *broker);

// Frees everything. All sessions must be closed. NULL is allowed.
void broker_free(struct broker *broker);

// How many sessions one ready job nudges; 0, as at first: all that wait for a nudge of its queue.
void broker_set_nudges(struct broker *broker, uint32_t nudges);

// Refuses all further submissions (STATUS_DRAINING).
void broker_drain(struct broker *broker);

// Takes submissions again.
void broker_end_drain(struct broker *broker);

// The process is about to end, and its sessions with it: nobody is to blame for the jobs that they
// lose, which a restart finds as it would after a crash. What long rates have used is told to the
// store.
void broker_retire(struct broker *broker);

//
// The turn
//

// Sets the present and does what is due, at most BROKER_SLICE objects of it. Neither clock's
// value may make the monotonic clock go back.
void broker_tick(struct broker *broker, struct instant now);

// Tells sessions what concerns them, at most BROKER_SLICE notices. True: there is more.
bool broker_settle(struct broker *broker);

// Called by a callback that encodes what it is told: so many bytes, beyond those of a small answer.
// They count as one more telling for each ENCODED_AT_ONCE, so that other watches, and connections
// that have nothing to do with the job, get their turn. What is sent by reference costs nothing.
#define ENCODED_AT_ONCE 1024
void broker_charge_bytes(struct broker *broker, size_t len);

// The monotonic moment at which broker_tick() and broker_settle() have something to do: the
// present where work is left over, NSEC_NEVER where nothing is pending. While a calendar moment is
// pending it is at most a second away, so that steps of the wall clock are honoured.
nsec_t broker_next_due(const struct broker *broker);

// The present, as last told.
struct instant broker_now(const struct broker *broker);

//
// The store: what must not leave the process before it is safe (record.h)
//

// The position that the answer to the verb just made must wait for: that of the records that it
// appended, or of the job that a submission joined; 0 for none. Any other verb changes it, and so
// does the next slice of a kick.
uint64_t broker_position(const struct broker *broker);

// The position that whatever shows the job's body, or names a job that is not durable, must wait
// for; 0 for none.
uint64_t broker_job_position(const struct broker *broker, const struct job *job);

// What the store is doing. False, and all zero, without one.
bool broker_store_info(const struct broker *broker, struct store_info *info);

#endif
