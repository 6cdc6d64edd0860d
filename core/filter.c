/* SPDX-License-Identifier: MIT */

// Which jobs pass a filter. A body that is searched may be long, so that is done in pieces.

// memmem is a GNU function.
#define _GNU_SOURCE // NOLINT(bugprone-reserved-identifier)

#include "core/operate_private.h"

#include "core/timers.h"
#include "core/job_private.h"

#include <string.h>

bool job_fits(const struct broker *broker, const struct job *job, const struct job_filter *filter)
{
    struct slice body = job_body(job);
    nsec_t age_for = calendar_since(broker, job->created_ms);

    return (!filter->states || filter->states & JOB_IN(job->state)) &&
           job->pri >= filter->min_pri && job->pri <= filter->max_pri &&
           body.len >= filter->min_body && body.len <= filter->max_body &&
           age_for >= filter->min_age_for && age_for <= filter->max_age_for;
}

// A job that others join may have another body than before.
static size_t search_from(const struct body_search *search, const struct job *job)
{
    bool goes_on = search->id == job->id && search->at <= job_body(job).len;

    return goes_on ? (size_t)search->at : 0;
}

enum status body_search(const struct job *job, struct slice bytes, struct body_search *search,
                        size_t most, size_t *searched)
{
    size_t from = search_from(search, job);
    struct slice part = slice_from(job_body(job), from);
    bool all = part.len <= most + bytes.len;

    if (bytes.len == 0) {
        return STATUS_OK;
    }
    part.len = all ? part.len : most + bytes.len;
    *searched = part.len;
    if (part.len < bytes.len) {
        return STATUS_EMPTY;
    }
    // memmem() looks through what it is to find first.
    *searched += bytes.len;
    if (memmem(part.ptr, part.len, bytes.ptr, bytes.len)) {
        return STATUS_OK;
    }
    if (all) {
        return STATUS_EMPTY;
    }
    // They may have begun at the end of it.
    *search = (struct body_search){.id = job->id, .at = from + part.len - (bytes.len - 1)};
    return STATUS_MORE;
}
