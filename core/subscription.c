/* SPDX-License-Identifier: MIT */

// Subscriptions, and the round robin of a session that chooses in turn. A new subscription comes
// before all others, one that was served behind them. A subscription whose queue has no job keeps
// its turn but becomes idle, and is skipped, so that a session with thousands of queues does not
// visit the same idle ones at every take.
//
// A queue that opens tells no session, since thousands may subscribe to it. The broker keeps open
// queues in the order in which they became open, and a session that is about to choose visits those
// that have opened since its last choice; if that takes longer than waking all its idle
// subscriptions, it wakes all.

#include "core/subscription.h"

#include "core/broker_private.h"
#include "core/charge.h"
#include "core/queue_private.h"

static struct subscription *subscription_in_tree(const struct tree_node *node)
{
    return container_of((struct tree_node *)(uintptr_t)node, struct subscription, by_queue);
}

static bool subscription_queue_before(const struct tree_node *a, const struct tree_node *b)
{
    return subscription_in_tree(a)->queue < subscription_in_tree(b)->queue;
}

struct queue *subscription_queue(const struct subscription *subscription)
{
    return table_get(&subscription->session->broker->index.queues, subscription->queue);
}

struct subscription *session_find(const struct session *session, const struct queue *queue)
{
    const struct tree_node *node = session->by_queue.root;

    while (node) {
        struct subscription *found = subscription_in_tree(node);

        if (found->queue == queue->place) {
            return found;
        }
        node = queue->place < found->queue ? node->left : node->right;
    }
    return NULL;
}

//
// Walks over the subscriptions of a session
//

struct queue *session_queue_next(const struct session *session, const struct subscription **cursor)
{
    const struct list_node *at = *cursor ? &(*cursor)->in_session : &session->subscribed;

    if (at->next == &session->subscribed) {
        return NULL;
    }
    *cursor = list_item(at->next, struct subscription, in_session);
    return subscription_queue(*cursor);
}

static struct subscription *subscription_before(const struct session *session,
                                                const struct list_node *at)
{
    return at->prev == &session->subscribed ? NULL
                                            : list_item(at->prev, struct subscription, in_session);
}

void subscription_walk_begin(struct subscription_walk *walk, const struct session *session)
{
    list_init(&walk->in_session);
    walk->next = subscription_before(session, &session->subscribed);
}

struct queue *subscription_walk_next(struct subscription_walk *walk)
{
    struct subscription *subscription = walk->next;

    if (!subscription) {
        return NULL;
    }
    walk->next = subscription_before(subscription->session, &subscription->in_session);
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

// Moves the walks whose next subscription is this one behind it. A session has few walks.
static void subscription_walks_pass_over(const struct subscription *subscription)
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

//
// Round robin
//

static bool takes_turns(const struct session *session)
{
    return session->choice == CHOICE_IN_TURN;
}

static struct subscription *in_round_robin(const struct tree_node *node)
{
    return container_of((struct tree_node *)(uintptr_t)node, struct subscription, in_round_robin);
}

static bool round_robin_before(const struct tree_node *a, const struct tree_node *b)
{
    return in_round_robin(a)->turn < in_round_robin(b)->turn;
}

static void round_robin_insert(struct subscription *subscription)
{
    tree_insert(&subscription->session->round_robin->tree, &subscription->in_round_robin->tree,
                round_robin_before);
}

static void round_robin_remove(struct subscription *subscription)
{
    struct round_robin *order = subscription->session->round_robin;

    if (subscription->idle) {
        list_remove(&subscription->in_round_robin->idle);
        order->idle_count--;
        subscription->idle = false;
    } else {
        tree_remove(&order->tree, &subscription->in_round_robin->tree, round_robin_before);
    }
}

void round_robin_init(struct session *session)
{
    if (takes_turns(session)) {
        list_init(&session->round_robin->idle);
    }
}

// From the middle of the range, turns of new subscriptions fall, and turns of served ones rise.
static void round_robin_draw(struct subscription *subscription, bool served)
{
    uint64_t turn = ++subscription->session->broker->next.turn;

    subscription->turn =
        SUBSCRIPTION_TURN_MAX & (SUBSCRIPTION_TURN_MAX / 2 + (served ? turn : 0 - turn));
    round_robin_insert(subscription);
}

void round_robin_to_back(struct subscription *subscription)
{
    if (takes_turns(subscription->session)) {
        round_robin_remove(subscription);
        round_robin_draw(subscription, true);
    }
}

void round_robin_set_idle(struct subscription *subscription)
{
    struct round_robin *order = subscription->session->round_robin;

    if (takes_turns(subscription->session)) {
        round_robin_remove(subscription);
        subscription->idle = true;
        list_append(&order->idle, &subscription->in_round_robin->idle);
        order->idle_count++;
    }
}

static void round_robin_wake(struct subscription *subscription)
{
    round_robin_remove(subscription);
    round_robin_insert(subscription);
}

static size_t round_robin_wake_all(struct round_robin *order)
{
    size_t count = order->idle_count;

    while (!list_empty(&order->idle)) {
        round_robin_wake(list_item(list_first(&order->idle), struct subscription, in_round_robin));
    }
    return count;
}

size_t round_robin_wake_opened(struct session *session)
{
    const struct broker *broker = session->broker;
    struct list_node *node = broker->open.in_order.prev;
    size_t looks = 0;

    if (!takes_turns(session)) {
        return 0;
    }
    for (; session->round_robin->idle_count > 0 && node != &broker->open.in_order;
         node = node->prev) {
        const struct queue *queue = list_item(node, struct queue, opening);
        struct subscription *subscription;

        if (queue->opened <= session->round_robin->seen) {
            break;
        }
        if (looks++ > session->round_robin->idle_count) {
            looks += round_robin_wake_all(session->round_robin);
            break;
        }
        subscription = session_find(session, queue);
        if (subscription && subscription->idle) {
            round_robin_wake(subscription);
        }
    }
    session->round_robin->seen = broker->open.last;
    return looks;
}

struct subscription *round_robin_next(const struct session *session,
                                      const struct subscription *after)
{
    const struct tree *tree = &session->round_robin->tree;
    const struct tree_node *node =
        after ? tree_after(tree, &after->in_round_robin->tree, round_robin_before)
              : tree_first(tree);

    return node ? in_round_robin(node) : NULL;
}

//
// Beginning and ending subscriptions
//

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
        tree_insert(&session->by_queue, &subscription->by_queue, subscription_queue_before);
        if (takes_turns(session)) {
            round_robin_draw(subscription, false);
        }
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
    if (takes_turns(session)) {
        round_robin_remove(subscription);
    }
    tree_remove(&session->by_queue, &subscription->by_queue, subscription_queue_before);
    session->subscriptions--;
    queue->subscriptions--;
    slab_free(&session->broker->slab, subscription, subscription_size(session));
}
