/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_QUEUE_H
#define TANDEM_CORE_QUEUE_H

// Queues: where jobs of one name wait. A queue is made by whoever first refers to it, and vanishes
// when nothing does, unless it is kept. A pause and limits close it, to workers and to submitters.

#include "core/base/list.h"
#include "core/base/macros.h"
#include "core/base/nsec.h"
#include "core/base/slice.h"
#include "core/status.h"
#include "core/types.h"

#include <stdbool.h>
#include <stdint.h>

// Finds the queue of that name or creates it, and counts the caller as one who refers to it.
// STATUS_NO_MEMORY (also where memory is short, and there is none yet), STATUS_TOO_MANY_QUEUES,
// STATUS_TOO_LARGE, STATUS_BAD_NAME.
enum status broker_queue_hold(struct broker *broker, struct slice name,
                              struct queue **queue) MUST_USE;

// The same for a queue that the front-end itself cannot do without: it is made however many there
// are.
enum status broker_queue_hold_uncapped(struct broker *broker, struct slice name,
                                       struct queue **queue) MUST_USE;

// How many queues there may be for a further one to be made by a caller; 0, as at first: any
// number. Those that are there stay, and so do those that come back from a store.
void broker_set_max_queues(struct broker *broker, uint64_t most);

// The caller refers to it no longer. A queue that is not kept vanishes when it has no job, no
// subscription and no holder left.
void broker_queue_drop(struct broker *broker, struct queue *queue);

// The queue of that name, NULL where there is none. Borrowed.
struct queue *broker_queue_find(struct broker *broker, struct slice name);

// Whether the queue stays when nothing refers to it. A queue that is kept no longer vanishes at
// once where nothing else refers to it.
void broker_queue_keep(struct broker *broker, struct queue *queue, bool keep);

// Walks all queues: the first at place `*cursor` or after it; moves the cursor behind it; NULL at
// the end. Start with 0. Queues that come or go in between are seen or not; none is seen twice.
struct queue *broker_queue_next(struct broker *broker, uint32_t *cursor);

// All queues that there were at one moment, in the order in which they had come, for a list that is
// made as slowly as it is read, or for more than one look at the same queues. It costs no more
// however many they are. A queue that has gone since is kept for it, with no more than its name,
// and is there for nobody else; its memory is given back, some in each tick, once no roll has it.
// Whoever has a roll owns the struct, which must stay where it is until the roll ends.
struct queue_snapshot {
    struct list_node all; /* private: in the broker's snapshots, in the order of their moments */
    struct list_node
        sorting; /* private: in the broker's snapshots to sort, while `unsorted` has any */
    struct list_node gone; /* private: queues that have gone, and that no younger roll has */
    struct list_node
        unsorted; /* private: as well, but perhaps this roll does not have them either */
    uint64_t at;  /* private: the moment */
    const struct queue *cursor; /* private: the one that was looked at last; NULL: none was */
    const struct queue *passed; /* private: a later one that was passed over last; NULL: none was */
    uint32_t passes;            /* private: how many were, since that was last told */
    bool ended;                 // no further one is there to look at
};

// A roll of the queues as they are now. Cannot fail.
void queue_snapshot_begin(struct broker *broker, struct queue_snapshot *roll);

// The next queue of the roll, which may have gone: only its name may be asked for. NULL at the end,
// and, while the roll has not `ended`, where very many that had gone before have been passed over:
// then the rest is for another turn. What it passes over is charged (broker_budget_remaining()).
const struct queue *queue_snapshot_next(struct broker *broker, struct queue_snapshot *roll);

// Whether that queue, which a roll has, has gone.
bool queue_has_gone(const struct queue *queue);

// The next queue is the first one again; they come in the same order.
void queue_snapshot_rewind(struct queue_snapshot *roll);

// The roll is not needed any more.
void queue_snapshot_end(struct broker *broker, struct queue_snapshot *roll);

// How many queues that have gone are kept for rolls, or are still to be forgotten.
uint64_t broker_snapshot_queues(const struct broker *broker);

// Below, `by` is the session that asks, NULL the host itself, which may do everything.

// Sees to it that there is a queue of that name, and that it stays when nothing refers to it.
// STATUS_FORBIDDEN, and as broker_queue_hold().
enum status broker_queue_create(struct broker *broker, const struct session *by,
                                struct slice name) MUST_USE;

// Takes that back, and the queue's limits: it goes with the last who refers to it, mostly at once.
// STATUS_FORBIDDEN, STATUS_NOT_FOUND; STATUS_IN_USE where it has a job or a subscription.
enum status broker_queue_forget(struct broker *broker, const struct session *by,
                                struct slice name) MUST_USE;

// Nothing is taken from the queue for this long; 0 ends a pause. At its end jobs and waiters meet.
// STATUS_FORBIDDEN; STATUS_NO_SPACE leaves things as they were.
enum status broker_pause(struct broker *broker, struct session *by, struct queue *queue,
                         nsec_t pause_for) MUST_USE;

// The most jobs (ready, reserved and delayed) that the queue may have for a submission of each
// band to be accepted; 0 for no limit. STATUS_FORBIDDEN.
enum status broker_queue_limit(const struct session *by, struct queue *queue,
                               const uint32_t limits[BAND_COUNT]) MUST_USE;

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
    uint32_t waiting;           // sessions that wait on it, for a job or for a nudge
    nsec_t pause_for;           // as given, while it lasts, else 0
    nsec_t pause_remaining_for; // what is left of it
    unsigned closed;            // CLOSED_...; 0: its jobs may be taken
    nsec_t rate_remaining_for;  // CLOSED_RATE: until its rate lets a job be taken, else 0
    uint32_t limits[BAND_COUNT];
    uint64_t bytes; // of the bodies of its jobs, but for buried ones
    bool kept;
};

// The reason with that number, 0 to CLOSED_REASONS - 1, in a word: "paused" is that of bit 1,
// "rate" of 2, "running" of 4, "expiring" of 8. Static.
const char *closed_reason_text(unsigned number);

void broker_queue_info(const struct broker *broker, const struct queue *queue,
                       struct queue_info *info);

// The best ready job, the one whose delay ends first, the longest buried one; NULL for none. A
// pause does not matter.
const struct job *queue_peek_ready(const struct queue *queue);
const struct job *queue_peek_delayed(const struct broker *broker, const struct queue *queue);
const struct job *queue_peek_buried(const struct queue *queue);

#endif
