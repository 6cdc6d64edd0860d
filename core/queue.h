/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_QUEUE_H
#define TANDEM_CORE_QUEUE_H

// Private to the core: a queue (beanstalk's tube, Gearman's function) and its containers.
//
// Invariants. A queue that is not closed (CLOSED_... in core/inspect.h) and has a ready job is
// open: it is in broker->open. It has both ready jobs and sessions that wait for one only while it
// is closed or in broker->matching.backlog. It is in broker->timers.delays while a delay runs in
// it, at the moment of the first. It exists as long as it is kept, held, subscribed to, paused, or
// has a job. Where a roll (roll.h) has it then, it is only gone: it is in the table, and in nothing
// else.

#include "core/base/hash.h"
#include "core/base/list.h"
#include "core/base/tree.h"
#include "core/broker.h"
#include "core/moment.h"

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
            struct list_node in_roll;
            uint64_t went_at; // a moment of the broker's rolls
            bool passed;      // a roll stands at it that does not have it
        };
    };

    struct tree delayed[CLOCKS];
    union {
        struct list_node buried;
        struct tree returning; // while jobs come back: the buried ones, in their order
    };
    struct moment due[CLOCKS]; // in broker->timers.delays
    struct moment pause_end;   // in broker->timers.pauses, while paused
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
enum status queue_hold_anyway(struct broker *broker, struct slice name,
                              struct queue **queue) MUST_USE;

// It goes: no job and no pause is left. Frees it, unless a roll has it.
void queue_free(struct broker *broker, struct queue *queue);

// No roll has it any more, either.
void queue_forget(struct broker *broker, struct queue *queue);

uint64_t queue_hash_of(const struct hash_node *node);

#endif
