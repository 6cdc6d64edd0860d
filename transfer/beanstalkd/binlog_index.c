/* SPDX-License-Identifier: MIT */
#include "transfer/beanstalkd/binlog_index.h"

#include "core/base/siphash.h"

#include <stdlib.h>
#include <sys/random.h>

void binlog_index_init(struct binlog_index *index)
{
    uint64_t secret;

    *index = (struct binlog_index){.count = 0};
    // Without one, a crafted binlog is slow to read, and no more than that.
    if (getrandom(&secret, sizeof secret, GRND_NONBLOCK) != (ssize_t)sizeof secret) {
        secret = (uintptr_t)index;
    }
    slab_init(&index->slab);
    id_map_init(&index->jobs, &index->slab, secret);
}

void binlog_index_clear(struct binlog_index *index)
{
    struct id_walk walk = {.over = false};

    while (!walk.over) {
        struct binlog_job *job = id_map_next(&index->jobs, &walk);

        slab_free(&index->slab, job, sizeof *job);
    }
    id_map_clear(&index->jobs);
    slab_clear(&index->slab);
    free(index->sorted);
    *index = (struct binlog_index){.count = 0};
}

struct binlog_job *binlog_index_find(const struct binlog_index *index, uint64_t id)
{
    return id_map_find(&index->jobs, id);
}

struct binlog_job *binlog_index_add(struct binlog_index *index, uint64_t id)
{
    struct binlog_job *job =
        id_map_make_room(&index->jobs) ? slab_calloc(&index->slab, sizeof *job) : NULL;

    if (job) {
        job->id = id;
        job->order = index->orders++;
        id_map_insert(&index->jobs, id, job);
    }
    return job;
}

void binlog_index_remove(struct binlog_index *index, struct binlog_job *job)
{
    id_map_remove(&index->jobs, job->id);
    slab_free(&index->slab, job, sizeof *job);
}

static int compare(const void *a, const void *b)
{
    const struct binlog_job *left = *(struct binlog_job *const *)a;
    const struct binlog_job *right = *(struct binlog_job *const *)b;

    if (left->buried != right->buried) {
        return left->buried ? 1 : -1;
    }
    if (left->buried) {
        return (left->order > right->order) - (left->order < right->order);
    }
    return (left->id > right->id) - (left->id < right->id);
}

bool binlog_index_sort(struct binlog_index *index)
{
    size_t count = id_map_count(&index->jobs);
    struct id_walk walk = {.over = false};

    if (count == 0) {
        return true;
    }
    index->sorted = malloc(count * sizeof(struct binlog_job *));
    if (!index->sorted) {
        return false;
    }
    while (!walk.over) {
        struct binlog_job *job = id_map_next(&index->jobs, &walk);

        if (job) {
            index->sorted[index->count++] = job;
        }
    }
    qsort(index->sorted, count, sizeof(struct binlog_job *), compare);
    return true;
}

uint64_t binlog_index_hash(const struct binlog_index *index)
{
    // The hash has to be the same at the next start; nobody gains by an equal one.
    struct siphash_key key = {{UINT64_C(0x62696e6c6f67), 0}};

    for (size_t i = 0; i < index->count; i++) {
        uint64_t words[2] = {index->sorted[i]->id, index->sorted[i]->mark};

        key.words[1] = siphash(&key, (const char *)words, sizeof words);
    }
    return key.words[1];
}
