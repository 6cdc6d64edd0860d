/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_INSPECT_H
#define TANDEM_CORE_INSPECT_H

// Looking at jobs, queues and the broker. Nothing here changes anything. What comes out is borrowed
// (broker.h).

#include "core/base/blob.h"
#include "core/base/macros.h"
#include "core/base/nsec.h"
#include "core/base/slice.h"
#include "core/status.h"
#include "core/submit.h"
#include "core/types.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The live job of that id, NULL where there is none.
const struct job *broker_find(const struct broker *broker, uint64_t id);

// The live job of that name in the queue, NULL where there is none.
const struct job *broker_find_key(const struct broker *broker, const struct queue *queue,
                                  struct slice key);

// The live job of that name in any queue; of several, the one that has held it longest. NULL where
// there is none.
const struct job *broker_find_name(const struct broker *broker, struct slice key);

// Of the jobs in other queues that have the name of that one, the one that has held it longest
// after it; NULL where there is none.
const struct job *job_next_of_name(const struct job *job);

// Where a walk over all live jobs stands: all zero at first. It refers to no job, and may be kept
// over any verb.
struct job_walk {
    uint64_t position; /* private */
    uint64_t id;       /* private */
    bool over;         /* private */
};

// Walks all live jobs, in no order that means anything. STATUS_OK: `*job` is the next one;
// STATUS_MORE: this step found none, call again; STATUS_EMPTY: that was all. A step looks at a few
// jobs, and a whole walk takes about as many steps as there are jobs. A job that lives all through
// the walk is seen exactly once, one that comes or goes meanwhile perhaps; none is seen twice.
enum status broker_job_next(const struct broker *broker, struct job_walk *walk,
                            const struct job **job) MUST_USE;

// The best ready job, the one whose delay ends first, the longest buried one; NULL for none. A
// pause does not matter.
const struct job *queue_peek_ready(const struct queue *queue);
const struct job *queue_peek_delayed(const struct broker *broker, const struct queue *queue);
const struct job *queue_peek_buried(const struct queue *queue);

uint64_t job_id(const struct job *job);
struct slice job_body(const struct job *job);
// What its body is in, where it is large; NULL otherwise.
struct blob *job_blob(const struct job *job);
const struct queue *job_queue(const struct broker *broker, const struct job *job);
bool job_held_by(const struct broker *broker, const struct job *job, const struct session *session);
// The session that holds the job; NULL where none does.
const struct session *job_holder(const struct broker *broker, const struct job *job);

struct job_info {
    uint64_t id;
    enum job_state state;
    const struct queue *queue;
    uint32_t pri;
    nsec_t age_for;    // since it was submitted
    nsec_t created_at; // wall
    nsec_t delay_for;  // as last given, whole seconds
    nsec_t ttr_for;    // 0: none
    nsec_t left_for;   // until the lease or the delay ends, never negative; 0 where neither runs
    uint32_t reserves, timeouts, releases, buries, kicks, attempts;
    uint32_t max_attempts;
    enum on_fail on_fail;
    enum on_loss on_loss;
    bool durable;
    uint32_t watches;
    uint64_t numerator, denominator; // as last reported, else 0
    bool data_reported;              // in the present attempt: who joins now does not get that part
    enum key_kind key_kind;
    struct slice key, reducer; // valid as long as the job
};

void broker_job_info(const struct broker *broker, const struct job *job, struct job_info *info);

struct slice queue_name(const struct queue *queue);

// Why a queue gives nothing, however many jobs are ready in it.
#define CLOSED_PAUSED 1u   // until its pause is over
#define CLOSED_RATE 2u     // so many jobs were taken of late as its policy lets be
#define CLOSED_RUNNING 4u  // so many are held as its policy lets be
#define CLOSED_EXPIRING 8u // its first job has waited too long, and is about to go
#define CLOSED_REASONS 4

struct queue_info {
    uint64_t jobs[JOB_STATES];  // by state
    uint64_t ready[BAND_COUNT]; // by band; the first is what beanstalk calls urgent
    uint64_t total_jobs;        // ever accepted here
    uint64_t ended;             // completed or taken back here
    uint64_t pauses;            // how often it was paused
    uint32_t holders;           // who refer to it by broker_queue_hold()
    uint32_t subscriptions;
    uint32_t waiting;      // sessions that wait on it, for a job or for a nudge
    nsec_t pause_for;      // as given, while it lasts, else 0
    nsec_t pause_left_for; // what is left of it
    unsigned closed;       // CLOSED_...; 0: its jobs may be taken
    nsec_t rate_left_for;  // CLOSED_RATE: until its rate lets a job be taken, else 0
    uint32_t limits[BAND_COUNT];
    uint64_t bytes; // of the bodies of its jobs, but for buried ones
    bool kept;
};

// The reason with that number, 0 to CLOSED_REASONS - 1, in a word: "paused" is that of bit 1,
// "rate" of 2, "running" of 4, "expiring" of 8. Static.
const char *closed_word(unsigned number);

void broker_queue_info(const struct broker *broker, const struct queue *queue,
                       struct queue_info *info);

struct broker_info {
    uint64_t jobs[JOB_STATES];
    uint64_t ready[BAND_COUNT];
    uint64_t total_jobs;
    uint64_t timeouts; // leases that ended by time
    uint64_t queues;
    uint64_t sessions;
    uint64_t waiting;   // sessions that wait, for a job or for a nudge
    uint64_t producers; // sessions that have ever submitted a job, or joined one
    uint64_t workers;   // sessions that have ever asked for a job, or for a nudge
    bool draining;
};

void broker_info(const struct broker *broker, struct broker_info *info);

#endif
