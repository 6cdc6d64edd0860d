/* SPDX-License-Identifier: MIT */
#include "core/record_private.h"

#include "core/job_private.h"

bool record_ask(struct broker *broker, enum record_kind kind, const struct job *job)
{
    const struct record record = {
        .kind = kind,
        .was_buried = job->state == JOB_BURIED,
        .job = job,
        .queue = queue_at(broker, job),
    };

    return broker->store.recorder->has_space(broker->store.context, &record);
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
    uint64_t position = broker->store.recorder->append(broker->store.context, &record);

    broker_await_position(broker, position);
    return position;
}

bool record_move_has_space(struct broker *broker, const struct job *job, const struct queue *to,
                           const struct dead_letter *past)
{
    const struct record record = {
        .kind = RECORD_MOVE,
        .was_buried = job->state == JOB_BURIED,
        .job = job,
        .queue = to,
        .dead_letter = past,
    };

    return !job_is_recorded(broker, job) ||
           broker->store.recorder->has_space(broker->store.context, &record);
}

uint64_t record_move_append(struct broker *broker, const struct job *job, const struct queue *from,
                            size_t was_len)
{
    struct dead_letter past;
    const struct record record = {
        .kind = RECORD_MOVE,
        .was_buried = job->state == JOB_BURIED,
        .job = job,
        .queue = from,
        .dead_letter = &past,
        .was_len = was_len,
    };
    uint64_t position;

    if (!job_is_recorded(broker, job)) {
        return 0;
    }
    (void)job_dead_letter(broker, job, &past);
    position = broker->store.recorder->append(broker->store.context, &record);
    broker_await_position(broker, position);
    return position;
}

uint64_t broker_position(const struct broker *broker)
{
    return broker->store.position;
}

uint64_t broker_job_position(const struct broker *broker, const struct job *job)
{
    return broker->store.recorder ? broker->store.recorder->position(broker->store.context, job)
                                  : 0;
}

bool broker_store_info(const struct broker *broker, struct store_info *info)
{
    *info = (struct store_info){0};
    if (!broker->store.recorder) {
        return false;
    }
    broker->store.recorder->info(broker->store.context, info);
    return true;
}

bool record_memo_has_space(struct broker *broker, enum record_kind kind, const struct memo *memo)
{
    const struct record record = {.kind = kind, .memo = memo};

    return !broker->store.recorder ||
           broker->store.recorder->has_space(broker->store.context, &record);
}

void record_memo_append(struct broker *broker, enum record_kind kind, const struct memo *memo)
{
    const struct record record = {.kind = kind, .memo = memo};

    if (broker->store.recorder) {
        broker_await_position(broker,
                              broker->store.recorder->append(broker->store.context, &record));
    }
}

bool record_pause_has_space(struct broker *broker, const struct queue *queue)
{
    const struct record record = {.kind = RECORD_PAUSE, .queue = queue};

    return !broker->store.recorder ||
           broker->store.recorder->has_space(broker->store.context, &record);
}

uint64_t record_pause_append(struct broker *broker, const struct queue *queue)
{
    const struct record record = {.kind = RECORD_PAUSE, .queue = queue};

    return broker->store.recorder ? broker->store.recorder->append(broker->store.context, &record)
                                  : 0;
}
