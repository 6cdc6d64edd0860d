/* SPDX-License-Identifier: MIT */

#include "core/queue_private.h"

#include "core/broker_private.h"
#include "core/charge.h"
#include "core/gate.h"
#include "core/job_private.h"

static struct bound *bound_in(const struct tree_node *node)
{
    return node ? container_of((struct tree_node *)(uintptr_t)node, struct bound, node) : NULL;
}

static bool bound_before(const struct tree_node *a, const struct tree_node *b)
{
    const struct bound *x = bound_in(a);
    const struct bound *y = bound_in(b);

    return x->pri != y->pri ? x->pri < y->pri : x->seq < y->seq;
}

void open_queue_set_bound(struct broker *broker, struct bound *bound, const struct job *best)
{
    const struct gate *gate = bound_queue(bound)->gate;
    struct tree *tree =
        gate && gate->weight > 0 ? &broker->open.by_bound_weighed : &broker->open.by_bound;

    if (bound->in) {
        tree_remove(tree, &bound->node, bound_before);
    }
    bound->in = best != NULL;
    if (best) {
        bound->pri = best->pri;
        bound->seq = best->seq;
        tree_insert(tree, &bound->node, bound_before);
    }
}

void open_queue_review(struct broker *broker, struct queue *queue)
{
    const struct job *best = queue->closed ? NULL : job_in_tree(tree_first(&queue->ready));
    struct bound *bound = &queue->bound;

    if (bound->in != (best != NULL)) {
        if (best) {
            queue->opened = ++broker->open.last;
            list_append(&broker->open.in_order, &queue->opening);
        } else {
            list_remove(&queue->opening);
        }
        open_queue_set_bound(broker, bound, best);
    } else if (best &&
               (best->pri < bound->pri || (best->pri == bound->pri && best->seq < bound->seq))) {
        open_queue_set_bound(broker, bound, best);
    }
}

void queue_close(struct broker *broker, struct queue *queue, unsigned reason)
{
    queue->closed = (uint8_t)(queue->closed | reason);
    open_queue_review(broker, queue);
    queue_unoffer(broker, queue);
    if (queue->gate) {
        gate_place(broker, queue);
    }
}

void queue_reopen(struct broker *broker, struct queue *queue, unsigned reason)
{
    queue->closed = (uint8_t)(queue->closed & ~reason);
    open_queue_review(broker, queue);
    queue_offer(broker, queue);
    if (queue->gate) {
        gate_place(broker, queue);
    }
}

static bool offer_before(const struct tree_node *a, const struct tree_node *b)
{
    const struct bound *x = bound_in(a);
    const struct bound *y = bound_in(b);

    if (x->pri != y->pri || x->seq != y->seq) {
        return x->pri != y->pri ? x->pri < y->pri : x->seq < y->seq;
    }
    return (uintptr_t)x < (uintptr_t)y; // equal if a job has moved to another queue
}

static void queue_set_offer(struct broker *broker, struct bound *offer, const struct job *best)
{
    queue_unoffer(broker, container_of(offer, struct queue, offer));
    offer->in = true;
    offer->pri = best->pri;
    offer->seq = best->seq;
    tree_insert(&broker->matching.backlog, &offer->node, offer_before);
}

void queue_unoffer(struct broker *broker, struct queue *queue)
{
    if (queue->offer.in) {
        tree_remove(&broker->matching.backlog, &queue->offer.node, offer_before);
        queue->offer.in = false;
    }
}

void queue_offer(struct broker *broker, struct queue *queue)
{
    const struct job *best = job_in_tree(tree_first(&queue->ready));
    struct bound *offer = &queue->offer;

    if (queue_open(queue) && !(list_empty(&queue->job_waits) && list_empty(&queue->nudge_waits)) &&
        (!offer->in || best->pri < offer->pri ||
         (best->pri == offer->pri && best->seq < offer->seq))) {
        queue_set_offer(broker, offer, best);
    }
}

struct queue *backlog_first(struct broker *broker)
{
    struct bound *offer;

    while ((offer = bound_in(tree_first(&broker->matching.backlog)))) {
        struct queue *queue = container_of(offer, struct queue, offer);
        const struct job *best = job_in_tree(tree_first(&queue->ready));

        if (best && best->pri == offer->pri && best->seq == offer->seq) {
            return queue;
        }
        // The job of this offer has left.
        charge_links(broker, 1);
        if (best) {
            queue_set_offer(broker, offer, best);
        } else {
            queue_unoffer(broker, queue);
        }
    }
    return NULL;
}

static struct bound *bound_lower(struct bound *a, struct bound *b)
{
    if (!a || !b) {
        return a ? a : b;
    }
    return bound_before(&a->node, &b->node) ? a : b;
}

struct bound *open_queues_first(const struct broker *broker, bool weighed_too)
{
    struct bound *first = bound_in(tree_first(&broker->open.by_bound));

    return weighed_too ? bound_lower(first, bound_in(tree_first(&broker->open.by_bound_weighed)))
                       : first;
}

struct bound *open_queues_after(const struct broker *broker, const struct bound *bound,
                                bool weighed_too)
{
    struct bound *next = bound_in(tree_after(&broker->open.by_bound, &bound->node, bound_before));

    if (weighed_too && broker->gates.weights > 0) {
        next = bound_lower(
            next, bound_in(tree_after(&broker->open.by_bound_weighed, &bound->node, bound_before)));
    }
    return next;
}

void queue_forget_pause(struct broker *broker, struct queue *queue)
{
    timer_set(&broker->timers.pauses, &queue->pause_end, NSEC_NEVER, 0);
    if (list_linked(&queue->recorded)) {
        list_remove(&queue->recorded);
        broker->paused.count--;
        broker->paused.names_len -= queue->name_len;
    }
}

void queue_pause(struct broker *broker, struct queue *queue, nsec_t pause_for, nsec_t until_at)
{
    queue->pause_for = pause_for;
    timer_set(&broker->timers.pauses, &queue->pause_end, until_at, ++broker->paused.last);
    if (!list_linked(&queue->recorded)) {
        list_append(&broker->paused.by_record, &queue->recorded);
        broker->paused.count++;
        broker->paused.names_len += queue->name_len;
    }
    queue_close(broker, queue, CLOSED_PAUSED);
}

void queue_resume(struct broker *broker, struct queue *queue)
{
    queue->pause_for = 0;
    queue_forget_pause(broker, queue);
    queue_reopen(broker, queue, CLOSED_PAUSED);
}
