/* SPDX-License-Identifier: MIT */

// What a session takes jobs from.

#include "core/subscription.h"

#include "core/broker_private.h"
#include "core/charge.h"
#include "core/queue_private.h"

static struct subscription *in_tree(const struct tree_node *node)
{
    return container_of((struct tree_node *)(uintptr_t)node, struct subscription, by_queue);
}

static bool queue_before(const struct tree_node *a, const struct tree_node *b)
{
    return in_tree(a)->queue < in_tree(b)->queue;
}

struct queue *subscription_queue(const struct subscription *subscription)
{
    return table_get(&subscription->session->broker->index.queues, subscription->queue);
}

struct subscription *session_find(const struct session *session, const struct queue *queue)
{
    const struct tree_node *node = session->by_queue.root;

    while (node) {
        struct subscription *found = in_tree(node);

        if (found->queue == queue->place) {
            return found;
        }
        node = queue->place < found->queue ? node->left : node->right;
    }
    return NULL;
}

void subscription_set_terms(struct subscription *subscription,
                            const struct subscription_terms *terms)
{
    struct session *session = subscription->session;

    session->limited -= subscription->limit_ms > 0;
    subscription->limit_ms = terms ? nsec_to_msec(terms->limit_for) : 0;
    subscription->fail_on_limit = terms && terms->on_limit == ON_LIMIT_FAIL;
    session->limited += subscription->limit_ms > 0;
}

static size_t subscription_size(const struct session *session)
{
    return sizeof(struct subscription) +
           (session->choice == CHOICE_IN_TURN ? sizeof(union round_robin_place) : 0);
}

struct subscription *subscription_new(struct session *session, struct queue *queue)
{
    struct subscription *subscription;

    if (session->subscriptions >= LINKS_IN_SLICE && !session_wide(session)) {
        return NULL;
    }
    subscription = slab_calloc(&session->broker->slab, subscription_size(session));
    if (subscription) {
        subscription->session = session;
        subscription->queue = queue->place;
        list_init(&subscription->in_session);
        list_init(&subscription->waiting);
        list_append(&session->subscribed, &subscription->in_session);
        tree_insert(&session->by_queue, &subscription->by_queue, queue_before);
        round_robin_join(subscription);
        session->subscriptions++;
        queue->subscriptions++;
    }
    return subscription;
}

void subscription_wait(struct subscription *subscription)
{
    struct queue *queue = subscription_queue(subscription);

    list_append(subscription->session->wait_state == WAITING_FOR_JOB ? &queue->job_waits
                                                                     : &queue->nudge_waits,
                &subscription->waiting);
    queue->waiting++;
    queue_offer(subscription->session->broker, queue);
}

void subscription_stop_waiting(struct subscription *subscription)
{
    if (list_linked(&subscription->waiting)) {
        list_remove(&subscription->waiting);
        subscription_queue(subscription)->waiting--;
    }
}

void subscription_bar(struct subscription *subscription, bool bar)
{
    struct session_extra *extra = subscription->session->extra;

    if (extra && subscription->barred != bar) {
        extra->barred += bar ? 1 : UINT32_MAX;
    }
    subscription->barred = bar;
}

void subscription_remove(struct subscription *subscription)
{
    struct session *session = subscription->session;
    struct queue *queue = subscription_queue(subscription);

    subscription_stop_waiting(subscription);
    subscription_bar(subscription, false);
    subscription_set_terms(subscription, NULL);
    subscription_walks_pass_over(subscription);
    list_remove(&subscription->in_session);
    round_robin_leave(subscription);
    tree_remove(&session->by_queue, &subscription->by_queue, queue_before);
    session->subscriptions--;
    queue->subscriptions--;
    slab_free(&session->broker->slab, subscription, subscription_size(session));
}
