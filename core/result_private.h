/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_RESULT_PRIVATE_H
#define TANDEM_CORE_RESULT_PRIVATE_H

// Private to the core: memos about jobs that have ended. The result of a job is kept for the
// `keep_result_for` of its queue's policy (result.h), and its key still joins submissions for the
// `unique_for` of that policy.
//
// Only result_gather() can fail: without memory or room, there is no memo.

#include "core/job_private.h"
#include "core/key.h"
#include "core/policy_private.h"

// The job, whose state has not changed yet, ends like that, with `last` (may be NULL) as the data
// of its worker's last report. To be called before the record of the end, so that no end is stored
// without its result. If results of its queue are not kept, nothing happens.
void result_keep_by_policy(struct broker *broker, const struct job *job, enum result_end end,
                           const struct blob *last);
static inline void result_keep(struct broker *broker, const struct job *job, enum result_end end,
                               const struct blob *last)
{
    if (queue_at(broker, job)->policy) {
        result_keep_by_policy(broker, job, end, last);
    }
}

// A part of the result was reported. STATUS_NO_MEMORY: not even the loss of the part can be noted.
enum status result_gather(struct broker *broker, struct job *job, const struct blob *part) MUST_USE;

// The job, which still has its key, is done. To be called before the record of that. Without memory
// the key becomes free.
void unique_keep(struct broker *broker, const struct job *job);

// The id of the completed job that the key stands for in that queue; 0 for none.
uint64_t unique_find(struct broker *broker, const struct queue *queue, struct job_key key);

#endif
