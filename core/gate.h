/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_GATE_H
#define TANDEM_CORE_GATE_H

// Private to the core: the gate of a queue, which it needs if its policy may close it, has its jobs
// expire (expiry.h), or gives it a share of takes (choice.c). When as many of its jobs are held as
// `max_running` allows, or its rate is used up (`rate`, `burst`), the queue is closed as a paused
// one is, until the moment at which it may give a job again.
//
// A gate is made when the policy is attached (policy_private.h), so that nothing later needs
// memory. Other queues have none, and pay for reading a pointer.
//
// The rate has one moment, `rests_at`, at which it is as if no job had been taken: each take puts
// it off by an interval, and the queue is closed while it is further ahead than the intervals of
// `burst` jobs less one (the generic cell rate algorithm). It uses the monotonic clock in
// nanoseconds, so that there are no steps: from rest, `burst` jobs are taken, and then exactly one
// each interval.

#include "core/base/macros.h"
#include "core/broker_private.h"
#include "core/queue_private.h"

#include <stdbool.h>
#include <stdint.h>

struct gate {
    struct queue *queue;
    struct timer wakes;    // in broker->timers.gates: it may give a job again; or it need not be
                           // retained any more
    nsec_t rests_at;       // monotonic: the rate is at rest from then on
    nsec_t stored_rest_at; // the same as recorded in a memo (rate_memo.h); 0 without one, or if it
                           // is of another policy

    // Expiry (expiry.h).
    bool expires; // it is counted in broker->gates.expiring
    struct timer
        over; // in broker->timers.expiries: the first job expires, or jobs are to be indexed
    struct tree waits; // the ready jobs by the moments at which they became ready
    struct tree_end waits_end;
    uint64_t unindexed;   // ready jobs that are not in it yet
    nsec_t indexes_at;    // when indexing continues; NSEC_NEVER without any
    uint64_t indexed_seq; // the place among ready jobs up to which it has all; all zero: none
    uint32_t indexed_pri;

    // A share of takes (choice.c). While the queue is open and has one, the gate stands in
    // broker->gates.by_tag and .by_began, at the place of the queue's best job.
    struct tree_node by_tag;
    struct tree_node by_began;
    uint64_t tag; // the virtual time of its next turn
    uint64_t seq; // of that job
    uint32_t pri;
    uint32_t weight; // 0: none
    bool weighing;   // it is in the trees
};

// A take raises the tag of a queue of weight 1 by this. After 2^40 such takes it would wrap.
#define GATE_STRIDE (UINT64_C(1) << 24)

// The virtual time at which the turn that ends at `tag` began.
static inline uint64_t gate_began(uint64_t tag, uint32_t weight)
{
    uint64_t stride = GATE_STRIDE / weight;

    return tag > stride ? tag - stride : 0;
}

// True if queues with such a policy have a gate.
bool gate_wanted(const struct policy_spec *policy);

// Makes a gate for a queue without one; the used part of its rate is that of its memo. False
// without memory.
bool gate_make(struct broker *broker, struct queue *queue) MUST_USE;

// All memos are restored: sets the used part of the rate of a restored queue, which has a gate, to
// that of its memo.
void gate_restore_rate(struct broker *broker, struct queue *queue);

// Adapts the gate to another policy of the queue: closes or opens it. Without a policy, or with one
// that needs no gate, the gate is freed. `recovery_before_for`: gate_recovery_for() under the
// policy before; 0 without one.
void gate_set(struct broker *broker, struct queue *queue, nsec_t recovery_before_for);

// Closes or opens the queue after a change of the number of its held jobs.
void gate_review(struct broker *broker, struct queue *queue);

// Moves the gate among those with a weight after the queue was opened or closed, or its best job
// changed.
void gate_place(struct broker *broker, struct queue *queue);

// Sets the virtual time of the next turn of a queue with a weight.
void gate_set_tag(struct broker *broker, struct queue *queue, uint64_t tag);

// Of the gates with a weight, the one after `gate`, or the first (NULL): by the priority of their
// best jobs and then by their tags; or, of one priority, the latest beginning of a turn first. NULL
// for none.
struct gate *gates_by_tag(const struct broker *broker, const struct gate *gate);
struct gate *gates_by_began(const struct broker *broker, const struct gate *gate, uint32_t pri);

// Counts a job that is taken, but not by its id, for the rate.
void gate_take(struct broker *broker, struct queue *queue);

// Undoes the last take that counted: the job was not delivered.
void gate_undo_take(struct broker *broker, struct queue *queue);

// Its timer has expired.
void gate_wake(struct broker *broker, struct gate *gate);

// True if a queue without any other reference must stay, since the rate of a new queue of its name
// would be at rest. Then its timer is set to the moment when it need not stay any more.
bool gate_retains(struct broker *broker, struct queue *queue);

// The number of its jobs that may be taken now. GATE_ANY: its policy sets no limit.
#define GATE_ANY UINT64_MAX
uint64_t gate_capacity(const struct broker *broker, const struct queue *queue);

// How long it takes until the rate is at rest after a whole burst was taken; 0 without a rate.
nsec_t gate_recovery_for(const struct queue *queue);

// When the rate allows the next take, monotonic; it may be in the past.
nsec_t gate_opens_at(const struct queue *queue);

#endif
