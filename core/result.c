/* SPDX-License-Identifier: MIT */
#include "core/result_private.h"

#include "core/base/blob.h"
#include "core/watch.h"

#include <endian.h>

//
// Results
//

// A value: how the job ended, which part of the data is kept, the length of the queue's name,
// zeros, when the job ended; then the name and the data. journal/FORMAT.md specifies it.
enum {
    RESULT_VALUE_END = 0,
    RESULT_VALUE_KEPT = 1,
    RESULT_VALUE_NAME_LEN = 2,
    RESULT_VALUE_ENDED = 8,
    RESULT_VALUE_NAME = 16
};
enum { RESULT_KEY_LEN = 8 };

// Up to this length, a value is copied into the memo.
enum { RESULT_SHORT_MAX = RESULT_VALUE_NAME + QUEUE_NAME_MAX };

static struct slice result_key(uint64_t id, char room[RESULT_KEY_LEN])
{
    uint64_t bytes = htole64(id);

    memcpy(room, &bytes, sizeof bytes);
    return slice_of(room, RESULT_KEY_LEN);
}

// How long the result of the job is kept; 0: it is not kept.
static nsec_t result_keep_for(const struct broker *broker, const struct job *job)
{
    const struct policy_spec *policy = POLICY_OF(queue_at(broker, job));

    return policy && job->durable ? policy->keep_result_for : 0;
}

// The parts of a value.
struct result_parts {
    struct result result; // without its data
    struct slice partial_result;
    struct slice last;
};

static size_t result_encode(char *to, const struct result_parts *parts)
{
    const struct result *result = &parts->result;
    uint16_t name_len = htole16((uint16_t)result->queue.len);
    uint64_t ended = htole64(result->ended_ms);
    char *at = to + RESULT_VALUE_NAME;

    memset(to, 0, RESULT_VALUE_NAME);
    to[RESULT_VALUE_END] = (char)result->end;
    to[RESULT_VALUE_KEPT] = (char)result->data_state;
    memcpy(to + RESULT_VALUE_NAME_LEN, &name_len, sizeof name_len);
    memcpy(to + RESULT_VALUE_ENDED, &ended, sizeof ended);
    memcpy(at, result->queue.ptr, result->queue.len);
    at += result->queue.len;
    if (parts->partial_result.len > 0) {
        memcpy(at, parts->partial_result.ptr, parts->partial_result.len);
    }
    if (parts->last.len > 0) {
        memcpy(at + parts->partial_result.len, parts->last.ptr, parts->last.len);
    }
    return RESULT_VALUE_NAME + result->queue.len + parts->partial_result.len + parts->last.len;
}

static enum status result_write(struct broker *broker, const struct result_parts *parts)
{
    size_t data = parts->partial_result.len + parts->last.len;
    struct blob *value = blob_new(RESULT_VALUE_NAME + parts->result.queue.len + data);
    char key[RESULT_KEY_LEN];
    struct memo memo = {
        .kind = MEMO_RESULT,
        .key = result_key(parts->result.id, key),
        .until_at = parts->result.until_at,
    };
    enum status status;

    if (!value) {
        return STATUS_NO_MEMORY;
    }
    ENSURE(result_encode(value->bytes, parts) == value->len);
    memo.value = blob_slice(value);
    memo.blob = value->len > RESULT_SHORT_MAX ? value : NULL;
    status = memo_set(broker, &memo);
    blob_unref(value);
    return status;
}

// Collects the data, or notes why it is not kept.
static void result_collect(const struct job *job, const struct blob *last,
                           struct result_parts *parts)
{
    const struct interest *interest = job_interest(job);
    const struct partial_result *partial_result = interest ? interest->partial_result : NULL;
    bool done = parts->result.end == RESULT_COMPLETE;

    if (last) {
        parts->last = blob_slice(last);
    }
    if (done && partial_result) {
        parts->partial_result = slice_of(partial_result->bytes, partial_result->len);
        parts->result.data_state = partial_result->data_state;
    }
    if (done &&
        (job->data_unkept || (job->extra && (job->extra->data_lost || job->extra->result_lost)))) {
        parts->result.data_state = RESULT_LOST;
    } else if (parts->partial_result.len + parts->last.len > RESULT_MAX) {
        parts->result.data_state = RESULT_TOO_LARGE;
    }
}

void result_keep_by_policy(struct broker *broker, const struct job *job, enum result_end end,
                           const struct blob *last)
{
    nsec_t keep_for = result_keep_for(broker, job);
    struct result_parts parts = {.result = {.id = job->id, .end = end}};
    enum status status = STATUS_OK;

    if (keep_for == 0) {
        return;
    }
    parts.result.queue = queue_name(queue_at(broker, job));
    parts.result.ended_ms = (uint64_t)(broker->now.wall / NSEC_PER_MSEC);
    parts.result.until_at = nsec_add(broker->now.wall, keep_for);
    result_collect(job, last, &parts);
    if (parts.result.data_state == RESULT_WHOLE) {
        status = result_write(broker, &parts);
    }
    if (parts.result.data_state != RESULT_WHOLE || status != STATUS_OK) {
        if (status != STATUS_OK) {
            parts.result.data_state = status == STATUS_TOO_LARGE ? RESULT_TOO_LARGE : RESULT_LOST;
        }
        parts.partial_result.len = 0;
        parts.last.len = 0;
        (void)result_write(broker, &parts);
    }
}

enum status result_gather(struct broker *broker, struct job *job, const struct blob *part)
{
    struct interest *interest;

    if (result_keep_for(broker, job) == 0) {
        // It may be wanted when the job ends: a policy may be set, or the job moved.
        job->data_unkept = true;
        return STATUS_OK;
    }
    interest = interest_of(broker, job);
    if (interest && partial_result_add(interest, part)) {
        return STATUS_OK;
    }
    if (!job->extra) {
        return STATUS_NO_MEMORY;
    }
    job->extra->result_lost = true;
    return STATUS_OK;
}

static bool result_decode(const struct memo *memo, struct result *result)
{
    // A plain char has no sign on some processors.
    const unsigned char *value = (const unsigned char *)memo->value.ptr;
    uint16_t name_len;
    uint64_t id, ended;

    if (memo->key.len != RESULT_KEY_LEN || memo->value.len < RESULT_VALUE_NAME) {
        return false;
    }
    memcpy(&id, memo->key.ptr, sizeof id);
    memcpy(&name_len, value + RESULT_VALUE_NAME_LEN, sizeof name_len);
    memcpy(&ended, value + RESULT_VALUE_ENDED, sizeof ended);
    name_len = le16toh(name_len);
    *result = (struct result){
        .id = le64toh(id),
        .end = (enum result_end)value[RESULT_VALUE_END],
        .data_state = (enum result_data)value[RESULT_VALUE_KEPT],
        .ended_ms = le64toh(ended),
        .until_at = memo->until_at,
        .queue = slice_of((const char *)value + RESULT_VALUE_NAME, name_len),
    };
    if (value[RESULT_VALUE_END] > RESULT_EXCEPTION || value[RESULT_VALUE_KEPT] > RESULT_LOST ||
        name_len > memo->value.len - RESULT_VALUE_NAME) {
        return false;
    }
    result->data = slice_from(memo->value, RESULT_VALUE_NAME + (size_t)name_len);
    return true;
}

bool broker_result(const struct broker *broker, uint64_t id, struct result *result)
{
    char key[RESULT_KEY_LEN];
    const struct memo *memo = broker_memo_find(broker, MEMO_RESULT, result_key(id, key));

    return memo && result_decode(memo, result);
}

uint64_t broker_results_position(const struct broker *broker)
{
    return broker->memos.position;
}

//
// Keys of jobs that are done
//

// The memo has a hash of the key, which may be long: with a secret, so that no client can make two
// keys with the same hash. journal/FORMAT.md specifies both.
struct unique_secret {
    struct siphash_key halves[2];
};
struct unique_hash {
    uint64_t halves[2]; // little-endian
};

static const struct slice unique_secret_name = {"unique", 6};

static bool unique_find_secret(const struct broker *broker, struct unique_secret *secret)
{
    const struct memo *memo = broker_memo_find(broker, MEMO_SECRET, unique_secret_name);

    if (!memo || memo->value.len != sizeof *secret) {
        return false;
    }
    memcpy(secret, memo->value.ptr, sizeof *secret);
    for (int half = 0; half < 2; half++) {
        secret->halves[half].words[0] = le64toh(secret->halves[half].words[0]);
        secret->halves[half].words[1] = le64toh(secret->halves[half].words[1]);
    }
    return true;
}

// The secret outlives the process, unlike the key that it is derived from. False if it cannot be
// kept.
static bool unique_make_secret(struct broker *broker)
{
    const char *const words[] = {"unique 1", "unique 2", "unique 3", "unique 4"};
    uint64_t value[4] = {0};
    const struct memo memo = {
        .kind = MEMO_SECRET,
        .key = unique_secret_name,
        .value = slice_of((const char *)value, sizeof value),
        .until_at = NSEC_NEVER,
    };

    for (int i = 0; i < 4; i++) {
        value[i] = htole64(siphash(&broker->key, words[i], strlen(words[i])));
    }
    return memo_set(broker, &memo) == STATUS_OK;
}

static struct slice unique_hash_key(const struct unique_secret *secret, const struct queue *queue,
                                    struct job_key key, struct unique_hash *room)
{
    const struct slice name = queue_name(queue);

    for (int half = 0; half < 2; half++) {
        const struct siphash_key *with = &secret->halves[half];
        const uint64_t parts[] = {
            htole64(siphash(with, key.bytes.ptr, key.bytes.len)),
            htole64(siphash(with, name.ptr, name.len)),
            htole64((uint64_t)key.space),
        };

        room->halves[half] = htole64(siphash(with, (const char *)parts, sizeof parts));
    }
    return slice_of((const char *)room, sizeof *room);
}

void unique_keep(struct broker *broker, const struct job *job)
{
    const struct queue *queue = queue_at(broker, job);
    const struct policy_spec *policy = POLICY_OF(queue);
    uint64_t id = htole64(job->id);
    struct unique_secret secret;
    struct unique_hash room;
    struct memo memo = {.kind = MEMO_UNIQUE, .value = slice_of((const char *)&id, sizeof id)};

    if (!policy || policy->unique_for_for == 0 || !job->extra || !job->extra->keyed ||
        (!unique_find_secret(broker, &secret) &&
         !(unique_make_secret(broker) && unique_find_secret(broker, &secret)))) {
        return;
    }
    memo.key = unique_hash_key(&secret, queue, job_key(job), &room);
    memo.until_at = nsec_add(broker->now.wall, policy->unique_for_for);
    (void)memo_set(broker, &memo);
}

uint64_t unique_find(struct broker *broker, const struct queue *queue, struct job_key key)
{
    const struct memo *memo = NULL;
    struct unique_secret secret;
    struct unique_hash room;
    uint64_t id = 0;

    if (unique_find_secret(broker, &secret)) {
        memo = broker_memo_find(broker, MEMO_UNIQUE, unique_hash_key(&secret, queue, key, &room));
    }
    if (memo && memo->value.len == sizeof id) {
        memcpy(&id, memo->value.ptr, sizeof id);
    }
    return le64toh(id);
}
