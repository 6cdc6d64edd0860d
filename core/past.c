/* SPDX-License-Identifier: MIT */
#include "core/past_private.h"

#include "core/broker_private.h"
#include "core/job.h"

struct past {
    struct hash_node by_job;
    const struct job *job;
    uint64_t at_ms;
    uint16_t attempts;
    uint16_t queue_len;
    uint8_t why; // enum dead_why
    char queue[];
};

static struct past *past_of_node(const struct hash_node *node)
{
    return container_of((struct hash_node *)(uintptr_t)node, struct past, by_job);
}

static size_t past_size(size_t queue_len)
{
    return offsetof(struct past, queue) + queue_len;
}

uint64_t past_hash_of(const struct hash_node *node)
{
    return hash_mix(past_of_node(node)->job->id);
}

static struct past *find(const struct broker *broker, const struct job *job)
{
    struct hash_node *node =
        job->noted ? hash_first(&broker->index.pasts, hash_mix(job->id)) : NULL;

    while (node && past_of_node(node)->job != job) {
        node = node->next;
    }
    return node ? past_of_node(node) : NULL;
}

bool past_note(struct broker *broker, struct job *job, const struct job_past *past)
{
    struct past *noted = hash_make_room(&broker->index.pasts)
                             ? slab_alloc(&broker->slab, past_size(past->queue.len))
                             : NULL;

    if (!noted) {
        return false;
    }
    past_forget(broker, job);
    noted->job = job;
    noted->at_ms = past->at_ms;
    noted->attempts = past->attempts;
    noted->queue_len = (uint16_t)past->queue.len;
    noted->why = (uint8_t)past->why;
    memcpy(noted->queue, past->queue.ptr, past->queue.len);
    hash_insert(&broker->index.pasts, &noted->by_job);
    job->noted = true;
    return true;
}

APART void past_forget(struct broker *broker, struct job *job)
{
    struct past *noted = find(broker, job);

    if (noted) {
        hash_remove(&broker->index.pasts, &noted->by_job);
        slab_free(&broker->slab, noted, past_size(noted->queue_len));
        job->noted = false;
    }
}

bool job_past(const struct broker *broker, const struct job *job, struct job_past *past)
{
    const struct past *noted = find(broker, job);

    *past = (struct job_past){.why = DEAD_NOT};
    if (noted) {
        *past = (struct job_past){
            .queue = slice_of(noted->queue, noted->queue_len),
            .why = (enum dead_why)noted->why,
            .attempts = noted->attempts,
            .at_ms = noted->at_ms,
        };
    }
    return noted != NULL;
}

const char *dead_why_word(enum dead_why why)
{
    switch (why) {
    case DEAD_NOT:
        return "";
    case DEAD_ATTEMPTS:
        return "attempts";
    case DEAD_FAILED:
        return "failed";
    case DEAD_EXCEPTION:
        return "exception";
    case DEAD_EXPIRED:
        return "expired";
    }
    UNREACHABLE();
}
