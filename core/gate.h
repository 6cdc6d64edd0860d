/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_GATE_H
#define TANDEM_CORE_GATE_H

// Private to the core: what a queue needs whose policy may close it, has its jobs expire
// (expiry.h), or gives it a share of takes (choice.c). Where so many of its jobs are held
// as may be (`max_running`), or so many have been taken of late (`rate`, `burst`), it is closed as
// a paused one is, until the moment at which it may give again.
//
// A gate is made when the policy is attached (policy.h), so that nothing later needs memory. All
// others have none, and pay for the look at a pointer.
//
// The rate is kept by one moment, at which it is as if no job had ever been taken: each job that is
// taken puts it off by an interval, and the queue is closed while it lies further ahead than the
// intervals of `burst` jobs but one (the generic cell rate algorithm). It counts on the monotonic
// clock, in nanoseconds, and so has no steps: over any time that begins at rest, `burst` jobs are
// taken and then one each interval, at the moment.

#include "core/base/macros.h"
#include "core/broker_private.h"
#include "core/queue_private.h"

#include <stdbool.h>
#include <stdint.h>

struct gate {
    struct queue *queue;
    struct timer wakes; // in broker->timers.gates: it may give again; or nothing keeps it any more
    nsec_t rests_at;    // monotonic: the rate is at rest from then on
    nsec_t kept_at;     // the same as the store knows it (rate_memo.h); 0 where that is
                        // nothing, or what another policy has used

    // Jobs that wait too long (expiry.h).
    bool expires;      // it is counted in broker->gates.expiring
    struct timer over; // in broker->timers.expiries: the first of them is, or there is to index
    struct tree waits; // the ready jobs by the moment at which they became so
    struct tree_node *waits_high; // its last node of high rank, where known
    uint64_t unindexed;           // ready jobs that it has not yet
    nsec_t indexes_at;            // when to go on with these; NSEC_NEVER where there are none
    uint64_t indexed_seq; // the place among ready jobs up to which it has them; all zero: none
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

// By so much a take puts off the tag of a queue of weight 1. Beyond 2^40 such takes it would wrap.
#define GATE_STRIDE (UINT64_C(1) << 24)

// The virtual time at which a turn began that is over at `tag`.
static inline uint64_t gate_began(uint64_t tag, uint32_t weight)
{
    uint64_t stride = GATE_STRIDE / weight;

    return tag > stride ? tag - stride : 0;
}

// Whether queues of such a policy have a gate.
bool gate_wanted(const struct policy_spec *policy);

// Makes a gate for the queue, which has none; its rate has used what a memo says of it. False
// without memory.
bool gate_make(struct broker *broker, struct queue *queue) MUST_USE;

// All memos are back: the rate of the queue, which has a gate since it came back itself, has used
// what they say.
void gate_restore_rate(struct broker *broker, struct queue *queue);

// The queue, which has a gate, has another policy: closes or opens it as that says. Without one, or
// with one that wants no gate, the gate goes. `whole_before_for`: gate_recovery_for() under the
// policy before; 0 where there was none.
void gate_set(struct broker *broker, struct queue *queue, nsec_t whole_before_for);

// So many jobs of the queue are held as are in its counts: closes or opens it.
void gate_review(struct broker *broker, struct queue *queue);

// The queue was opened or closed, or its best job is another: the gate may have to stand elsewhere
// among those with a weight.
void gate_place(struct broker *broker, struct queue *queue);

// The next turn of the queue, which has a weight, is at that virtual time.
void gate_set_tag(struct broker *broker, struct queue *queue, uint64_t tag);

// Of the gates with a weight: the one that comes after `gate`, or first of all (NULL), in the order
// of the priority of their best jobs, and of one priority, of their tags; or of one priority, the
// latest turn first. NULL for none.
struct gate *gates_by_tag(const struct broker *broker, const struct gate *gate);
struct gate *gates_by_began(const struct broker *broker, const struct gate *gate, uint32_t pri);

// A job is taken from the queue, not by its id: that counts for its rate.
void gate_take(struct broker *broker, struct queue *queue);

// The last take that counted is undone: the job was not delivered.
void gate_undo_take(struct broker *broker, struct queue *queue);

// Its moment has come.
void gate_wake(struct broker *broker, struct gate *gate);

// The queue has nothing but its gate: must it stay, since a new one of its name would have its rate
// at rest? The moment at which it need not any more is set then.
bool gate_retains(struct broker *broker, struct queue *queue);

// How many more of its jobs may be taken now. GATE_ANY: its policy does not say.
#define GATE_ANY UINT64_MAX
uint64_t gate_capacity(const struct broker *broker, const struct queue *queue);

// How long it takes until the rate is at rest again when all has been taken that it lets be taken
// at once; 0 where its policy has none.
nsec_t gate_recovery_for(const struct queue *queue);

// When the rate lets the queue give again, monotonic; it may be over.
nsec_t gate_opens_at(const struct queue *queue);

#endif
