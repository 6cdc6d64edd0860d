/* SPDX-License-Identifier: MIT */

#include "core/job_private.h"

#include "core/broker_private.h"
#include "core/dead_letter_private.h"
#include "core/queue_private.h"
#include "core/timers.h"

// A job with a large body has a pointer to it behind its header.
static struct blob *job_large_body(const struct job *job)
{
    struct blob *blob;

    memcpy(&blob, job->body, sizeof blob);
    return blob;
}

static uint32_t job_seconds(nsec_t duration)
{
    return nsec_units(duration, NSEC_PER_SEC, UINT32_MAX);
}

// The size of the struct namesake before the rare part of a job with a name.
static size_t job_extra_prefix(size_t key_len)
{
    return key_len > 0 ? sizeof(struct namesake) : 0;
}

// A rare part with room for a name and a reducer of these lengths.
static struct job_extra *job_extra_new(struct broker *broker, struct job *job, size_t key_len,
                                       size_t reducer_len)
{
    size_t before = job_extra_prefix(key_len);
    char *block =
        slab_calloc(&broker->slab, before + sizeof(struct job_extra) + key_len + reducer_len);
    struct job_extra *extra;

    if (!block) {
        return NULL;
    }
    extra = (struct job_extra *)(void *)(block + before);
    extra->job = job;
    job->extra = extra;
    if (before) {
        list_init(&job_namesake(extra)->ring);
    }
    return extra;
}

struct job_extra *job_extra(struct broker *broker, struct job *job)
{
    return job->extra ? job->extra : job_extra_new(broker, job, 0, 0);
}

static bool job_set_body(struct job *job, const struct job_spec *spec, struct slice body)
{
    struct blob *blob = spec->body_blob;

    if (body.len <= JOB_INLINE_MAX) {
        job->body_len = body.len & 0xfff;
        if (body.len) {
            memcpy(job->body, body.ptr, body.len);
        }
        return true;
    }
    job->body_len = JOB_BODY_LARGE;
    blob = blob ? blob_ref(blob) : blob_copy(body);
    memcpy(job->body, &blob, sizeof blob);
    return blob != NULL;
}

// Stores the parts of the contract that the header has no room for.
static bool job_set_extra(struct broker *broker, struct job *job, const struct job_spec *spec)
{
    struct slice key = spec->key_kind == KEY_NAME ? spec->key : slice_of(NULL, 0);
    struct job_extra *extra;

    if (spec->key_kind == KEY_NONE && spec->reducer.len == 0 && spec->max_attempts == 0) {
        return true;
    }
    extra = job_extra_new(broker, job, key.len, spec->reducer.len);
    if (!extra) {
        return false;
    }
    extra->key_kind = (uint8_t)spec->key_kind;
    extra->key_len = (uint16_t)key.len;
    extra->reducer_len = (uint16_t)spec->reducer.len;
    extra->max_attempts =
        (uint16_t)(spec->max_attempts < JOB_ATTEMPTS_MAX ? spec->max_attempts : JOB_ATTEMPTS_MAX);
    if (key.len) {
        memcpy(extra->names, key.ptr, key.len);
    }
    if (spec->reducer.len) {
        memcpy(extra->names + key.len, spec->reducer.ptr, spec->reducer.len);
    }
    return true;
}

// The size of a job with a body of `len` bytes, or a large one. A short body fits into the padding
// behind the header.
static size_t job_size(bool large, size_t len)
{
    size_t size = offsetof(struct job, body) + (large ? sizeof(struct blob *) : len);

    return size > sizeof(struct job) ? size : sizeof(struct job);
}

// A job gets its id and its links when it is linked; the fields behind these begin as zero.
#define LINKS_END (offsetof(struct job, place) + sizeof((struct job *)NULL)->place)

struct job *job_new(struct broker *broker, const struct job_spec *spec)
{
    struct slice body = spec->body_blob ? blob_slice(spec->body_blob) : spec->body;
    struct job *job = slab_alloc(&broker->slab, job_size(body.len > JOB_INLINE_MAX, body.len));

    if (!job) {
        return NULL;
    }
    // To clear the whole job, the compiler uses a string instruction, which is slow to start.
    memset((char *)job + LINKS_END, 0, sizeof *job - LINKS_END);
    job->queue = spec->queue->place;
    job->pri = spec->pri;
    job->ttr = job_seconds(spec->ttr_for);
    job->created_ms = calendar_now_ms(broker) & ((UINT64_C(1) << 42) - 1);
    job->state = JOB_GONE;
    job->on_fail = spec->on_fail & 1;
    job->on_loss = spec->on_loss & 1;
    job->durable = spec->durable;
    if (!job_set_body(job, spec, body) || !job_set_extra(broker, job, spec)) {
        job_free(broker, job);
        return NULL;
    }
    if (spec->start_kind == START_AFTER) {
        job_set_delay(broker, job, spec->start);
    }
    return job;
}

void job_free(struct broker *broker, struct job *job)
{
    bool large = job_is_large(job);

    if (job->dead_letter) {
        dead_letter_remove(broker, job);
    }
    if (large) {
        blob_unref(job_large_body(job));
    }
    if (job->extra) {
        size_t before = job_extra_prefix(job->extra->key_len);

        slab_free(&broker->slab, (char *)job->extra - before,
                  before + sizeof *job->extra + job->extra->key_len + job->extra->reducer_len);
    }
    slab_free(&broker->slab, job, job_size(large, job->body_len));
}

void job_set_delay(struct broker *broker, struct job *job, nsec_t delay_for)
{
    uint32_t seconds = job_seconds(delay_for);

    if (job->extra || seconds > 0) {
        struct job_extra *extra = job_extra(broker, job);

        if (extra) {
            extra->delay = seconds;
        }
    }
}

// The header counts up to 15; the next one moves 16 of them to the rare part.
void job_count_reserve(struct broker *broker, struct job *job)
{
    if (job->reserves < 15) {
        job->reserves = (job->reserves + 1u) & 15u;
        return;
    }
    if (job_extra(broker, job)) {
        job->extra->reserves += 16;
        job->reserves = 0;
    }
}

void job_uncount_reserve(struct job *job)
{
    if (job->reserves > 0) {
        job->reserves = (job->reserves - 1u) & 15u;
    } else if (job->extra && job->extra->reserves > 0) {
        job->extra->reserves -= 16;
        job->reserves = 15;
    }
}

uint64_t job_id(const struct job *job)
{
    return job->id;
}

struct blob *job_blob(const struct job *job)
{
    return job_is_large(job) ? job_large_body(job) : NULL;
}

struct slice job_body(const struct job *job)
{
    return job_is_large(job) ? blob_slice(job_large_body(job)) : slice_of(job->body, job->body_len);
}

const struct job *broker_find(const struct broker *broker, uint64_t id)
{
    return id_map_find(&broker->index.jobs_by_id, id);
}

enum status broker_job_next(const struct broker *broker, struct job_walk *walk,
                            const struct job **job)
{
    struct id_walk ids = {.position = walk->position, .id = walk->id, .over = walk->over};
    const struct job *next = id_map_next(&broker->index.jobs_by_id, &ids);

    *walk = (struct job_walk){.position = ids.position, .id = ids.id, .over = ids.over};
    if (!next) {
        return ids.over ? STATUS_EMPTY : STATUS_MORE;
    }
    *job = next;
    return STATUS_OK;
}
