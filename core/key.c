/* SPDX-License-Identifier: MIT */

// Keys: what makes a second submission of the same thing join the first. A job is in the index by
// key while it is live and not buried. The bytes of a content key are the job's own body.
//
// A name is looked for in its queue, and, by those who know no queue, in all. Each queue may have a
// job of that name: the index by name holds the one that has held it longest, and the others stand
// behind it in its ring, so that neither finding nor leaving depends on how many they are.

#include "core/broker_private.h"

static struct job_extra *extra_by_name(const struct hash_node *node)
{
    return job_of_namesake(
        container_of((struct hash_node *)(uintptr_t)node, struct namesake, by_name));
}

uint64_t key_hash_of(const struct hash_node *node)
{
    return container_of((struct hash_node *)(uintptr_t)node, struct job_extra, by_key)->key_hash;
}

uint64_t name_hash_of(const struct hash_node *node)
{
    return extra_by_name(node)->name_hash;
}

struct slice job_key(const struct job *job)
{
    const struct job_extra *extra = job->extra;

    if (!extra || extra->key_kind == KEY_NONE) {
        return slice_of(NULL, 0);
    }
    return extra->key_kind == KEY_CONTENT ? job_body(job) : slice_of(extra->names, extra->key_len);
}

static uint64_t hash_alone(const struct broker *broker, struct slice key)
{
    return hash_bytes(key.ptr, key.len, broker->secret);
}

struct job *key_find(const struct broker *broker, const struct queue *queue, enum key_kind kind,
                     struct slice key, struct key_hash *hash)
{
    struct hash_node *node;

    hash->alone = hash_alone(broker, key);
    hash->whole = hash_mix(hash->alone ^ hash_mix(queue->name_hash + kind));
    for (node = hash_first(&broker->jobs_by_key, hash->whole); node; node = node->next) {
        struct job_extra *extra = container_of(node, struct job_extra, by_key);

        if (extra->key_hash == hash->whole && extra->key_kind == kind &&
            extra->job->queue == queue->place && slice_equal(job_key(extra->job), key)) {
            return extra->job;
        }
    }
    return NULL;
}

// The first of those who hold the name; NULL for none.
static struct job_extra *first_of_name(const struct broker *broker, struct slice name,
                                       uint64_t alone)
{
    struct hash_node *node;

    for (node = hash_first(&broker->jobs_by_name, (uint32_t)alone); node; node = node->next) {
        struct job_extra *extra = extra_by_name(node);

        if (extra->name_hash == (uint32_t)alone && slice_equal(job_key(extra->job), name)) {
            return extra;
        }
    }
    return NULL;
}

static void join_namesakes(struct broker *broker, struct job_extra *extra, uint64_t alone)
{
    struct namesake *own = job_namesake(extra);
    struct job_extra *first = first_of_name(broker, job_key(extra->job), alone);

    extra->name_hash = (uint32_t)alone;
    extra->first = !first;
    if (first) {
        list_append(&job_namesake(first)->ring, &own->ring);
    } else {
        hash_insert(&broker->jobs_by_name, &own->by_name);
    }
}

static void leave_namesakes(struct broker *broker, struct job_extra *extra)
{
    struct namesake *own = job_namesake(extra);

    if (extra->first && list_linked(&own->ring)) {
        struct namesake *next = list_item(own->ring.next, struct namesake, ring);

        hash_replace(&broker->jobs_by_name, &own->by_name, &next->by_name);
        job_of_namesake(next)->first = true;
    } else if (extra->first) {
        hash_remove(&broker->jobs_by_name, &own->by_name);
    }
    extra->first = false;
    list_remove(&own->ring);
}

bool key_make_room(struct broker *broker)
{
    return hash_make_room(&broker->jobs_by_key) && hash_make_room(&broker->jobs_by_name);
}

void key_take(struct broker *broker, struct job *job, const struct key_hash *hash)
{
    struct job_extra *extra = job->extra;

    extra->key_hash = hash->whole;
    extra->keyed = true;
    hash_insert(&broker->jobs_by_key, &extra->by_key);
    if (extra->key_kind == KEY_NAME) {
        join_namesakes(broker, extra, hash->alone);
    }
}

void key_claim(struct broker *broker, struct job *job)
{
    struct job_extra *extra = job->extra;
    struct slice key = job_key(job);
    struct key_hash hash;

    if (extra && !extra->keyed && key.len > 0 &&
        !key_find(broker, queue_at(broker, job), (enum key_kind)extra->key_kind, key, &hash)) {
        key_take(broker, job, &hash);
    }
}

void key_yield(struct broker *broker, struct job *job)
{
    struct job_extra *extra = job->extra;

    if (!extra || !extra->keyed) {
        return;
    }
    hash_remove(&broker->jobs_by_key, &extra->by_key);
    extra->keyed = false;
    if (extra->key_kind == KEY_NAME) {
        leave_namesakes(broker, extra);
    }
}

const struct job *broker_find_key(const struct broker *broker, const struct queue *queue,
                                  struct slice key)
{
    struct key_hash hash;

    return key_find(broker, queue, KEY_NAME, key, &hash);
}

const struct job *broker_find_name(const struct broker *broker, struct slice key)
{
    const struct job_extra *first = NULL;

    if (key.len > 0) {
        first = first_of_name(broker, key, hash_alone(broker, key));
    }
    return first ? first->job : NULL;
}
