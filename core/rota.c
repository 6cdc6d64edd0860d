/* SPDX-License-Identifier: MIT */

// Whose turn it is: the subscriptions of a session that chooses in turn. A new one stands before
// all others, one that was served behind them. One whose queue turns out to have nothing keeps its
// turn but is idle, and passed over, so that a session with thousands of queues does not come
// across the same idle ones at every take.
//
// Nobody tells a session that a queue has opened, for very many may subscribe to it. The broker
// keeps open queues in the order in which they became open, and a session that is about to choose
// looks back to where it stopped the last time; where that takes longer than it would to bring all
// back, it does that instead.

#include "core/subscription.h"

#include "core/broker_private.h"
#include "core/queue_private.h"

static bool in_turn(const struct session *session)
{
    return session->choice == CHOICE_IN_TURN;
}

static struct subscription *in_round_robin(const struct tree_node *node)
{
    return container_of((struct tree_node *)(uintptr_t)node, struct subscription, in_round_robin);
}

static bool turn_before(const struct tree_node *a, const struct tree_node *b)
{
    return in_round_robin(a)->turn < in_round_robin(b)->turn;
}

static void put_in(struct subscription *subscription)
{
    tree_insert(&subscription->session->round_robin->tree, &subscription->in_round_robin->tree,
                turn_before);
}

static void take_out(struct subscription *subscription)
{
    struct round_robin *order = subscription->session->round_robin;

    if (subscription->idle) {
        list_remove(&subscription->in_round_robin->idle);
        order->idle_count--;
        subscription->idle = false;
    } else {
        tree_remove(&order->tree, &subscription->in_round_robin->tree, turn_before);
    }
}

void round_robin_init(struct session *session)
{
    if (in_turn(session)) {
        list_init(&session->round_robin->idle);
    }
}

// Turns of new subscriptions fall from the middle of their range, of served ones they rise from it.
static void draw_turn(struct subscription *subscription, bool served)
{
    uint64_t turn = ++subscription->session->broker->next.turn;

    subscription->turn =
        SUBSCRIPTION_TURN_MAX & (SUBSCRIPTION_TURN_MAX / 2 + (served ? turn : 0 - turn));
    put_in(subscription);
}

void round_robin_join(struct subscription *subscription)
{
    if (in_turn(subscription->session)) {
        draw_turn(subscription, false);
    }
}

void round_robin_leave(struct subscription *subscription)
{
    if (in_turn(subscription->session)) {
        take_out(subscription);
    }
}

void round_robin_to_back(struct subscription *subscription)
{
    if (in_turn(subscription->session)) {
        take_out(subscription);
        draw_turn(subscription, true);
    }
}

void round_robin_set_idle(struct subscription *subscription)
{
    struct round_robin *order = subscription->session->round_robin;

    if (in_turn(subscription->session)) {
        take_out(subscription);
        subscription->idle = true;
        list_append(&order->idle, &subscription->in_round_robin->idle);
        order->idle_count++;
    }
}

static void bring_back(struct subscription *subscription)
{
    take_out(subscription);
    put_in(subscription);
}

static size_t bring_all_back(struct round_robin *order)
{
    size_t count = order->idle_count;

    while (!list_empty(&order->idle)) {
        bring_back(list_item(list_first(&order->idle), struct subscription, in_round_robin));
    }
    return count;
}

size_t round_robin_bring_back(struct session *session)
{
    const struct broker *broker = session->broker;
    struct list_node *node = broker->open.in_order.prev;
    size_t looks = 0;

    if (!in_turn(session)) {
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
            looks += bring_all_back(session->round_robin);
            break;
        }
        subscription = session_find(session, queue);
        if (subscription && subscription->idle) {
            bring_back(subscription);
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
        after ? tree_after(tree, &after->in_round_robin->tree, turn_before) : tree_first(tree);

    return node ? in_round_robin(node) : NULL;
}
