/* SPDX-License-Identifier: MIT */

// Keys, by which a second submission joins the first job with the same key. A job holds its key
// while it is live and not buried. The bytes of a content key are the job's own body, or the digest
// in its blob.
//
// A name is looked up in a queue, or, by clients that know no queue, in all. Each queue may have a
// job of that name: the index by name has the one that has held it longest. The others form a ring
// behind it and are, like jobs with a content key, in the index by key, so that the cost of finding
// and leaving does not depend on their number. Nearly all names are held once: such a job is in the
// index by name alone.

#include "core/key.h"

#include "core/job_private.h"
#include "core/queue_private.h"

static struct job_extra *key_extra_of(const struct hash_node *node)
{
    return container_of((struct hash_node *)(uintptr_t)node, struct job_extra, by_key);
}

uint64_t key_hash_of(const struct hash_node *node)
{
    return key_extra_of(node)->key_hash;
}

uint64_t name_hash_of(const struct hash_node *node)
{
    return key_extra_of(node)->name_hash;
}

// The key of the body in `blob`, or, if that is NULL, of `body`. It borrows from them or from
// `room`. Hashes a long body whose digest is not known yet.
static struct job_key key_of_body(struct slice body, struct blob *blob, struct key_room *room)
{
    struct slice bytes = blob ? blob_slice(blob) : body;
    struct blake2b hash;

    if (bytes.len <= BLOB_DIGEST_ABOVE) {
        return (struct job_key){KEY_SPACE_BODIES, bytes};
    }
    if (blob) {
        return (struct job_key){KEY_SPACE_DIGESTS, blob_digest(blob)};
    }
    blake2b_init(&hash);
    blake2b_finish(&hash, bytes.ptr, bytes.len, room->digest);
    return (struct job_key){KEY_SPACE_DIGESTS,
                            slice_of((const char *)room->digest, sizeof room->digest)};
}

struct job_key job_key_from(enum key_kind kind, struct slice name, struct slice body,
                            struct blob *blob, struct key_room *room)
{
    switch (kind) {
    case KEY_NONE:
        break;
    case KEY_NAME:
        return (struct job_key){KEY_SPACE_NAMES, name};
    case KEY_CONTENT:
        return key_of_body(body, blob, room);
    }
    return (struct job_key){KEY_SPACE_NONE, {NULL, 0}};
}

bool job_has_key(const struct job *job)
{
    const struct job_extra *extra = job->extra;

    if (!extra || extra->key_kind == KEY_NONE) {
        return false;
    }
    return extra->key_kind == KEY_CONTENT ? job_body(job).len > 0 : extra->key_len > 0;
}

// A long body is a blob, which keeps its digest: it is not hashed twice.
struct job_key job_key(const struct job *job)
{
    const struct job_extra *extra = job->extra;

    if (!job_has_key(job)) {
        return (struct job_key){KEY_SPACE_NONE, {NULL, 0}};
    }
    return job_key_from((enum key_kind)extra->key_kind, slice_of(extra->names, extra->key_len),
                        job_body(job), job_blob(job), NULL);
}

static bool key_equal(struct job_key a, struct job_key b)
{
    return a.space == b.space && slice_equal(a.bytes, b.bytes);
}

static uint64_t key_hash_alone(const struct broker *broker, struct slice key)
{
    return siphash(&broker->key, key.ptr, key.len);
}

static uint64_t key_hash_whole(const struct queue *queue, enum key_space space, uint64_t alone)
{
    return hash_mix(alone ^ hash_mix(queue->name_hash + space));
}

// The first of the jobs that hold the name; NULL for none.
static struct job_extra *key_first_of_name(const struct broker *broker, struct slice name,
                                           uint64_t alone)
{
    struct hash_node *node;

    for (node = hash_first(&broker->index.jobs_by_name, (uint32_t)alone); node; node = node->next) {
        struct job_extra *extra = key_extra_of(node);

        if (extra->name_hash == (uint32_t)alone &&
            key_equal(job_key(extra->job), (struct job_key){KEY_SPACE_NAMES, name})) {
            return extra;
        }
    }
    return NULL;
}

static struct job *key_find_in_queue(const struct broker *broker, const struct queue *queue,
                                     struct job_key key, uint64_t whole)
{
    struct hash_node *node;

    for (node = hash_first(&broker->index.jobs_by_key, whole); node; node = node->next) {
        struct job_extra *extra = key_extra_of(node);

        if (extra->key_hash == whole && extra->job->queue == queue->place &&
            key_equal(job_key(extra->job), key)) {
            return extra->job;
        }
    }
    return NULL;
}

// A name is looked up in the index by name; only if the job there is in another queue, the index by
// key is searched, too.
struct job *key_find(const struct broker *broker, const struct queue *queue, struct job_key key,
                     struct key_hash *hash)
{
    *hash = (struct key_hash){.alone = key_hash_alone(broker, key.bytes)};
    hash->whole = key_hash_whole(queue, key.space, hash->alone);
    if (key.space == KEY_SPACE_NAMES) {
        hash->first = key_first_of_name(broker, key.bytes, hash->alone);
        if (!hash->first || hash->first->job->queue == queue->place) {
            return hash->first ? hash->first->job : NULL;
        }
    }
    return key_find_in_queue(broker, queue, key, hash->whole);
}

bool key_make_room(struct broker *broker)
{
    return hash_make_room(&broker->index.jobs_by_key) &&
           hash_make_room(&broker->index.jobs_by_name);
}

void key_take(struct broker *broker, struct job *job, const struct key_hash *hash)
{
    struct job_extra *extra = job->extra;

    extra->key_hash = hash->whole;
    extra->keyed = true;
    if (extra->key_kind != KEY_NAME) {
        hash_insert(&broker->index.jobs_by_key, &extra->by_key);
        return;
    }
    extra->name_hash = (uint32_t)hash->alone;
    extra->first = !hash->first;
    if (hash->first) {
        list_append(&job_namesake(hash->first)->ring, &job_namesake(extra)->ring);
        hash_insert(&broker->index.jobs_by_key, &extra->by_key);
    } else {
        hash_insert(&broker->index.jobs_by_name, &extra->by_key);
    }
}

// The hash of a content key is known since the submission.
struct job *key_find_rival(const struct broker *broker, const struct job *job,
                           struct key_hash *hash)
{
    const struct job_extra *extra = job->extra;
    const struct queue *queue = queue_at(broker, job);

    if (extra->key_kind == KEY_NAME) {
        return key_find(broker, queue, job_key(job), hash);
    }
    *hash = (struct key_hash){.whole = extra->key_hash};
    return key_find_in_queue(broker, queue, job_key(job), hash->whole);
}

void key_know_content(const struct broker *broker, struct job *job)
{
    if (job_has_key(job) && job->extra->key_kind == KEY_CONTENT) {
        struct job_key key = job_key(job);

        job->extra->key_hash =
            key_hash_whole(queue_at(broker, job), key.space, key_hash_alone(broker, key.bytes));
    }
}

void key_claim(struct broker *broker, struct job *job)
{
    const struct job_extra *extra = job->extra;
    struct key_hash hash;

    if (extra && !extra->keyed && job_has_key(job) && !key_find_rival(broker, job, &hash)) {
        key_take(broker, job, &hash);
    }
}

void key_yield(struct broker *broker, struct job *job)
{
    struct job_extra *extra = job->extra;
    struct list_node *ring;

    if (!extra || !extra->keyed) {
        return;
    }
    extra->keyed = false;
    if (extra->key_kind != KEY_NAME) {
        hash_remove(&broker->index.jobs_by_key, &extra->by_key);
        return;
    }
    ring = &job_namesake(extra)->ring;
    if (extra->first && list_linked(ring)) {
        struct job_extra *next = job_of_namesake(list_item(ring->next, struct namesake, ring));

        hash_remove(&broker->index.jobs_by_key, &next->by_key);
        hash_replace(&broker->index.jobs_by_name, &extra->by_key, &next->by_key);
        next->first = true;
    } else {
        hash_remove(extra->first ? &broker->index.jobs_by_name : &broker->index.jobs_by_key,
                    &extra->by_key);
    }
    extra->first = false;
    list_remove(ring);
}

// key_claim() reads the hash of a content key, too.
void key_move(struct broker *broker, struct job *job, const struct queue *to)
{
    struct job_extra *extra = job->extra;
    struct key_hash hash;

    if (!job_has_key(job)) {
        return;
    }
    if (key_find(broker, to, job_key(job), &hash)) {
        key_yield(broker, job);
    }
    if (extra->keyed && !extra->first) {
        hash_remove(&broker->index.jobs_by_key, &extra->by_key);
        extra->key_hash = hash.whole;
        hash_insert(&broker->index.jobs_by_key, &extra->by_key);
    }
    extra->key_hash = hash.whole;
}

const struct job *broker_find_key(const struct broker *broker, const struct queue *queue,
                                  struct slice key)
{
    struct key_hash hash;

    return key_find(broker, queue, (struct job_key){KEY_SPACE_NAMES, key}, &hash);
}

const struct job *broker_find_name(const struct broker *broker, struct slice key)
{
    const struct job_extra *first = NULL;

    if (key.len > 0) {
        first = key_first_of_name(broker, key, key_hash_alone(broker, key));
    }
    return first ? first->job : NULL;
}

const struct job *job_next_of_name(const struct job *job)
{
    struct job_extra *extra = job->extra;
    const struct job_extra *next;

    if (!extra || !extra->keyed || extra->key_kind != KEY_NAME) {
        return NULL;
    }
    next = job_of_namesake(list_item(job_namesake(extra)->ring.next, struct namesake, ring));
    // The last one of the ring is followed by the first.
    return next->first ? NULL : next->job;
}
