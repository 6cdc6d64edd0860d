/* SPDX-License-Identifier: MIT */

#include "core/expiry.h"

#include "core/broker_private.h"
#include "core/observe.h"
#include "core/queue_private.h"

// Without memory for an entry, it is tried again after this time.
#define INDEX_AGAIN_FOR NSEC_PER_SEC
// The steps in a job wrap after this number.
#define STEPS_WRAP (INT64_C(1) << 32)

struct expiry_entry {
    struct tree_node node;
    struct job *job;
    int64_t step; // when it became ready, in steps of the monotonic clock
};

static struct expiry_entry *expiry_entry_in(const struct tree_node *node)
{
    return node ? container_of((struct tree_node *)(uintptr_t)node, struct expiry_entry, node)
                : NULL;
}

static bool expiry_entry_before(const struct tree_node *a, const struct tree_node *b)
{
    const struct expiry_entry *x = expiry_entry_in(a);
    const struct expiry_entry *y = expiry_entry_in(b);

    return x->step != y->step ? x->step < y->step : x->job->id < y->job->id;
}

static nsec_t expiry_limit_for(const struct queue *queue)
{
    return queue->policy->rule.spec.expire_after_for;
}

// The number of steps after which a job has certainly been ready for longer than the limit.
static uint32_t expiry_limit_steps(const struct queue *queue)
{
    return (uint32_t)(((expiry_limit_for(queue) - 1) >> WAIT_STEP_BITS) + 2);
}

// Before this moment after a restart no job expires: a job may have been held until the restart,
// which is not recorded, and the wall clock may have been set ahead.
static nsec_t expiry_spared_until(const struct broker *broker, const struct queue *queue)
{
    nsec_t spared_for =
        expiry_limit_for(queue) < EXPIRY_SPARED_FOR ? expiry_limit_for(queue) : EXPIRY_SPARED_FOR;

    return broker->restoring.ended_at + spared_for + (INT64_C(1) << WAIT_STEP_BITS);
}

bool expiry_is_over(const struct broker *broker, const struct queue *queue, const struct job *job)
{
    return broker->now.mono >= expiry_spared_until(broker, queue) &&
           wait_step(broker->now.mono) - job->ready_at_step >= expiry_limit_steps(queue);
}

static nsec_t expiry_entry_ends_at(const struct broker *broker, const struct queue *queue,
                                   const struct expiry_entry *entry)
{
    nsec_t at = (entry->step + (nsec_t)expiry_limit_steps(queue)) * (INT64_C(1) << WAIT_STEP_BITS);
    nsec_t spared_at = expiry_spared_until(broker, queue);

    return at > spared_at ? at : spared_at;
}

//
// The index
//

static int64_t expiry_step_of(const struct broker *broker, const struct job *job)
{
    return (broker->now.mono >> WAIT_STEP_BITS) -
           (int64_t)(wait_step(broker->now.mono) - job->ready_at_step);
}

static struct expiry_entry *expiry_entry_at(const struct gate *gate, int64_t step, uint64_t id)
{
    struct expiry_entry *entry = expiry_entry_in(gate->waits.root);

    while (entry && (step != entry->step || id != entry->job->id)) {
        bool before = step != entry->step ? step < entry->step : id < entry->job->id;

        entry = expiry_entry_in(before ? entry->node.left : entry->node.right);
    }
    return entry;
}

// NULL: it is not in the index. A machine may have been suspended for longer than the steps take to
// wrap.
static struct expiry_entry *expiry_entry_of(const struct broker *broker, const struct gate *gate,
                                            const struct job *job)
{
    const struct expiry_entry *first = expiry_entry_in(tree_first(&gate->waits));
    struct expiry_entry *entry = NULL;

    for (int64_t step = expiry_step_of(broker, job); !entry && first && step >= first->step;
         step -= STEPS_WRAP) {
        entry = expiry_entry_at(gate, step, job->id);
    }
    return entry;
}

bool expiry_has(const struct broker *broker, const struct queue *queue, const struct job *job)
{
    return expiry_entry_of(broker, queue->gate, job) != NULL;
}

static void expiry_entry_insert(struct gate *gate, struct expiry_entry *entry)
{
    tree_insert_late(&gate->waits, &gate->waits_end, &entry->node, expiry_entry_before);
}

static void expiry_entry_remove(struct gate *gate, struct expiry_entry *entry)
{
    tree_remove_late(&gate->waits, &gate->waits_end, &entry->node, expiry_entry_before);
}

// False without memory.
static bool expiry_entry_add(struct broker *broker, struct gate *gate, struct job *job)
{
    struct expiry_entry *entry = slab_alloc(&broker->slab, sizeof *entry);

    if (entry) {
        *entry = (struct expiry_entry){.job = job, .step = expiry_step_of(broker, job)};
        expiry_entry_insert(gate, entry);
    }
    return entry != NULL;
}

static void expiry_set_unindexed(struct gate *gate, uint64_t count, nsec_t at)
{
    gate->unindexed = count;
    gate->indexes_at = count > 0 ? at : NSEC_NEVER;
}

static void expiry_restart_indexing(struct gate *gate)
{
    gate->indexed_pri = 0;
    gate->indexed_seq = 0;
}

void expiry_index(struct broker *broker, struct queue *queue, struct job *job)
{
    struct gate *gate = queue->gate;
    nsec_t again_at = nsec_add(broker->now.mono, INDEX_AGAIN_FOR);

    if (!job) {
        expiry_restart_indexing(gate);
        expiry_set_unindexed(gate, gate->unindexed, again_at);
    } else if (expiry_has(broker, queue, job)) {
        gate->indexed_pri = job->pri;
        gate->indexed_seq = job->seq;
    } else if (expiry_entry_add(broker, gate, job)) {
        gate->indexed_pri = job->pri;
        gate->indexed_seq = job->seq;
        expiry_set_unindexed(gate, gate->unindexed - 1, gate->indexes_at);
    } else {
        expiry_set_unindexed(gate, gate->unindexed, again_at);
    }
}

// Hangs the tree of indexes dropped before below the leftmost node of this one, so that both are
// freed in slices.
static void expiry_drop_index(struct broker *broker, struct gate *gate)
{
    struct tree_node *first = tree_first(&gate->waits);

    if (first) {
        first->left = broker->gates.dropped;
        broker->gates.dropped = gate->waits.root;
    }
    gate->waits = (struct tree){.root = NULL};
    gate->waits_end = (struct tree_end){NULL, NULL};
    expiry_set_unindexed(gate, 0, NSEC_NEVER);
}

// Rotates the tree until its top has no left child, and frees that.
void expiry_free_dropped(struct broker *broker, unsigned *budget)
{
    struct tree_node **top = &broker->gates.dropped;

    for (; *top && *budget > 0; --*budget) {
        struct tree_node *node = *top;
        struct tree_node *left = node->left;

        if (left) {
            node->left = left->right;
            left->right = node;
            *top = left;
        } else {
            *top = node->right;
            slab_free(&broker->slab, expiry_entry_in(node), sizeof(struct expiry_entry));
        }
    }
}

//
// Due jobs
//

nsec_t expiry_due_at(const struct broker *broker, const struct queue *queue)
{
    const struct gate *gate = queue->gate;
    const struct expiry_entry *first = expiry_entry_in(tree_first(&gate->waits));
    nsec_t at = first ? expiry_entry_ends_at(broker, queue, first) : NSEC_NEVER;

    if (queue->closed & CLOSED_EXPIRING) {
        return INT64_MIN;
    }
    return at < gate->indexes_at ? at : gate->indexes_at;
}

static void expiry_rearm(struct broker *broker, struct queue *queue)
{
    nsec_t at = expiry_due_at(broker, queue);

    if (at != queue->gate->over.at) {
        timer_set(&broker->timers.expiries, &queue->gate->over, at, ++broker->gates.last);
    }
}

bool expiry_hold(struct broker *broker, struct queue *queue)
{
    const struct job *first = job_in_tree(tree_first(&queue->ready));

    if (!queue_expires(queue) || !first || !expiry_is_over(broker, queue, first)) {
        return false;
    }
    queue_close(broker, queue, CLOSED_EXPIRING);
    expiry_rearm(broker, queue);
    return true;
}

struct job *expiry_next(struct broker *broker, const struct queue *queue)
{
    const struct expiry_entry *oldest = expiry_entry_in(tree_first(&queue->gate->waits));
    struct job *first = job_in_tree(tree_first(&queue->ready));

    if ((queue->closed & CLOSED_EXPIRING) && first && expiry_is_over(broker, queue, first)) {
        return first;
    }
    return oldest && expiry_entry_ends_at(broker, queue, oldest) <= broker->now.mono ? oldest->job
                                                                                     : NULL;
}

void expiry_review(struct broker *broker, struct queue *queue)
{
    const struct job *first = job_in_tree(tree_first(&queue->ready));

    if ((queue->closed & CLOSED_EXPIRING) && !(first && expiry_is_over(broker, queue, first))) {
        queue_reopen(broker, queue, CLOSED_EXPIRING);
    }
    expiry_rearm(broker, queue);
}

void expiry_set(struct broker *broker, struct queue *queue)
{
    bool expires = queue->policy && expiry_limit_for(queue) > 0;
    struct gate *gate = queue->gate;

    if (gate->expires != expires) {
        gate->expires = expires;
        broker->gates.expiring += expires ? 1 : UINT64_MAX;
        if (expires) {
            expiry_restart_indexing(gate);
            expiry_set_unindexed(gate, queue->jobs[JOB_READY], broker->now.mono);
        } else {
            expiry_drop_index(broker, gate);
        }
    }
    if (queue->closed & CLOSED_EXPIRING) {
        queue_reopen(broker, queue, CLOSED_EXPIRING);
    }
    if (expires) {
        expiry_rearm(broker, queue);
    } else {
        timer_set(&broker->timers.expiries, &gate->over, NSEC_NEVER, 0);
    }
}

void expiry_add(struct broker *broker, struct queue *queue, struct job *job)
{
    struct gate *gate = queue->gate;

    if (!expiry_entry_add(broker, gate, job)) {
        expiry_set_unindexed(gate, gate->unindexed + 1,
                             gate->unindexed > 0 ? gate->indexes_at
                                                 : nsec_add(broker->now.mono, INDEX_AGAIN_FOR));
    }
    expiry_rearm(broker, queue);
}

void expiry_remove(struct broker *broker, struct queue *queue, const struct job *job)
{
    struct gate *gate = queue->gate;
    struct expiry_entry *entry = expiry_entry_of(broker, gate, job);

    if (entry) {
        expiry_entry_remove(gate, entry);
        slab_free(&broker->slab, entry, sizeof *entry);
    } else {
        ENSURE(gate->unindexed > 0);
        expiry_set_unindexed(gate, gate->unindexed - 1, gate->indexes_at);
    }
    expiry_rearm(broker, queue);
}

void expiry_set_since(struct broker *broker, struct queue *queue, struct job *job, uint32_t step)
{
    struct expiry_entry *entry =
        queue_expires(queue) ? expiry_entry_of(broker, queue->gate, job) : NULL;

    if (entry) {
        expiry_entry_remove(queue->gate, entry);
    }
    job->ready_at_step = step;
    if (entry) {
        entry->step = expiry_step_of(broker, job);
        expiry_entry_insert(queue->gate, entry);
        expiry_rearm(broker, queue);
    }
}
