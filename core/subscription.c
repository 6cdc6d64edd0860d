/* SPDX-License-Identifier: MIT */

// What a session takes jobs from.

#include "core/broker_private.h"

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
    return table_get(&subscription->session->broker->queues, subscription->queue);
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

static struct subscription *find_by_name(const struct session *session, struct slice name)
{
    const struct queue *queue = broker_queue_find(session->broker, name);

    return queue ? session_find(session, queue) : NULL;
}

static void set_terms(struct subscription *subscription, const struct terms *terms)
{
    struct session *session = subscription->session;

    session->limited -= subscription->limit_ms > 0;
    subscription->limit_ms = terms ? nsec_to_msec(terms->limit_for) : 0;
    subscription->fail_on_limit = terms && terms->on_limit == ON_LIMIT_FAIL;
    session->limited += subscription->limit_ms > 0;
}

// A session that naps already hears of this queue, too.
static void join_nap(struct subscription *subscription, struct queue *queue)
{
    struct session *session = subscription->session;

    if (queue_open(queue)) {
        session_wake(session);
        session->nudged = true;
        session_notify(session);
    } else {
        list_append(&queue->naps, &subscription->waiting);
        queue->waiting++;
    }
}

static size_t subscription_size(const struct session *session)
{
    return sizeof(struct subscription) +
           (session->choice == CHOICE_IN_TURN ? sizeof(union rota_place) : 0);
}

static struct subscription *subscription_new(struct session *session, struct queue *queue)
{
    struct subscription *subscription =
        slab_calloc(&session->broker->slab, subscription_size(session));

    if (subscription) {
        subscription->session = session;
        subscription->queue = queue->place;
        list_init(&subscription->in_session);
        list_init(&subscription->waiting);
        list_append(&session->subscribed, &subscription->in_session);
        tree_insert(&session->by_queue, &subscription->by_queue, queue_before);
        rota_join(subscription);
        session->subscriptions++;
        queue->subscriptions++;
    }
    return subscription;
}

enum status broker_subscribe(struct session *session, struct slice name, const struct terms *terms)
{
    struct broker *broker = session->broker;
    struct subscription *subscription;
    struct queue *queue;
    enum status status;

    ENSURE(session->pose != POSE_WAITING && !broker->settling);
    status = broker_queue_hold(broker, name, &queue);
    if (status != STATUS_OK) {
        return status;
    }
    subscription = session_find(session, queue);
    if (!subscription) {
        subscription = subscription_new(session, queue);
        if (subscription && session->pose == POSE_NAPPING) {
            join_nap(subscription, queue);
        }
    }
    if (subscription) {
        set_terms(subscription, terms);
    }
    broker_queue_drop(broker, queue);
    return subscription ? STATUS_OK : STATUS_NO_MEMORY;
}

// Walks that would come to the subscription next go on behind it. There are few.
static void pass_over(const struct subscription *subscription)
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

void subscription_end(struct subscription *subscription)
{
    struct session *session = subscription->session;
    struct queue *queue = subscription_queue(subscription);

    if (list_linked(&subscription->waiting)) {
        list_remove(&subscription->waiting);
        queue->waiting--;
    }
    if (session->roused && session->roused_by == queue->place) {
        match_pass_on(session, NULL);
    }
    set_terms(subscription, NULL);
    pass_over(subscription);
    list_remove(&subscription->in_session);
    rota_leave(subscription);
    tree_remove(&session->by_queue, &subscription->by_queue, queue_before);
    session->subscriptions--;
    queue->subscriptions--;
    slab_free(&session->broker->slab, subscription, subscription_size(session));
    queue_vanish_if_idle(session->broker, queue);
}

// The job is lost to the session, where that took it by its subscription (by any, for NULL).
static void give_back_one(struct session *session, struct job *job,
                          const struct subscription *subscription)
{
    if ((!subscription || job->queue == subscription->queue) && !job->by_id_taken) {
        outcome_lost(session->broker, job, LOSS_LEFT);
    }
}

static bool give_leases_back(struct session *session, const struct subscription *subscription)
{
    return session_walk_leases(session, NSEC_NEVER, give_back_one, subscription);
}

// The time to run, which the limit may have hidden, starts anew.
static void end_limit(struct session *session, struct job *job,
                      const struct subscription *subscription)
{
    (void)subscription;
    if (job->extra && job->extra->limit_at) {
        job->extra->limit_at = 0;
        match_renew(session, job);
    }
}

enum status broker_end_limits(struct session *session)
{
    ENSURE(!session->broker->settling);
    // A lease without an end has no limit, and stands behind those that have.
    return session_walk_leases(session, NSEC_NEVER - 1, end_limit, NULL) ? STATUS_OK : STATUS_MORE;
}

enum status broker_unsubscribe(struct session *session, struct slice name, bool give_back)
{
    struct subscription *subscription = find_by_name(session, name);

    ENSURE(!session->broker->settling);
    session->broker->position = 0;
    if (!subscription) {
        return STATUS_OK;
    }
    if (give_back && !give_leases_back(session, subscription)) {
        return STATUS_MORE;
    }
    subscription_end(subscription);
    return STATUS_OK;
}

enum status broker_unsubscribe_all(struct session *session)
{
    ENSURE(!session->broker->settling);
    session->broker->position = 0;
    if (session->subscriptions > 0 && !give_leases_back(session, NULL)) {
        return STATUS_MORE;
    }
    for (int i = 0; i < BROKER_SLICE && session->subscriptions > 0; i++) {
        subscription_end(
            list_item(list_first(&session->subscribed), struct subscription, in_session));
    }
    return session->subscriptions > 0 ? STATUS_MORE : STATUS_OK;
}

bool session_subscribed(const struct session *session, struct slice name)
{
    return find_by_name(session, name) != NULL;
}

size_t session_subscriptions(const struct session *session)
{
    return session->subscriptions;
}

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

//
// Walks
//

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
