/* SPDX-License-Identifier: MIT */

// Keys: what makes a second submission of the same thing join the first. A job is in this index
// while it is live and not buried. The bytes of a content key are the job's own body.

#include "core/broker_private.h"

uint64_t key_hash_of(const struct hash_node *node)
{
    return container_of((struct hash_node *)(uintptr_t)node, struct job_extra, by_key)->key_hash;
}

struct slice job_key(const struct job *job)
{
    const struct job_extra *extra = job->extra;

    if (!extra || extra->key_kind == KEY_NONE) {
        return slice_of(NULL, 0);
    }
    return extra->key_kind == KEY_CONTENT ? job_body(job) : slice_of(extra->names, extra->key_len);
}

static uint64_t key_hash(const struct broker *broker, const struct queue *queue, enum key_kind kind,
                         struct slice key)
{
    uint64_t secret = broker->secret ^ hash_mix(queue->name_hash + kind);

    return hash_bytes(key.ptr, key.len, secret);
}

struct job *key_find(const struct broker *broker, const struct queue *queue, enum key_kind kind,
                     struct slice key, uint64_t *hash)
{
    struct hash_node *node;

    *hash = key_hash(broker, queue, kind, key);
    for (node = hash_first(&broker->jobs_by_key, *hash); node; node = node->next) {
        struct job_extra *extra = container_of(node, struct job_extra, by_key);

        if (extra->key_hash == *hash && extra->key_kind == kind &&
            extra->job->queue == queue->place && slice_equal(job_key(extra->job), key)) {
            return extra->job;
        }
    }
    return NULL;
}

void key_claim(struct broker *broker, struct job *job)
{
    struct job_extra *extra = job->extra;
    struct slice key = job_key(job);

    if (!extra || extra->keyed || key.len == 0 ||
        key_find(broker, queue_at(broker, job), (enum key_kind)extra->key_kind, key,
                 &extra->key_hash)) {
        return;
    }
    hash_insert(&broker->jobs_by_key, &extra->by_key);
    extra->keyed = true;
}

void key_yield(struct broker *broker, struct job *job)
{
    if (job->extra && job->extra->keyed) {
        hash_remove(&broker->jobs_by_key, &job->extra->by_key);
        job->extra->keyed = false;
    }
}

const struct job *broker_find_key(const struct broker *broker, const struct queue *queue,
                                  struct slice key)
{
    uint64_t hash;

    return key_find(broker, queue, KEY_NAME, key, &hash);
}
