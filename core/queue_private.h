/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_QUEUE_PRIVATE_H
#define TANDEM_CORE_QUEUE_PRIVATE_H

// Private to the core: a queue (beanstalk's tube, Gearman's function) and its containers.
//
// Invariants. A queue that is not closed (CLOSED_... in core/job.h) and has a ready job is
// open: it is in broker->open. It has both ready jobs and sessions that wait for one only while it
// is closed or in broker->matching.backlog. It is in broker->timers.delays while a delay runs in
// it, at the moment of the first. It exists as long as it is kept, held, subscribed to, paused, or
// has a job. Where a roll (queue_private.h) has it then, it is only gone: it is in the table, and
// in nothing else.

#include "core/base/hash.h"
#include "core/base/list.h"
#include "core/base/tree.h"
#include "core/broker.h"
#include "core/queue.h"
#include "core/timers.h"

#include <stdint.h>

// An entry in the broker's tree of open queues, or in its backlog: a place among ready jobs that
// the queue's best job stands at or after. No two open queues have the same, for each was the place
// of a job of that queue.
struct bound {
    struct tree_node node;
    uint64_t seq;
    uint32_t pri;
    bool in; // the tree
};

struct queue {
    struct hash_node by_name;
    uint64_t name_hash;
    uint64_t came_at; // a moment of the broker's rolls
    uint32_t earlier; // the place of the queue that came right before it; TABLE_NONE: none did
    uint32_t later;   // ... right behind it
    uint32_t place;   // in the broker's table
    uint32_t holders;
    uint32_t subscriptions;
    uint32_t waiting;
    uint32_t mark; // the store's
    bool kept;
    uint8_t closed; // CLOSED_...: why nothing is taken; 0: it may be
    bool gone;      // there is only its name, at its place, for the rolls that have it

    // What each job that comes and goes touches.
    struct tree ready;
    struct tree_node *ready_high; // its last node of high rank, where known
    struct list_node job_waits;   // subscriptions of waiting sessions, longest waiting first
    struct list_node nudge_waits; // of those that wait for a nudge
    uint64_t jobs[JOB_STATES];
    uint64_t ready_in[BAND_COUNT];
    uint64_t bytes; // of the bodies of its jobs, but for buried ones
    struct counts ever;
    struct queue_times *times; // NULL: none were counted yet
    uint32_t limits[BAND_COUNT];
    struct policy *policy; // NULL: no rule fits it
    struct gate *gate;     // NULL: its policy never closes it
    uint32_t nudges;       // sessions that are still to be nudged
    union {
        struct bound bound; // in broker->open.by_bound
        struct {            // once it is gone
            struct list_node in_snapshot;
            uint64_t went_at; // a moment of the broker's rolls
            bool passed;      // a roll stands at it that does not have it
        };
    };

    struct tree delayed[CLOCKS];
    union {
        struct list_node buried;
        struct tree returning; // while jobs come back: the buried ones, in their order
    };
    struct timer due[CLOCKS];  // in broker->timers.delays
    struct timer pause_end;    // in broker->timers.pauses, while paused
    struct list_node recorded; // in broker->paused.by_record, while paused
    nsec_t pause_for;
    uint64_t pauses;
    uint64_t opened; // when it became open, counted in openings

    struct list_node opening; // in broker->open.in_order
    struct list_node nudging; // in broker->matching.nudging, or in broker->restoring.idle
    struct list_node policed; // in broker->policies.news
    struct bound offer;       // in broker->matching.backlog

    uint16_t name_len;
    char name[];
};

// queue_name() for sources on which queue.c depends.
static inline struct slice queue_name_slice(const struct queue *queue)
{
    return slice_of(queue->name, queue->name_len);
}

static inline bool queue_paused(const struct queue *queue)
{
    return queue->closed & CLOSED_PAUSED;
}

static inline bool queue_open(const struct queue *queue)
{
    return !queue->closed && !tree_empty(&queue->ready);
}

// All jobs of the queue, whatever their state.
uint64_t queue_jobs(const struct queue *queue);

// Where its first delay on that clock ends has perhaps changed.
void queue_rearm(struct broker *broker, struct queue *queue, enum clock clock);

// The queue of that name, made where there is none; NULL without memory.
struct queue *queue_get(struct broker *broker, struct slice name) MUST_USE;

// The same, with the caller counted as one who refers to it. STATUS_NO_MEMORY, STATUS_TOO_LARGE,
// STATUS_BAD_NAME; STATUS_TOO_MANY_QUEUES, but not `anyway`.
enum status queue_hold(struct broker *broker, struct slice name, struct queue **queue) MUST_USE;
enum status queue_hold_uncapped(struct broker *broker, struct slice name,
                                struct queue **queue) MUST_USE;

// It goes: no job and no pause is left. Frees it, unless a roll has it.
void queue_free(struct broker *broker, struct queue *queue);

// No roll has it any more, either.
void queue_forget(struct broker *broker, struct queue *queue);

uint64_t queue_hash_of(const struct hash_node *node);

// Private to the core: queues from which nothing is taken until a moment. They stand in a tree by
// that moment, and in a list by when the store wrote their pause last.

// Nothing is taken from it until that moment, monotonic.
void queue_pause(struct broker *broker, struct queue *queue, nsec_t pause_for, nsec_t until_at);

// Ends its pause: it is in broker->matching.backlog, where jobs and waiters are to meet, if it is
// open.
void queue_resume(struct broker *broker, struct queue *queue);

// The queue is about to be freed: it is in no container of paused ones any more.
void queue_forget_pause(struct broker *broker, struct queue *queue);

// Private to the core: the index of open queues, those that are not closed and have a ready job.
//
// It is two containers. A tree, and another one for queues with a weight, holds them by a bound
// each, which is a place among ready jobs that the queue's best job stands at or after: a job that
// leaves makes the bound only too low, and who comes across such a bound raises it. A list holds
// them in the order in which they became open.

// A job of the queue has become ready or the last one has left, or it is closed or opened: it has
// perhaps to enter, change or leave its place among open queues.
void open_queue_review(struct broker *broker, struct queue *queue);

// The queue may have jobs for sessions that wait for one, or for a nudge: called after any change
// of the queue, of its gate or of those who wait on it that does not give them a job at once. Where
// it is open, it is put into broker->matching.backlog: its jobs and those sessions meet in the
// slices of broker_tick() and broker_settle(), the best job of all queues first.
void queue_offer(struct broker *broker, struct queue *queue);

// Takes the queue out of the backlog.
void queue_unoffer(struct broker *broker, struct queue *queue);

// The queue of the backlog with the best job, NULL for none. What it looked at is charged.
struct queue *backlog_first(struct broker *broker);

// One reason (CLOSED_...) more, or less, for the queue to give nothing. When the last one goes, it
// is offered.
void queue_close(struct broker *broker, struct queue *queue, unsigned reason);
void queue_reopen(struct broker *broker, struct queue *queue, unsigned reason);

// The open queue with the lowest bound, NULL for none; of all, or of those without a weight.
struct bound *open_queues_first(const struct broker *broker, bool weighed_too);

// The first of these whose bound is behind this one; NULL for none.
struct bound *open_queues_after(const struct broker *broker, const struct bound *bound,
                                bool weighed_too);

// Sets the queue's bound to the place of its best job; NULL takes it out of the tree.
void open_queue_set_bound(struct broker *broker, struct bound *bound, const struct job *best);

static inline struct queue *bound_queue(struct bound *bound)
{
    return container_of(bound, struct queue, bound);
}

// Private to the core: rolls (core/queue.h), and the queues that are kept for them.
//
// Moments are numbered: each queue has that at which it came, each roll its own. Queues stand in a
// list in the order in which they came, also while they have gone and are kept. A roll has the
// queues that had come by its moment and had not gone. A queue that goes while the youngest roll
// has it stands in that one's list; where the youngest does not, none does. When a roll ends, what
// stands in its list may be needed by the next older one, or by none, which is found out a few in
// each tick: until then they stand in that one's list of unsorted ones.
//
// A roll that has passed over very many queues which it does not have stops at one of them. Should
// that one be forgotten before the roll goes on, it goes on from the last queue of its own.

void queue_snapshots_init(struct broker *broker);

// The queue has come, and is at its place.
void queue_snapshots_add(struct broker *broker, struct queue *queue);

// It is forgotten: no roll has it.
void queue_snapshots_remove(struct broker *broker, const struct queue *queue);

// The queue has gone. True: a roll has it, and it is to stay at its place.
bool queue_snapshots_retain(struct broker *broker, struct queue *queue) MUST_USE;

// Goes on with the queues that are not sorted, one slice of them.
void queue_snapshots_sort(struct broker *broker);

// Private to the core: what the broker knows of its rolls (queue_private.h).

struct snapshots {
    struct list_node all;       // struct queue_snapshot, oldest first; the first one is `none`
    struct list_node to_sort;   // those that have queues to sort
    struct queue_snapshot none; // of the time before all queues: it has none
    uint64_t moment;            // the last one: rises with each queue that comes or goes
    uint64_t retained;          // queues that have gone and are still at their places
    uint32_t first, last; // places of the queues that came first and last; TABLE_NONE: no queue
};

#endif
