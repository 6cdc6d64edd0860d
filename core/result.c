/* SPDX-License-Identifier: MIT */
#include "core/result_private.h"

#include "core/base/blob.h"
#include "core/watch.h"
#include "core/job_private.h"
#include "core/memo_private.h"
#include "core/policy_private.h"
#include "core/queue_private.h"

#include <endian.h>

// A value: how it ended, what of the data is kept, the length of the queue's name, zeros, when it
// ended; then the name and the data. FORMAT.md says it in prose.
enum { VALUE_END = 0, VALUE_KEPT = 1, VALUE_NAME_LEN = 2, VALUE_ZERO = 4, VALUE_ENDED = 8 };
enum { VALUE_NAME = 16, KEY_LEN = 8 };

// As long as this, it is copied into the memo.
enum { SHORT_MAX = VALUE_NAME + QUEUE_NAME_MAX };

static struct slice key_of(uint64_t id, char room[KEY_LEN])
{
    uint64_t bytes = htole64(id);

    memcpy(room, &bytes, sizeof bytes);
    return slice_of(room, KEY_LEN);
}

// How long the result of the job is kept; 0: it is not.
static nsec_t kept_for(const struct broker *broker, const struct job *job)
{
    const struct policy_spec *policy = POLICY_OF(queue_at(broker, job));

    return policy && job->durable ? policy->keep_result_for : 0;
}

// What the value is made of.
struct parts {
    struct result result; // without its data
    struct slice partial_result;
    struct slice last;
};

static size_t put_value(char *to, const struct parts *parts)
{
    const struct result *result = &parts->result;
    uint16_t name_len = htole16((uint16_t)result->queue.len);
    uint64_t ended = htole64(result->ended_ms);
    char *at = to + VALUE_NAME;

    memset(to, 0, VALUE_NAME);
    to[VALUE_END] = (char)result->end;
    to[VALUE_KEPT] = (char)result->kept;
    memcpy(to + VALUE_NAME_LEN, &name_len, sizeof name_len);
    memcpy(to + VALUE_ENDED, &ended, sizeof ended);
    memcpy(at, result->queue.ptr, result->queue.len);
    at += result->queue.len;
    if (parts->partial_result.len > 0) {
        memcpy(at, parts->partial_result.ptr, parts->partial_result.len);
    }
    if (parts->last.len > 0) {
        memcpy(at + parts->partial_result.len, parts->last.ptr, parts->last.len);
    }
    return VALUE_NAME + result->queue.len + parts->partial_result.len + parts->last.len;
}

static enum status set(struct broker *broker, const struct parts *parts, const struct blob *value)
{
    char key[KEY_LEN];
    const struct memo memo = {
        .kind = MEMO_RESULT,
        .key = key_of(parts->result.id, key),
        .value = blob_slice(value),
        .blob = value->len > SHORT_MAX ? (struct blob *)(uintptr_t)value : NULL,
        .until_at = parts->result.until_at,
    };

    return memo_set(broker, &memo);
}

static enum status keep(struct broker *broker, const struct parts *parts)
{
    size_t data = parts->partial_result.len + parts->last.len;
    struct blob *value = blob_new(VALUE_NAME + parts->result.queue.len + data);
    enum status status = STATUS_NO_MEMORY;

    if (value) {
        ENSURE(put_value(value->bytes, parts) == value->len);
        status = set(broker, parts, value);
        blob_unref(value);
    }
    return status;
}

// What there is to keep of the data, and why it is nothing.
static void gather_parts(const struct job *job, const struct blob *last, struct parts *parts)
{
    const struct interest *interest = job_interest(job);
    const struct partial_result *partial_result = interest ? interest->partial_result : NULL;
    bool done = parts->result.end == RESULT_COMPLETE;

    if (last) {
        parts->last = blob_slice(last);
    }
    if (done && partial_result) {
        parts->partial_result = slice_of(partial_result->bytes, partial_result->len);
        parts->result.kept = partial_result->kept;
    }
    if (done &&
        (job->data_unkept || (job->extra && (job->extra->data_lost || job->extra->result_lost)))) {
        parts->result.kept = RESULT_LOST;
    } else if (parts->partial_result.len + parts->last.len > RESULT_MAX) {
        parts->result.kept = RESULT_TOO_LARGE;
    }
}

void result_keep_by_policy(struct broker *broker, const struct job *job, enum result_end end,
                           const struct blob *last)
{
    nsec_t keep_for = kept_for(broker, job);
    struct parts parts = {.result = {.id = job->id, .end = end}};
    enum status status = STATUS_OK;

    if (keep_for == 0) {
        return;
    }
    parts.result.queue = queue_name(queue_at(broker, job));
    parts.result.ended_ms = (uint64_t)(broker->now.wall / NSEC_PER_MSEC);
    parts.result.until_at = nsec_add(broker->now.wall, keep_for);
    gather_parts(job, last, &parts);
    if (parts.result.kept == RESULT_WHOLE) {
        status = keep(broker, &parts);
    }
    if (parts.result.kept != RESULT_WHOLE || status != STATUS_OK) {
        if (status != STATUS_OK) {
            parts.result.kept = status == STATUS_TOO_LARGE ? RESULT_TOO_LARGE : RESULT_LOST;
        }
        parts.partial_result.len = 0;
        parts.last.len = 0;
        (void)keep(broker, &parts);
    }
}

enum status result_gather(struct broker *broker, struct job *job, const struct blob *part)
{
    struct interest *interest;

    if (kept_for(broker, job) == 0) {
        // Its result may be wanted by the time that it ends: a rule may come, or the job be moved.
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

static bool read_value(const struct memo *memo, struct result *result)
{
    const char *value = memo->value.ptr;
    uint16_t name_len;
    uint64_t id, ended;

    if (memo->key.len != KEY_LEN || memo->value.len < VALUE_NAME) {
        return false;
    }
    memcpy(&id, memo->key.ptr, sizeof id);
    memcpy(&name_len, value + VALUE_NAME_LEN, sizeof name_len);
    memcpy(&ended, value + VALUE_ENDED, sizeof ended);
    name_len = le16toh(name_len);
    *result = (struct result){
        .id = le64toh(id),
        .end = (enum result_end)value[VALUE_END],
        .kept = (enum result_data)value[VALUE_KEPT],
        .ended_ms = le64toh(ended),
        .until_at = memo->until_at,
        .queue = slice_of(value + VALUE_NAME, name_len),
    };
    if (value[VALUE_END] < 0 || value[VALUE_END] > RESULT_EXCEPTION || value[VALUE_KEPT] < 0 ||
        value[VALUE_KEPT] > RESULT_LOST || name_len > memo->value.len - VALUE_NAME) {
        return false;
    }
    result->data = slice_from(memo->value, VALUE_NAME + (size_t)name_len);
    return true;
}

bool broker_result(const struct broker *broker, uint64_t id, struct result *result)
{
    char key[KEY_LEN];
    const struct memo *memo = broker_memo_find(broker, MEMO_RESULT, key_of(id, key));

    return memo && read_value(memo, result);
}

bool broker_result_next(const struct broker *broker, uint64_t *cursor, struct result *result)
{
    const struct memo *memo;

    while ((memo = broker_memo_next(broker, MEMO_RESULT, cursor))) {
        if (read_value(memo, result)) {
            return true;
        }
    }
    return false;
}

uint64_t broker_results_position(const struct broker *broker)
{
    return broker->memos.position;
}
