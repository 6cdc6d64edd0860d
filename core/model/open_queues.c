/* SPDX-License-Identifier: MIT */
#include "core/model/open_queues.h"

#include "core/model/broker_private.h"
#include "core/model/job.h"

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
    if (bound->in) {
        tree_remove(&broker->open.by_bound, &bound->node, bound_before);
    }
    bound->in = best != NULL;
    if (best) {
        bound->pri = best->pri;
        bound->seq = best->seq;
        tree_insert(&broker->open.by_bound, &bound->node, bound_before);
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
    list_remove(&queue->matching);
}

void queue_reopen(struct broker *broker, struct queue *queue, unsigned reason)
{
    queue->closed = (uint8_t)(queue->closed & ~reason);
    open_queue_review(broker, queue);
    if (queue_open(queue) && !list_linked(&queue->matching)) {
        // For jobs that the waiting sessions leave over, others are nudged.
        list_append(&broker->matching.backlog, &queue->matching);
    }
}

struct bound *open_queues_first(const struct broker *broker)
{
    return bound_in(tree_first(&broker->open.by_bound));
}

struct bound *open_queues_after(const struct broker *broker, const struct bound *bound)
{
    return bound_in(tree_after(&broker->open.by_bound, &bound->node, bound_before));
}
