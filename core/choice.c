/* SPDX-License-Identifier: MIT */

// Which job a session takes, if it is subscribed to several queues.
//
// Two ways lead to the best job. A search follows both at once, a step of each in turn, until one
// of them knows the answer, so that it costs twice as much as the shorter one.
//
// The first way goes through all open queues, best first. They stand in a tree, each under a bound
// that is not above the place of its best job. If a job leaves its queue, the bound becomes too
// low, and stays so; a search that meets such a bound raises it, and at least one taken job has
// paid for that. If the session takes the oldest job, this way ends at the first of the session's
// queues whose bound is exact.
//
// The second way goes through the subscriptions of the session; if the session takes from its
// queues in turn, in the order in which they are to be served. The first way shows how low a
// priority number can still be: the first subscription that has that number is the best one.
//
// Shares. Among queues with a weight whose best jobs have the same priority, sessions that take the
// oldest job choose by shares (stride scheduling). Each such queue has a tag, a virtual time: a
// take puts it off by the inverse of the weight, and the queue with the lowest tag is next. While
// all of them have jobs, no tag is further ahead of another than one take of its queue. A queue
// that is further behind was empty, closed or had other priorities for a while: it is served next,
// the one that is furthest behind first, and its tag then counts from where the others are, so that
// turns are not saved up. Queues without a weight share one tag and the weight 1, and among them
// the oldest job goes first.

#include "core/match.h"

#include "core/charge.h"
#include "core/expiry.h"
#include "core/gate.h"
#include "core/subscription.h"

//
// Shares
//

// What a search knows of the queues with a weight that the session may take from now, and whose
// best jobs have the lowest priority number among them.
struct weight_choice {
    struct subscription *by; // to the queue with the lowest tag; NULL: there is none
    bool several;            // there is more than one such queue
    uint64_t began;          // of the last turn that one of them had
};

// Where the first of two ways stands: it goes through all gates with a weight, lowest tags first,
// until two of them are of the session's queues, then the latest turns first, until one is.
struct weight_walk {
    const struct gate *gate; // the next one, NULL after the last
    bool latest;             // the walk goes by latest turns
    struct weight_choice found;
};

static struct gate *weight_gate_of(const struct subscription *by)
{
    return subscription_queue(by)->gate;
}

// True: the walk has its answer.
static bool weight_step_gate(const struct session *session, struct weight_walk *walk)
{
    const struct gate *gate = walk->gate;
    struct weight_choice *found = &walk->found;
    struct subscription *by;

    if (!gate || (!walk->latest && found->by && gate->pri > weight_gate_of(found->by)->pri)) {
        return true;
    }
    by = session_find(session, gate->queue);
    if (!by || by->barred) {
        walk->gate = walk->latest ? gates_by_began(session->broker, gate, gate->pri)
                                  : gates_by_tag(session->broker, gate);
        return false;
    }
    if (walk->latest) {
        found->began = gate_began(gate->tag, gate->weight);
        return true;
    }
    if (!found->by) {
        found->by = by;
        found->began = gate_began(gate->tag, gate->weight);
        walk->gate = gates_by_tag(session->broker, gate);
        return false;
    }
    found->several = true;
    walk->latest = true;
    walk->gate = gates_by_began(session->broker, NULL, gate->pri);
    return false;
}

// The second way goes through all subscriptions of the session.
static void weight_step_subscription(struct weight_choice *found, struct subscription *by)
{
    const struct gate *gate = weight_gate_of(by);
    const struct gate *best = found->by ? weight_gate_of(found->by) : NULL;
    uint64_t began;

    if (!gate || !gate->weighing || by->barred || (best && best->pri < gate->pri)) {
        return;
    }
    began = gate_began(gate->tag, gate->weight);
    if (!best || gate->pri < best->pri) {
        *found = (struct weight_choice){.by = by, .began = began};
        return;
    }
    found->several = true;
    found->began = began > found->began ? began : found->began;
    if (gate->tag < best->tag || (gate->tag == best->tag && gate->seq < best->seq)) {
        found->by = by;
    }
}

static struct weight_choice weight_search(struct session *session)
{
    struct weight_walk walk = {.gate = gates_by_tag(session->broker, NULL)};
    struct weight_choice own = {.by = NULL};
    size_t steps = 0;

    list_each (node, &session->subscribed) {
        steps++;
        if (weight_step_gate(session, &walk)) {
            own = walk.found;
            break;
        }
        weight_step_subscription(&own, list_item(node, struct subscription, in_session));
    }
    charge_links(session->broker, steps);
    return own;
}

// The better of `oldest` (by `*by`), the best job of the queues without a weight, which may be
// NULL, and the best job of those with a weight.
static struct job *weight_choose(struct session *session, struct job *oldest,
                                 struct subscription **by)
{
    struct gates *gates = &session->broker->gates;
    struct weight_choice found = weight_search(session);
    const struct gate *gate = found.by ? weight_gate_of(found.by) : NULL;
    bool both = gate && oldest && gate->pri == oldest->pri;
    uint64_t others_began = gate_began(gates->others, 1);
    struct job *best = oldest;
    uint64_t tag = gates->others;

    if (both) {
        found.several = true;
        found.began = others_began > found.began ? others_began : found.began;
    }
    if (gate && (!oldest || gate->pri < oldest->pri ||
                 (both && (gate->tag < gates->others ||
                           (gate->tag == gates->others && gate->seq < oldest->seq))))) {
        best = job_in_tree(tree_first(&gate->queue->ready));
        tag = gate->tag;
        *by = found.by;
    } else if (gate && !both) {
        found.several = false; // the queues with a weight have jobs of lower priority
    }
    gates->weighed = best && found.several ? best->id : 0;
    gates->weighed_tag = tag > found.began ? tag : found.began;
    return best;
}

void choice_taken(const struct subscription *by, const struct job *job)
{
    const struct session *session = by->session;
    struct queue *queue = subscription_queue(by);
    bool weighs = queue->gate && queue->gate->weight > 0;
    struct gates *gates = &session->broker->gates;
    uint64_t tag = gates->weighed_tag + GATE_STRIDE / (weighs ? queue->gate->weight : 1);

    // Such sessions choose without weights: `gates->weighed` is of an earlier choice.
    if (session->choice != CHOICE_OLDEST || session->subscriptions == 1 ||
        gates->weighed != job->id) {
        return;
    }
    gates->weighed = 0;
    if (weighs) {
        gate_set_tag(session->broker, queue, tag);
    } else {
        gates->others = tag;
    }
}

//
// The best job
//

struct choice_search {
    const struct session *session;
    struct subscription *next; // the next step of the second way; NULL after the last
    struct bound *bound;       // of the open queue of the next step of the first way; NULL after
                               // the last
    uint64_t turn;             // in turn: of the last step of the second way
    size_t cost;               // steps so far
    struct job *best;          // so far
    struct subscription *by;
    bool weighs; // queues with a weight are left to weight_choose()
};

static void choice_consider(struct choice_search *search, struct job *job, struct subscription *by)
{
    const struct job *best = search->best;
    bool better = !best || job->pri < best->pri;

    if (best && job->pri == best->pri) {
        better = search->session->choice == CHOICE_IN_TURN ? by->turn < search->by->turn
                                                           : job->seq < best->seq;
    }
    if (better) {
        search->best = job;
        search->by = by;
    }
}

// Whether no better job can follow: all further queues of the first way come after `bound`.
static bool choice_is_final(const struct choice_search *search)
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

// In the order in which subscriptions were made, or in which their turns come; the first for NULL.
static struct subscription *choice_next_subscription(const struct session *session,
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

static void choice_step_subscription(struct choice_search *search)
{
    struct subscription *by = search->next;
    const struct queue *queue = subscription_queue(by);

    search->next = choice_next_subscription(search->session, by);
    search->turn = by->turn;
    search->cost++;
    if (!queue_open(queue)) {
        round_robin_set_idle(by);
    } else if (!by->barred && !(search->weighs && queue->gate && queue->gate->weight > 0)) {
        choice_consider(search, job_in_tree(tree_first(&queue->ready)), by);
    }
}

static void choice_step_open_queue(struct choice_search *search)
{
    struct broker *broker = search->session->broker;
    struct queue *queue = bound_queue(search->bound);
    struct job *best = job_in_tree(tree_first(&queue->ready));
    const struct bound here = {.pri = search->bound->pri, .seq = search->bound->seq};
    struct subscription *by;

    search->cost++;
    if (best->pri != here.pri || best->seq != here.seq) {
        // The bound is too low: the search meets the queue again at its right place.
        open_queue_set_bound(broker, search->bound, best);
    } else {
        by = session_find(search->session, queue);
        if (by && !by->barred) {
            choice_consider(search, best, by);
        }
    }
    search->bound = open_queues_after(broker, &here, !search->weighs);
}

// APART is worth 1 % of a background job, by tests/budget.
static APART struct job *choice_of_many(struct session *session, struct subscription **by)
{
    struct choice_search search = {
        .session = session,
        .weighs = session->choice == CHOICE_OLDEST && session->broker->gates.weights > 0,
    };

    search.cost = round_robin_wake_opened(session);
    search.bound = open_queues_first(session->broker, !search.weighs);
    search.next = choice_next_subscription(session, NULL);
    while (!choice_is_final(&search)) {
        choice_step_subscription(&search);
        if (!choice_is_final(&search)) {
            choice_step_open_queue(&search);
        }
    }
    charge_links(session->broker, search.cost);
    *by = search.by;
    return search.weighs ? weight_choose(session, search.best, by) : search.best;
}

struct job *choice_best_or_expired(struct session *session, struct subscription **by)
{
    const struct queue *queue;

    if (session->subscriptions != 1) {
        return choice_of_many(session, by);
    }
    *by = list_item(list_first(&session->subscribed), struct subscription, in_session);
    queue = subscription_queue(*by);
    return queue->closed || (*by)->barred ? NULL : job_in_tree(tree_first(&queue->ready));
}

static APART struct job *choice_best_unexpired(struct session *session, struct subscription **by)
{
    struct job *best = choice_best_or_expired(session, by);

    while (best && expiry_hold(session->broker, subscription_queue(*by))) {
        charge_links(session->broker, 1);
        best = choice_best_or_expired(session, by);
    }
    return best;
}

struct job *choice_best(struct session *session, struct subscription **by)
{
    return session->broker->gates.expiring > 0 ? choice_best_unexpired(session, by)
                                               : choice_best_or_expired(session, by);
}
