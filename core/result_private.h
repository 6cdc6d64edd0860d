/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_RESULT_PRIVATE_H
#define TANDEM_CORE_RESULT_PRIVATE_H

// Private to the core: keeping what a job ends with (result.h). Nothing here can fail: what cannot
// be kept is not there.

#include "core/job_private.h"
#include "core/policy_private.h"

// The job, which is still as it was, ends like that, with `last` as its worker's last word (may be
// NULL). To be called before the record of that, so that no end is there without its result. Where
// results of its queue are not kept, nothing happens.
void result_keep_by_policy(struct broker *broker, const struct job *job, enum result_end end,
                           const struct blob *last);
static inline void result_keep(struct broker *broker, const struct job *job, enum result_end end,
                               const struct blob *last)
{
    if (queue_at(broker, job)->policy) {
        result_keep_by_policy(broker, job, end, last);
    }
}

// A part of the result was reported. STATUS_NO_MEMORY where not even its loss can be noted.
enum status result_gather(struct broker *broker, struct job *job, const struct blob *part) MUST_USE;

#endif
