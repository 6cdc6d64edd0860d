/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_QUEUE_H
#define TANDEM_CORE_QUEUE_H

// Queues: the jobs of one name. The first reference to a name makes the queue, and it is removed
// when the last reference goes, unless it is kept. A pause closes it to workers, limits close it to
// submitters.

#include "core/base/list.h"
#include "core/base/macros.h"
#include "core/base/nsec.h"
#include "core/base/slice.h"
#include "core/status.h"
#include "core/types.h"

#include <stdbool.h>
#include <stdint.h>

// Finds the queue of that name or creates it, and counts a reference for the caller.
// STATUS_NO_MEMORY (also if memory is short and the queue would have to be made),
// STATUS_TOO_MANY_QUEUES, STATUS_TOO_LARGE, STATUS_BAD_NAME.
enum status broker_queue_hold(struct broker *broker, struct slice name,
                              struct queue **queue) MUST_USE;

// The same without the limit on the number of queues, for a queue that a front-end needs itself.
enum status broker_queue_hold_uncapped(struct broker *broker, struct slice name,
                                       struct queue **queue) MUST_USE;

// Sets the number of queues from which on callers make no further one; 0, the default: no limit.
// Queues that exist, and queues that are restored, are not affected.
void broker_set_max_queues(struct broker *broker, uint64_t most);

// Gives the caller's reference up. A queue that is not kept is removed when it has no job, no
// subscription and no reference.
void broker_queue_drop(struct broker *broker, struct queue *queue);

// The queue of that name, NULL for none. Borrowed.
struct queue *broker_queue_find(struct broker *broker, struct slice name);

// Sets whether the queue stays without a reference. A queue that is no longer kept is removed at
// once if it has none.
void broker_queue_keep(struct broker *broker, struct queue *queue, bool keep);

// Walks all queues: returns the first one at place `*cursor` or after it, and moves the cursor
// behind it; NULL at the end. Start with 0. A queue that comes or goes during the walk may be
// missed; none is returned twice.
struct queue *broker_queue_next(struct broker *broker, uint32_t *cursor);

struct slice queue_name(const struct queue *queue);

//
// Changes. `by` is the session of the caller, NULL for the host itself, which may do everything.
//

// Makes the queue of that name if it is missing, and keeps it. STATUS_FORBIDDEN, and as
// broker_queue_hold().
enum status broker_queue_create(struct broker *broker, const struct session *by,
                                struct slice name) MUST_USE;

// Undoes that, and removes the queue's limits: the queue is removed with its last reference, mostly
// at once. STATUS_FORBIDDEN, STATUS_NOT_FOUND; STATUS_IN_USE if it has a job or a subscription.
enum status broker_queue_forget(struct broker *broker, const struct session *by,
                                struct slice name) MUST_USE;

// Closes the queue to workers for this long; 0 ends a pause. When a pause ends, ready jobs go to
// sessions that wait. STATUS_FORBIDDEN; STATUS_NO_SPACE: nothing has changed.
enum status broker_pause(struct broker *broker, struct session *by, struct queue *queue,
                         nsec_t pause_for) MUST_USE;

// Sets, for the submissions of each band, the number of jobs (ready, reserved and delayed) from
// which on the queue is full; 0 for no limit. STATUS_FORBIDDEN.
enum status broker_queue_limit(const struct session *by, struct queue *queue,
                               const uint32_t limits[BAND_COUNT]) MUST_USE;

//
// State
//

// The reasons for which a queue gives no job though jobs are ready in it.
#define CLOSED_PAUSED 1u   // it is paused
#define CLOSED_RATE 2u     // the rate of its policy is used up for now
#define CLOSED_RUNNING 4u  // workers hold as many of its jobs as its policy allows
#define CLOSED_EXPIRING 8u // its first job has expired, and is about to be removed
#define CLOSED_REASONS 4

// The name of the reason with that number, 0 to CLOSED_REASONS - 1: "paused", "rate", "running",
// "expiring". Static.
const char *closed_reason_text(unsigned number);

struct queue_info {
    uint64_t jobs[JOB_STATES];  // by state
    uint64_t ready[BAND_COUNT]; // by band; beanstalk calls the jobs of the first one urgent
    uint64_t total_jobs;        // accepted here since the queue was made
    uint64_t ended;             // completed or cancelled here
    uint64_t pauses;            // begun here
    uint32_t holders;           // references by broker_queue_hold()
    uint32_t subscriptions;
    uint32_t waiting;           // sessions that wait on it, for a job or for a nudge
    nsec_t pause_for;           // as given, while it lasts, else 0
    nsec_t pause_remaining_for; // until its pause ends
    unsigned closed;            // CLOSED_...; 0: its jobs may be taken
    nsec_t rate_remaining_for;  // CLOSED_RATE: until its rate allows a job to be taken, else 0
    uint32_t limits[BAND_COUNT];
    uint64_t bytes; // of the bodies of its jobs, without the buried ones
    bool kept;
};

void broker_queue_info(const struct broker *broker, const struct queue *queue,
                       struct queue_info *info);

// The best ready job, the job whose delay ends first, the job that was buried first; NULL for none.
// A pause does not matter.
const struct job *queue_peek_ready(const struct queue *queue);
const struct job *queue_peek_delayed(const struct broker *broker, const struct queue *queue);
const struct job *queue_peek_buried(const struct queue *queue);

//
// Snapshots
//

// All queues of one moment, in the order in which they were made, for a list that is written as
// slowly as its reader reads, or for several passes over the same queues. A snapshot costs the same
// for any number of queues. The name of a queue that was removed since is retained for it; its
// memory is freed, a few queues in each tick, when no snapshot contains it. The owner of the struct
// does not move it until the snapshot ends.
struct queue_snapshot {
    struct list_node all;       /* private: in the broker's snapshots, oldest first */
    struct list_node sorting;   /* private: in the broker's list while `unsorted` has a queue */
    struct list_node gone;      /* private: removed queues that no younger snapshot contains */
    struct list_node unsorted;  /* private: as `gone`, but perhaps not in this snapshot either */
    uint64_t at;                /* private: its moment */
    const struct queue *cursor; /* private: the queue returned last; NULL: none was */
    const struct queue *passed; /* private: a later queue that was skipped last; NULL: none was */
    uint32_t passes;            /* private: queues skipped since the last charge */
    bool ended;                 // all its queues were returned
};

// Begins a snapshot of the queues as they are now. Cannot fail.
void queue_snapshot_begin(struct broker *broker, struct queue_snapshot *snapshot);

// The next queue of the snapshot. It may have been removed: then only its name may be read. NULL at
// the end, and, while the snapshot has not `ended`, after a large number of removed queues was
// skipped: the caller continues in another turn. Skipped queues are charged
// (broker_budget_remaining()).
const struct queue *queue_snapshot_next(struct broker *broker, struct queue_snapshot *snapshot);

// True if that queue of a snapshot was removed.
bool queue_has_gone(const struct queue *queue);

// Starts again at the first queue; they come in the same order.
void queue_snapshot_rewind(struct queue_snapshot *snapshot);

void queue_snapshot_end(struct broker *broker, struct queue_snapshot *snapshot);

#endif
