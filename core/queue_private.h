/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_QUEUE_PRIVATE_H
#define TANDEM_CORE_QUEUE_PRIVATE_H

// Private to the core: a queue (beanstalk's tube, Gearman's function), its containers, the index of
// open queues, pauses, and snapshots (core/queue.h).
//
// Invariants. A queue that is not closed (CLOSED_... in core/queue.h) and has a ready job is open:
// it is in broker->open. It has both ready jobs and sessions that wait for one only while it is
// closed or in broker->matching.backlog. It is in broker->timers.delays while it has a delayed job,
// at the moment of the first. It exists as long as it is kept, held, subscribed to, paused, or has
// a job. If a snapshot contains it then, it is `gone`: it is in the table, and in no other
// container.

#include "core/base/hash.h"
#include "core/base/list.h"
#include "core/base/tree.h"
#include "core/broker.h"
#include "core/queue.h"
#include "core/timers.h"

#include <stdint.h>

// An entry in the broker's tree of open queues, or in its backlog: a place among ready jobs at or
// before that of the queue's best job. No two open queues have the same bound, since each was the
// place of a job of its queue.
struct bound {
    struct tree_node node;
    uint64_t seq;
    uint32_t pri;
    bool in; // the tree
};

struct queue {
    struct hash_node by_name;
    uint64_t name_hash;
    uint64_t came_at; // a moment of the broker's snapshots
    uint32_t earlier; // place of the queue made right before it; TABLE_NONE: none
    uint32_t later;   // ... right after it
    uint32_t place;   // in the broker's table
    uint32_t holders;
    uint32_t subscriptions;
    uint32_t waiting;
    uint32_t mark; // the store's
    bool kept;
    uint8_t closed; // CLOSED_...: the reasons; 0: jobs may be taken
    bool gone;      // removed: only its name remains, for snapshots

    // Used for each job that comes or goes.
    struct tree ready;
    struct tree_end ready_end;
    struct list_node job_waits;   // subscriptions of waiting sessions, longest waiting first
    struct list_node nudge_waits; // the same, of sessions that wait for a nudge
    uint64_t jobs[JOB_STATES];
    uint64_t ready_in[BAND_COUNT];
    uint64_t bytes; // of the bodies of its jobs, without the buried ones
    struct counts ever;
    struct queue_times *times; // NULL: none counted yet
    uint32_t limits[BAND_COUNT];
    struct policy *policy; // NULL: no rule matches it
    struct gate *gate;     // NULL: its policy never closes it
    uint32_t nudges;       // sessions still to be nudged
    union {
        struct bound bound; // in broker->open.by_bound
        struct {            // if it is gone
            struct list_node in_snapshot;
            uint64_t went_at; // a moment of the broker's snapshots
            bool passed;      // a snapshot that does not contain it stopped at it
        };
    };

    struct tree delayed[CLOCKS];
    union {
        struct list_node buried;
        struct tree returning; // while jobs are restored: the buried ones, in order
    };
    struct timer due[CLOCKS];  // in broker->timers.delays
    struct timer pause_end;    // in broker->timers.pauses, while paused
    struct list_node recorded; // in broker->paused.by_record, while paused
    nsec_t pause_for;
    uint64_t pauses;
    uint64_t opened; // when it became open: a number of broker->open.last

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

// The number of jobs of the queue in all states.
uint64_t queue_jobs(const struct queue *queue);

// Sets the timer of its first delay on that clock, which may have changed.
void queue_rearm(struct broker *broker, struct queue *queue, enum clock clock);

// The queue of that name, which is made if it is missing, with a reference for the caller.
// STATUS_NO_MEMORY, STATUS_TOO_LARGE, STATUS_BAD_NAME; the first one also STATUS_TOO_MANY_QUEUES.
enum status queue_hold(struct broker *broker, struct slice name, struct queue **queue) MUST_USE;
enum status queue_hold_uncapped(struct broker *broker, struct slice name,
                                struct queue **queue) MUST_USE;

// Removes a queue without a job and a pause. Frees it, unless a snapshot contains it.
void queue_free(struct broker *broker, struct queue *queue);

// Frees a removed queue that no snapshot contains.
void queue_forget(struct broker *broker, struct queue *queue);

uint64_t queue_hash_of(const struct hash_node *node);

//
// Pauses: a paused queue has a timer, and stands in a list in the order in which the store recorded
// the pauses
//

// Pauses the queue until that moment, monotonic.
void queue_pause(struct broker *broker, struct queue *queue, nsec_t pause_for, nsec_t until_at);

// Ends its pause: if it is open and sessions wait on it, it enters broker->matching.backlog.
void queue_resume(struct broker *broker, struct queue *queue);

// Takes a queue that is about to be freed out of the containers of pauses.
void queue_forget_pause(struct broker *broker, struct queue *queue);

//
// The index of open queues: queues that are not closed and have a ready job. It has two containers.
// A tree (and another one for queues with a weight) orders them by a bound each: a place among
// ready jobs at or before that of the queue's best job. A job that leaves makes the bound too low,
// and a search that meets such a bound raises it. A list has the queues in the order in which they
// became open.
//

// Enters the queue into the index, moves it, or takes it out, after its first job became ready, its
// last one left, or it was closed or opened.
void open_queue_review(struct broker *broker, struct queue *queue);

// Called after each change of the queue, its gate or its waiting sessions that may let a session
// have a job, but does not assign it at once. If the queue is open, it enters
// broker->matching.backlog: broker_tick() and broker_settle() assign its jobs in slices, the best
// job of all queues first.
void queue_offer(struct broker *broker, struct queue *queue);

// Takes the queue out of the backlog.
void queue_unoffer(struct broker *broker, struct queue *queue);

// The queue of the backlog with the best job, NULL for none. The search is charged.
struct queue *backlog_first(struct broker *broker);

// Adds, and removes, a reason (CLOSED_...) for which the queue gives no jobs. Without any, it is
// offered.
void queue_close(struct broker *broker, struct queue *queue, unsigned reason);
void queue_reopen(struct broker *broker, struct queue *queue, unsigned reason);

// The open queue with the lowest bound, of all or of those without a weight; NULL for none.
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

//
// Snapshots. Moments are numbered: each queue has the one at which it was made, each snapshot its
// own. Queues, including removed ones that are retained, stand in a list in the order in which they
// were made. A snapshot contains the queues that were made by its moment and not removed before it.
// If the youngest snapshot contains a queue that is removed, the queue stands in that one's list;
// if it does not, no snapshot does. When a snapshot ends, the next older one may or may not contain
// the queues of its list. Ticks find out, a few at a time; until then these queues stand in the
// older one's list of unsorted queues.
//
// A snapshot that has skipped a large number of removed queues stops at one of them. If that one is
// freed before the snapshot continues, it continues from the last queue of its own.
//

struct queue_snapshots {
    struct list_node all;       // struct queue_snapshot, oldest first; the first one is `none`
    struct list_node to_sort;   // snapshots with unsorted queues
    struct queue_snapshot none; // before all queues: it is empty
    uint64_t moment;            // the last one: rises with each queue that is made or removed
    uint64_t retained;          // removed queues that are still in the table
    uint32_t first, last;       // places of the oldest and the newest queue; TABLE_NONE: no queue
};

void queue_snapshots_init(struct broker *broker);

// Adds a new queue, which is in the table, to the list.
void queue_snapshots_add(struct broker *broker, struct queue *queue);

// Takes a queue that no snapshot contains out of the list.
void queue_snapshots_remove(struct broker *broker, const struct queue *queue);

// The queue is removed. True: a snapshot contains it, so that it stays in the table.
bool queue_snapshots_retain(struct broker *broker, struct queue *queue) MUST_USE;

// Sorts a slice of the unsorted queues.
void queue_snapshots_sort(struct broker *broker);

#endif
