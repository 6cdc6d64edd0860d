/* SPDX-License-Identifier: MIT */
#include "core/record.h"

#include "core/broker_private.h"

bool record_ask(struct broker *broker, enum record_kind kind, const struct job *job)
{
    const struct record record = {
        .kind = kind,
        .was_buried = job->state == JOB_BURIED,
        .job = job,
        .queue = queue_at(broker, job),
    };

    return broker->recorder->room(broker->store, &record);
}

uint64_t record_tell(struct broker *broker, enum record_kind kind, const struct job *job,
                     bool was_buried)
{
    const struct record record = {
        .kind = kind,
        .was_buried = was_buried,
        .job = job,
        .queue = queue_at(broker, job),
    };
    uint64_t position = broker->recorder->append(broker->store, &record);

    broker_raise(broker, position);
    return position;
}

uint64_t broker_next_id(const struct broker *broker)
{
    return broker->next_id;
}

uint64_t broker_position(const struct broker *broker)
{
    return broker->position;
}

uint64_t broker_job_position(const struct broker *broker, const struct job *job)
{
    return broker->recorder ? broker->recorder->position(broker->store, job) : 0;
}

bool broker_store_info(const struct broker *broker, struct store_info *info)
{
    *info = (struct store_info){0};
    if (!broker->recorder) {
        return false;
    }
    broker->recorder->info(broker->store, info);
    return true;
}

uint32_t job_mark(const struct job *job)
{
    return job->mark;
}

void job_set_mark(const struct job *job, uint32_t mark)
{
    ((struct job *)(uintptr_t)job)->mark = mark;
}

uint32_t queue_mark(const struct queue *queue)
{
    return queue->mark;
}

void queue_set_mark(struct broker *broker, const struct queue *queue, uint32_t mark)
{
    struct queue *marked = (struct queue *)(uintptr_t)queue;

    marked->mark = mark;
    if (list_linked(&marked->recorded)) {
        list_remove(&marked->recorded);
        list_append(&broker->recorded, &marked->recorded);
    }
}

const struct queue *broker_pause_oldest(const struct broker *broker)
{
    struct list_node *node = list_first(&broker->recorded);

    return node ? list_item(node, struct queue, recorded) : NULL;
}

void broker_pauses(const struct broker *broker, uint64_t *count, uint64_t *names)
{
    *count = broker->paused;
    *names = broker->paused_names;
}
