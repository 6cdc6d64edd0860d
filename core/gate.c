/* SPDX-License-Identifier: MIT */

#include "core/gate.h"

#include "core/broker_private.h"
#include "core/expiry.h"
#include "core/job_private.h"
#include "core/memo_private.h"
#include "core/queue_private.h"

static const struct policy_spec *gate_policy(const struct queue *queue)
{
    return &queue->policy->rule.spec;
}

bool gate_wanted(const struct policy_spec *policy)
{
    return policy->max_running > 0 || policy->rate_interval_for > 0 ||
           policy->expire_after_for > 0 || policy->weight > 0;
}

// Saturates below NSEC_NEVER, which means that no moment is set.
static nsec_t gate_later(nsec_t at, nsec_t by_for)
{
    nsec_t sum_at = nsec_add(at, by_for);

    return sum_at == NSEC_NEVER ? NSEC_NEVER - 1 : sum_at;
}

// Sets the used part of the rate to that of the memo or to `used_until_at`, whichever is later.
// After steps of the wall clock the memo's may be too far ahead, which gate_cap_rest() corrects.
static void gate_load_rate(const struct broker *broker, const struct queue *queue,
                           nsec_t used_until_at)
{
    const struct memo *memo = broker_memo_find(broker, MEMO_RATE, queue_name_slice(queue));
    nsec_t rests_at = memo ? gate_later(broker->now.mono, memo->until_at - broker->now.wall) : 0;

    queue->gate->rests_at = rests_at > used_until_at ? rests_at : used_until_at;
    queue->gate->stored_rest_at = rests_at;
}

bool gate_make(struct broker *broker, struct queue *queue)
{
    struct gate *gate = slab_calloc(&broker->slab, sizeof *gate);

    if (gate) {
        gate->queue = queue;
        gate->wakes.at = NSEC_NEVER;
        gate->over.at = NSEC_NEVER;
        gate->indexes_at = NSEC_NEVER;
        queue->gate = gate;
        gate_load_rate(broker, queue, 0);
    }
    return gate != NULL;
}

// The largest lead of `rests_at` over the present at which a job may be taken.
static nsec_t gate_burst_for(const struct policy_spec *policy)
{
    nsec_t more = policy->burst > 1 ? (nsec_t)policy->burst - 1 : 0;

    return more > 0 && policy->rate_interval_for > NSEC_NEVER / more
               ? NSEC_NEVER
               : more * policy->rate_interval_for;
}

nsec_t gate_recovery_for(const struct queue *queue)
{
    const struct policy_spec *policy = gate_policy(queue);

    return policy->rate_interval_for > 0
               ? gate_later(gate_burst_for(policy), policy->rate_interval_for)
               : 0;
}

nsec_t gate_opens_at(const struct queue *queue)
{
    return queue->gate->rests_at - gate_burst_for(gate_policy(queue));
}

static void gate_set_timer(struct broker *broker, struct gate *gate, nsec_t at)
{
    timer_set(&broker->timers.gates, &gate->wakes, at, ++broker->gates.last);
}

static void gate_set_closed(struct broker *broker, struct queue *queue, unsigned reason,
                            bool closed)
{
    if (closed == ((queue->closed & reason) != 0)) {
        return;
    }
    if (closed) {
        queue_close(broker, queue, reason);
    } else {
        queue_reopen(broker, queue, reason);
    }
}

static void gate_review_rate(struct broker *broker, struct queue *queue)
{
    nsec_t at = gate_opens_at(queue);
    bool closed = gate_policy(queue)->rate_interval_for > 0 && at > broker->now.mono;

    if (closed && at != queue->gate->wakes.at) {
        gate_set_timer(broker, queue->gate, at);
    }
    gate_set_closed(broker, queue, CLOSED_RATE, closed);
}

void gate_review(struct broker *broker, struct queue *queue)
{
    uint64_t most = gate_policy(queue)->max_running;

    gate_set_closed(broker, queue, CLOSED_RUNNING, most > 0 && queue->jobs[JOB_RESERVED] >= most);
    if (queue->gate->weight > 0) {
        gate_place(broker, queue);
    }
}

//
// Weights
//

static struct gate *gate_by_tag(const struct tree_node *node)
{
    return node ? container_of((struct tree_node *)(uintptr_t)node, struct gate, by_tag) : NULL;
}

static struct gate *gate_by_began(const struct tree_node *node)
{
    return node ? container_of((struct tree_node *)(uintptr_t)node, struct gate, by_began) : NULL;
}

// If the tags are equal, the oldest job goes first.
static bool gate_tag_before(const struct tree_node *a, const struct tree_node *b)
{
    const struct gate *x = gate_by_tag(a);
    const struct gate *y = gate_by_tag(b);

    if (x->pri != y->pri || x->tag == y->tag) {
        return x->pri != y->pri ? x->pri < y->pri : x->seq < y->seq;
    }
    return x->tag < y->tag;
}

static bool gate_began_before(const struct tree_node *a, const struct tree_node *b)
{
    const struct gate *x = gate_by_began(a);
    const struct gate *y = gate_by_began(b);
    uint64_t of_x = gate_began(x->tag, x->weight);
    uint64_t of_y = gate_began(y->tag, y->weight);

    if (x->pri != y->pri || of_x == of_y) {
        return x->pri != y->pri ? x->pri < y->pri : x->seq < y->seq;
    }
    return of_x > of_y;
}

static void gate_leave_weights(struct broker *broker, struct gate *gate)
{
    if (gate->weighing) {
        tree_remove(&broker->gates.by_tag, &gate->by_tag, gate_tag_before);
        tree_remove(&broker->gates.by_began, &gate->by_began, gate_began_before);
        gate->weighing = false;
    }
}

void gate_place(struct broker *broker, struct queue *queue)
{
    struct gate *gate = queue->gate;
    const struct job *best =
        gate->weight > 0 && queue_open(queue) ? job_in_tree(tree_first(&queue->ready)) : NULL;

    if (gate->weighing && best && best->pri == gate->pri && best->seq == gate->seq) {
        return;
    }
    gate_leave_weights(broker, gate);
    if (best) {
        gate->pri = best->pri;
        gate->seq = best->seq;
        gate->weighing = true;
        tree_insert(&broker->gates.by_tag, &gate->by_tag, gate_tag_before);
        tree_insert(&broker->gates.by_began, &gate->by_began, gate_began_before);
    }
}

void gate_set_tag(struct broker *broker, struct queue *queue, uint64_t tag)
{
    gate_leave_weights(broker, queue->gate);
    queue->gate->tag = tag;
    gate_place(broker, queue);
}

struct gate *gates_by_tag(const struct broker *broker, const struct gate *gate)
{
    const struct tree *tree = &broker->gates.by_tag;

    return gate_by_tag(gate ? tree_after(tree, &gate->by_tag, gate_tag_before) : tree_first(tree));
}

struct gate *gates_by_began(const struct broker *broker, const struct gate *gate, uint32_t pri)
{
    const struct gate before_all = {.pri = pri, .weight = 1, .tag = UINT64_MAX};
    struct gate *next = gate_by_began(tree_after(
        &broker->gates.by_began, gate ? &gate->by_began : &before_all.by_began, gate_began_before));

    return next && next->pri == pri ? next : NULL;
}

// Open queues with and without a weight are in separate trees.
static void gate_set_weight(struct broker *broker, struct queue *queue, uint32_t weight)
{
    struct gate *gate = queue->gate;
    bool was_open = queue->bound.in;

    if (weight == gate->weight) {
        return;
    }
    gate_leave_weights(broker, gate);
    open_queue_set_bound(broker, &queue->bound, NULL);
    broker->gates.weights += weight > 0;
    broker->gates.weights -= gate->weight > 0;
    gate->weight = weight;
    if (was_open) {
        open_queue_set_bound(broker, &queue->bound, job_in_tree(tree_first(&queue->ready)));
    }
    gate_place(broker, queue);
}

// A queue with a new policy of many takes a second must not wait for days because of its old
// policy: at worst, its whole burst is used up. The memo still has the value of the old policy.
static void gate_cap_rest(const struct broker *broker, struct queue *queue)
{
    const struct policy_spec *policy = gate_policy(queue);
    nsec_t worst_at =
        gate_later(gate_later(broker->now.mono, gate_burst_for(policy)), policy->rate_interval_for);

    if (queue->gate->rests_at > worst_at) {
        queue->gate->rests_at = worst_at;
        queue->gate->stored_rest_at = 0;
    }
}

void gate_restore_rate(struct broker *broker, struct queue *queue)
{
    gate_load_rate(broker, queue, 0);
    gate_cap_rest(broker, queue);
    gate_review_rate(broker, queue);
}

void gate_set(struct broker *broker, struct queue *queue, nsec_t recovery_before_for)
{
    struct gate *gate = queue->gate;

    gate_set_timer(broker, gate, NSEC_NEVER);
    expiry_set(broker, queue);
    gate_set_weight(broker, queue, queue->policy ? gate_policy(queue)->weight : 0);
    if (queue->policy && gate_wanted(gate_policy(queue))) {
        // The policy before may have been that of the file, before the one set at run time was
        // restored. A policy that is merely set again does not read the memo again.
        if (gate->stored_rest_at == 0 && gate_recovery_for(queue) > recovery_before_for) {
            gate_load_rate(broker, queue, gate->rests_at);
        }
        gate_cap_rest(broker, queue);
        gate_review_rate(broker, queue);
        gate_review(broker, queue);
        return;
    }
    queue->gate = NULL;
    slab_free(&broker->slab, gate, sizeof *gate);
    gate_set_closed(broker, queue, CLOSED_RATE, false);
    gate_set_closed(broker, queue, CLOSED_RUNNING, false);
}

void gate_take(struct broker *broker, struct queue *queue)
{
    nsec_t interval_for = gate_policy(queue)->rate_interval_for;
    struct gate *gate = queue->gate;

    if (interval_for > 0) {
        nsec_t from_at = gate->rests_at > broker->now.mono ? gate->rests_at : broker->now.mono;

        gate->rests_at = gate_later(from_at, interval_for);
        gate_review_rate(broker, queue);
    }
}

void gate_undo_take(struct broker *broker, struct queue *queue)
{
    nsec_t interval_for = gate_policy(queue)->rate_interval_for;
    struct gate *gate = queue->gate;

    if (interval_for > 0 && gate->rests_at > broker->now.mono) {
        gate->rests_at -= interval_for < gate->rests_at ? interval_for : gate->rests_at;
        gate_review_rate(broker, queue);
    }
}

void gate_wake(struct broker *broker, struct gate *gate)
{
    gate_set_timer(broker, gate, NSEC_NEVER);
    gate_review_rate(broker, gate->queue);
}

bool gate_retains(struct broker *broker, struct queue *queue)
{
    struct gate *gate = queue->gate;

    if (gate->rests_at <= broker->now.mono) {
        return false;
    }
    if (gate->wakes.at == NSEC_NEVER) {
        gate_set_timer(broker, gate, gate->rests_at);
    }
    return true;
}

uint64_t gate_capacity(const struct broker *broker, const struct queue *queue)
{
    const struct policy_spec *policy = gate_policy(queue);
    uint64_t held = queue->jobs[JOB_RESERVED];
    uint64_t room = GATE_ANY;

    if (policy->max_running > 0) {
        room = held < policy->max_running ? policy->max_running - held : 0;
    }
    if (policy->rate_interval_for > 0) {
        nsec_t now = broker->now.mono;
        nsec_t rests_at = queue->gate->rests_at > now ? queue->gate->rests_at : now;
        nsec_t until_at = nsec_add(now, gate_burst_for(policy));
        uint64_t of_rate = 0;

        if (rests_at <= until_at) {
            of_rate = (uint64_t)((until_at - rests_at) / policy->rate_interval_for) + 1;
        }
        room = of_rate < room ? of_rate : room;
    }
    return room;
}
