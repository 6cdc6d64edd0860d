/* SPDX-License-Identifier: MIT */
#include "core/record.h"

#include "core/broker_private.h"

bool record_room(struct broker *broker, enum record_kind kind, const struct job *job)
{
    const struct record record = {.kind = kind, .job = job, .queue = queue_at(broker, job)};

    return !broker->recorder || !job->durable || broker->recorder->room(broker->store, &record);
}

void record_append(struct broker *broker, enum record_kind kind, const struct job *job)
{
    const struct record record = {.kind = kind, .job = job, .queue = queue_at(broker, job)};

    if (broker->recorder && job->durable) {
        broker->recorder->append(broker->store, &record);
    }
}
