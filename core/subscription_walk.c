/* SPDX-License-Identifier: MIT */
#include "core/subscription.h"

static struct queue *queue_at_cursor(const struct session *session, const struct list_node *node,
                                     const struct subscription **cursor)
{
    if (node == &session->subscribed) {
        return NULL;
    }
    *cursor = list_item((struct list_node *)(uintptr_t)node, struct subscription, in_session);
    return subscription_queue(*cursor);
}

struct queue *session_queue_next(const struct session *session, const struct subscription **cursor)
{
    const struct list_node *at = *cursor ? &(*cursor)->in_session : &session->subscribed;

    return queue_at_cursor(session, at->next, cursor);
}

static struct subscription *last_before(const struct session *session, const struct list_node *at)
{
    return at->prev == &session->subscribed ? NULL
                                            : list_item(at->prev, struct subscription, in_session);
}

void subscription_walk_begin(struct subscription_walk *walk, const struct session *session)
{
    list_init(&walk->in_session);
    walk->next = last_before(session, &session->subscribed);
}

struct queue *subscription_walk_next(struct subscription_walk *walk)
{
    struct subscription *subscription = walk->next;

    if (!subscription) {
        return NULL;
    }
    walk->next = last_before(subscription->session, &subscription->in_session);
    return subscription_queue(subscription);
}

bool subscription_walk_keep(struct subscription_walk *walk)
{
    struct session_extra *extra = walk->next ? session_extra(walk->next->session) : NULL;

    if (extra && !list_linked(&walk->in_session)) {
        list_append(&extra->walks, &walk->in_session);
    }
    return extra || !walk->next;
}

void subscription_walk_end(struct subscription_walk *walk)
{
    list_remove(&walk->in_session);
    walk->next = NULL;
}

void subscription_walks_stop(struct session *session)
{
    while (session->extra && !list_empty(&session->extra->walks)) {
        subscription_walk_end(
            list_item(list_first(&session->extra->walks), struct subscription_walk, in_session));
    }
}

// There are few walks.
void subscription_walks_pass_over(const struct subscription *subscription)
{
    const struct session *session = subscription->session;

    if (!session->extra) {
        return;
    }
    list_each (node, &session->extra->walks) {
        struct subscription_walk *walk = list_item(node, struct subscription_walk, in_session);

        if (walk->next == subscription) {
            (void)subscription_walk_next(walk);
        }
    }
}
