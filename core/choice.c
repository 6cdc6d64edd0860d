/* SPDX-License-Identifier: MIT */

// Which job a session takes, where it takes from several queues.
//
// Two ways lead to it, and a search goes both at once, a step of each in turn, until one of them
// knows the answer: it costs twice what the shorter one would.
//
// The first way goes through all open queues, best first. They stand in a tree, each under a bound
// that its best job does not go before. A job that leaves makes the bound only too low, so that
// nothing is done for it; the search that comes across such a bound raises it, which at least one
// job that was taken has paid for. Where the session takes the oldest job, this way ends at the
// first of its queues that stands under a true bound.
//
// The second way goes through the session's subscriptions: where it chooses in turn, as they are to
// be served (rota.c). The other way shows how low a priority number can still be: the first
// subscription that has it is the one.

#include "core/choice.h"

#include "core/weigh.h"
#include "core/charge.h"
#include "core/expiry.h"
#include "core/gate.h"
#include "core/subscription.h"
#include "core/job_private.h"
#include "core/queue_private.h"
#include "core/session_private.h"

struct search {
    const struct session *session;
    struct subscription *next; // to be looked at, NULL after the last
    struct bound *bound;       // of the open queue to be looked at next, NULL after the last
    uint64_t turn;             // in turn: of the last subscription looked at
    size_t cost;               // how many have been looked at
    struct job *best;          // of those
    struct subscription *by;
    bool weighs; // queues with a weight are left to weigh.h
};

static bool passes_over(const struct search *search, const struct queue *queue)
{
    return search->weighs && queue->gate && queue->gate->weight > 0;
}

static bool better(const struct search *search, const struct job *job,
                   const struct subscription *by)
{
    if (!search->best || job->pri != search->best->pri) {
        return !search->best || job->pri < search->best->pri;
    }
    return search->session->choice == CHOICE_IN_TURN ? by->turn < search->by->turn
                                                     : job->seq < search->best->seq;
}

static void consider(struct search *search, struct job *job, struct subscription *by)
{
    if (better(search, job, by)) {
        search->best = job;
        search->by = by;
    }
}

// Can nothing better come? What has not been looked at on the first way goes after `bound`.
static bool settled(const struct search *search)
{
    const struct bound *bound = search->bound;
    const struct job *best = search->best;

    if (!bound || !search->next) {
        return true;
    }
    if (!best || best->pri != bound->pri) {
        return best && best->pri < bound->pri;
    }
    return search->session->choice == CHOICE_IN_TURN ? search->by->turn <= search->turn
                                                     : best->seq <= bound->seq;
}

// In the order in which they were made, or whose turn it is; the first for NULL.
static struct subscription *next_subscription(const struct session *session,
                                              const struct subscription *after)
{
    const struct list_node *node;

    if (session->choice == CHOICE_IN_TURN) {
        return round_robin_next(session, after);
    }
    node = after ? after->in_session.next : session->subscribed.next;
    return node == &session->subscribed
               ? NULL
               : list_item((struct list_node *)(uintptr_t)node, struct subscription, in_session);
}

static void look_at_subscription(struct search *search)
{
    struct subscription *by = search->next;
    const struct queue *queue = subscription_queue(by);

    search->next = next_subscription(search->session, by);
    search->turn = by->turn;
    search->cost++;
    if (!queue_open(queue)) {
        round_robin_set_idle(by);
    } else if (!by->barred && !passes_over(search, queue)) {
        consider(search, job_in_tree(tree_first(&queue->ready)), by);
    }
}

static void look_at_open_queue(struct search *search)
{
    struct broker *broker = search->session->broker;
    struct queue *queue = bound_queue(search->bound);
    struct job *best = job_in_tree(tree_first(&queue->ready));
    const struct bound here = {.pri = search->bound->pri, .seq = search->bound->seq};
    struct subscription *by;

    search->cost++;
    if (best->pri != here.pri || best->seq != here.seq) {
        // It stands too low, and is looked at again where it belongs.
        open_queue_set_bound(broker, search->bound, best);
    } else {
        by = session_find(search->session, queue);
        if (by && !by->barred) {
            consider(search, best, by);
        }
    }
    search->bound = open_queues_after(broker, &here, !search->weighs);
}

// There is nothing to choose.
static struct job *best_of_one(struct session *session, struct subscription **by)
{
    struct subscription *only =
        list_item(list_first(&session->subscribed), struct subscription, in_session);
    const struct queue *queue = subscription_queue(only);

    *by = only;
    return queue->closed || only->barred ? NULL : job_in_tree(tree_first(&queue->ready));
}

// APART is worth 1 % of a background job, by tests/budget.
static APART struct job *best_of_many(struct session *session, struct subscription **by)
{
    struct search search = {
        .session = session,
        .weighs = session->choice == CHOICE_OLDEST && session->broker->gates.weights > 0,
    };

    search.cost = round_robin_bring_back(session);
    search.bound = open_queues_first(session->broker, !search.weighs);
    search.next = next_subscription(session, NULL);
    while (!settled(&search)) {
        look_at_subscription(&search);
        if (!settled(&search)) {
            look_at_open_queue(&search);
        }
    }
    charge_links(session->broker, search.cost);
    *by = search.by;
    return search.weighs ? weigh(session, search.best, by) : search.best;
}

struct job *choice_best_or_over(struct session *session, struct subscription **by)
{
    return session->subscriptions == 1 ? best_of_one(session, by) : best_of_many(session, by);
}

static APART struct job *choose_fresh(struct session *session, struct subscription **by)
{
    struct job *best = choice_best_or_over(session, by);

    while (best && expiry_hold(session->broker, subscription_queue(*by))) {
        charge_links(session->broker, 1);
        best = choice_best_or_over(session, by);
    }
    return best;
}

struct job *choice_best(struct session *session, struct subscription **by)
{
    return session->broker->gates.expiring > 0 ? choose_fresh(session, by)
                                               : choice_best_or_over(session, by);
}
