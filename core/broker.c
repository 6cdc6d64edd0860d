/* SPDX-License-Identifier: MIT */
#include "core/broker.h"

#include "core/dead_letter_private.h"
#include "core/expiry.h"
#include "core/key.h"
#include "core/outcome.h"
#include "core/rate_memo.h"
#include "core/watch.h"

#include <stdlib.h>

struct broker *broker_new(const struct broker_options *options, struct instant now)
{
    struct broker *broker = calloc(1, sizeof *broker);

    if (!broker) {
        return NULL;
    }
    broker->now = now;
    calendar_begin(broker);
    broker->store.recorder = options->recorder;
    broker->store.context = options->store;
    broker->key = options->key;
    broker->next.id = options->first_id ? options->first_id : 1;
    broker->next.seq = 1;
    broker->next.session = 1;
    broker->next.burial = 1;
    slab_init(&broker->slab);
    broker->slab.kind = MEMORY_JOBS;
    id_map_init(&broker->index.jobs_by_id, &broker->slab, options->secret);
    hash_init(&broker->index.jobs_by_key, key_hash_of);
    hash_init(&broker->index.jobs_by_name, name_hash_of);
    hash_init(&broker->index.dead_letters, dead_letter_hash_of);
    hash_init(&broker->index.queues_by_name, queue_hash_of);
    table_init(&broker->index.queues);
    table_init(&broker->index.sessions);
    list_init(&broker->open.in_order);
    list_init(&broker->matching.nudging);
    list_init(&broker->matching.to_serve);
    list_init(&broker->matching.relinking);
    list_init(&broker->telling.sessions);
    list_init(&broker->telling.interests);
    list_init(&broker->closing);
    list_init(&broker->restoring.names);
    list_init(&broker->restoring.idle);
    broker->restoring.ended_at = -EXPIRY_SPARED_FOR;
    list_init(&broker->paused.by_record);
    policies_init(&broker->policies);
    memos_init(&broker->memos);
    queue_snapshots_init(broker);
    return broker;
}

// Any job of the queue that no session holds; NULL if it has none.
static struct job *queue_any_job(const struct broker *broker, const struct queue *queue)
{
    struct tree_node *node = tree_first(&queue->ready);

    for (unsigned clock = 0; clock < CLOCKS && !node; clock++) {
        node = tree_first(&queue->delayed[clock]);
    }
    if (!node && broker->restoring.active) {
        node = tree_first(&queue->returning);
    } else if (!node && !list_empty(&queue->buried)) {
        return job_in_list(list_first(&queue->buried));
    }
    return job_in_tree(node);
}

static void queue_free_with_jobs(struct broker *broker, struct queue *queue)
{
    struct job *job;

    queue->holders++;
    while ((job = queue_any_job(broker, queue))) {
        if (job_interest(job)) {
            // No watch is left: all sessions are closed.
            interest_free(job->extra->interest);
            job->extra->interest = NULL;
        }
        job_end(broker, job);
    }
    queue_forget_pause(broker, queue);
    queue_free(broker, queue);
}

void broker_free(struct broker *broker)
{
    uint32_t cursor = 0;
    struct queue *queue;

    if (!broker) {
        return;
    }
    ENSURE(broker->count.sessions == 0);
    broker_dismantle(broker);
    while (!list_empty(&broker->telling.interests)) {
        unsigned budget = BROKER_SLICE;

        interest_tell_all(broker, &budget);
    }
    while (!list_empty(&broker->snapshots.to_sort)) {
        queue_snapshots_sort(broker);
    }
    while ((queue = table_next(&broker->index.queues, &cursor))) {
        queue_free_with_jobs(broker, queue);
    }
    while (broker->gates.dropped) {
        unsigned budget = BROKER_SLICE;

        expiry_free_dropped(broker, &budget);
    }
    policies_clear(broker);
    memo_index_clear(broker);
    id_map_clear(&broker->index.jobs_by_id);
    hash_clear(&broker->index.jobs_by_key);
    hash_clear(&broker->index.jobs_by_name);
    hash_clear(&broker->index.dead_letters);
    hash_clear(&broker->index.queues_by_name);
    table_clear(&broker->index.queues);
    table_clear(&broker->index.sessions);
    slab_clear(&broker->slab);
    free(broker);
}

void broker_set_nudges(struct broker *broker, uint32_t nudges)
{
    broker->matching.nudges_each = nudges;
}

void broker_drain(struct broker *broker)
{
    broker->draining = true;
}

void broker_end_drain(struct broker *broker)
{
    broker->draining = false;
}

void broker_retire(struct broker *broker)
{
    if (!broker->retired) {
        rate_memo_retire(broker);
    }
    broker->retired = true;
}
