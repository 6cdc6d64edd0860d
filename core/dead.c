/* SPDX-License-Identifier: MIT */
#include "core/dead.h"

#include "core/base/memory.h"
#include "core/cleanup.h"
#include "core/kept_lease.h"
#include "core/match.h"
#include "core/key.h"
#include "core/job_private.h"
#include "core/observe.h"
#include "core/dead_letter_private.h"
#include "core/policy_private.h"
#include "core/queue_private.h"
#include "core/record_private.h"
#include "core/watch.h"

// The name of the dead queue, in `to`; empty where there is none, or none that can be.
static struct slice dead_name(const struct queue *from, char to[QUEUE_NAME_MAX])
{
    const struct slice own_name = SLICE("{queue}");
    const struct policy_spec *policy = POLICY_OF(from);
    struct slice left = policy ? policy->dead_queue : slice_of(NULL, 0);
    size_t len = 0;

    while (left.len > 0) {
        bool own = left.len >= own_name.len && memcmp(left.ptr, own_name.ptr, own_name.len) == 0;
        struct slice part = own ? queue_name(from) : slice_of(left.ptr, 1);
        size_t used = own ? own_name.len : 1;

        if (part.len > QUEUE_NAME_MAX - len) {
            return slice_of(NULL, 0);
        }
        memcpy(to + len, part.ptr, part.len);
        len += part.len;
        left = slice_of(left.ptr + used, left.len - used);
    }
    return slice_of(to, len);
}

// The same refusals as for whoever else refers to a queue that may not be there yet.
static struct queue *dead_queue_hold(struct broker *broker, const struct queue *from)
{
    char bytes[QUEUE_NAME_MAX];
    struct slice name = dead_name(from, bytes);
    struct queue *to = NULL;

    if (name.len == 0 || slice_equal(name, queue_name(from)) ||
        (memory_is_short() && !broker_queue_find(broker, name)) ||
        queue_hold(broker, name, &to) != STATUS_OK) {
        return NULL;
    }
    return to;
}

// Its interest is given up before anybody else may have the job, who would begin an attempt.
static void go(struct broker *broker, struct job *job, struct queue *to, size_t was_len,
               const struct last_word *word)
{
    const struct job_place ready = job_ready_place(job);
    struct queue *from = queue_at(broker, job);
    uint64_t position;

    COUNT(broker, from, dead);
    kept_lease_over(broker, job, true);
    key_move(broker, job, to);
    job_move(broker, job, &ready);
    job_transfer(broker, job, to);
    position = record_move_append(broker, job, from, was_len);
    interest_end(job_interest(job), word->kind, word->data, position);
    match_serve_lost(broker);
    if (job->state == JOB_READY) {
        match_moved(broker, job);
    }
    queue_vanish_if_idle(broker, from);
}

bool dead_take(struct broker *broker, struct job *job, enum dead_reason why,
               const struct last_word *word)
{
    struct queue *from = queue_at(broker, job);
    const struct dead_letter past = {
        .queue = queue_name(from),
        .why = why,
        .attempts = job->attempts,
        .at_ms = broker->now.wall > 0 ? (uint64_t)(broker->now.wall / NSEC_PER_MSEC) : 0,
    };
    size_t was_len = job_variable_len(broker, job);
    struct queue *to = job->durable && !job->dead_letter ? dead_queue_hold(broker, from) : NULL;
    bool goes;

    if (!to) {
        return false;
    }
    goes = record_move_has_space(broker, job, to, &past) && dead_letter_set(broker, job, &past);
    if (goes) {
        go(broker, job, to, was_len, word);
    }
    to->holders--;
    queue_vanish_if_idle(broker, to);
    return goes;
}
