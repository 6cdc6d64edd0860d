/* SPDX-License-Identifier: MIT */
#include "core/check.h"

#include "core/broker_private.h"
#include "core/queue.h"
#include "core/watch.h"
#include "core/check_private.h"

// In order. Each node outranks those below it.
static void walk(const struct tree_node *node, struct tally *tally, check_visit visit_node,
                 void *context)
{
    if (!node) {
        return;
    }
    ENSURE(!node->left || tree_rank(node->left) < tree_rank(node));
    ENSURE(!node->right || tree_rank(node->right) < tree_rank(node));
    walk(node->left, tally, visit_node, context);
    visit_node(tally, node, context);
    walk(node->right, tally, visit_node, context);
}

void check_tree(const struct tree *tree, struct tally *tally, check_visit visit_node, void *context)
{
    const struct tree_node *first = tree->root;

    while (first && first->left) {
        first = first->left;
    }
    ENSURE(tree->first == first);
    walk(tree->root, tally, visit_node, context);
}

size_t check_list(const struct list_node *list)
{
    size_t length = 0;

    list_each (node, list) {
        ENSURE(node->next->prev == node && node->prev->next == node);
        length++;
    }
    return length;
}

static void visit_moment(struct tally *tally, const struct tree_node *node, void *context)
{
    const struct moment *moment =
        container_of((struct tree_node *)(uintptr_t)node, struct moment, node);
    nsec_t *before = context;

    (void)tally;
    ENSURE(*before <= moment->at && moment->at != NSEC_NEVER);
    *before = moment->at;
}

struct count_moments {
    uint64_t count;
    nsec_t before;
};

static void visit_and_count(struct tally *tally, const struct tree_node *node, void *context)
{
    struct count_moments *seen = context;

    visit_moment(tally, node, &seen->before);
    seen->count++;
}

static void check_moments(struct tally *tally, const struct tree *tree, uint64_t expected)
{
    struct count_moments seen = {0, INT64_MIN};

    check_tree(tree, tally, visit_and_count, &seen);
    ENSURE(seen.count == expected);
}

static void check_totals(const struct tally *tally)
{
    const struct broker *broker = tally->broker;
    uint64_t live = 0;

    for (unsigned state = 0; state < JOB_STATES; state++) {
        ENSURE(broker->count.jobs[state] == tally->jobs[state]);
        live += tally->jobs[state];
    }
    for (unsigned band = 0; band < BAND_COUNT; band++) {
        ENSURE(broker->count.ready_in[band] == tally->ready_in[band]);
    }
    ENSURE(id_map_count(&broker->index.jobs_by_id) == live);
    ENSURE(hash_count(&broker->index.jobs_by_key) == tally->keyed - tally->firsts);
    ENSURE(hash_count(&broker->index.jobs_by_name) == tally->firsts);
    ENSURE(tally->ringed == tally->named);
    ENSURE(hash_count(&broker->index.pasts) == tally->noted);
    ENSURE(hash_count(&broker->index.queues_by_name) == tally->queues);
    ENSURE(broker->count.queues == tally->queues);
    ENSURE(broker->count.sessions == tally->open_sessions);
    ENSURE(broker->count.waiting == tally->waiting);
    ENSURE(broker->count.producers == tally->producers);
    ENSURE(broker->count.workers == tally->workers);
    ENSURE(tally->bytes == 0);
    ENSURE(tally->subscriptions == 0); // those of queues less those of sessions
}

// Those of jobs that are gone have nothing but their place in this list.
static void check_interests(const struct broker *broker)
{
    uint64_t untold = 0;

    (void)check_list(&broker->telling.interests);
    list_each (node, &broker->telling.interests) {
        const struct interest *interest = list_item(node, struct interest, in_broker);

        ENSURE(interest->broker == broker && interest->untold > 0);
        ENSURE(interest->untold == check_list(&interest->events));
        ENSURE(interest->job || list_linked(&interest->final.in_interest));
        untold += interest->untold;
    }
    ENSURE(untold == broker->telling.untold);
}

void broker_check(const struct broker *broker)
{
    struct tally tally = {.broker = broker};
    const struct queue *queue;
    const struct session *session;
    uint32_t cursor = 0;

    while ((queue = table_next(&broker->index.queues, &cursor))) {
        if (queue->gone) {
            tally.gone++;
        } else {
            check_queue(&tally, queue);
        }
    }
    cursor = 0;
    while ((session = table_next(&broker->index.sessions, &cursor))) {
        check_session(&tally, session);
    }
    check_moments(&tally, &broker->timers.delays[CLOCK_MONO], tally.moments[CLOCK_MONO]);
    check_moments(&tally, &broker->timers.delays[CLOCK_WALL], tally.moments[CLOCK_WALL]);
    check_moments(&tally, &broker->timers.pauses, tally.pauses);
    check_moments(&tally, &broker->timers.gates, tally.gates);
    check_moments(&tally, &broker->timers.expiries, tally.expiries);
    ENSURE(broker->gates.weights == tally.weights);
    check_weights(&tally);
    ENSURE(broker->gates.expiring == tally.expiring);
    ENSURE(tally.paused == broker->paused.count &&
           tally.paused == check_list(&broker->paused.by_record));
    check_moments(&tally, &broker->timers.sessions, tally.alarms);
    check_open_queues(&tally);
    ENSURE(list_empty(&broker->matching.to_serve));
    ENSURE(check_list(&broker->matching.relinking) == tally.relinking);
    check_interests(broker);
    check_rolls(&tally);
    check_memos(&tally);
    check_moments(&tally, &broker->memos.ends, tally.memo_ends);
    check_totals(&tally);
}
