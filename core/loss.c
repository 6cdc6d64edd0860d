/* SPDX-License-Identifier: MIT */

// Lines in the log for jobs that fail or lose their holder. There may be as many as there are jobs:
// so many a second are written, and the next one says how many were not.

#include "core/observe.h"

#include "core/base/log.h"
#include "core/job_private.h"

// The most lines in a second.
#define LOSS_LINES_MAX 10

// Whether there may be a line now; `*suppressed`: how many there were not since the last.
static bool loss_may_be_said(struct loss_rate *rate, nsec_t now_at, uint64_t *suppressed)
{
    if (rate->lines == 0 || now_at - rate->since >= NSEC_PER_SEC) {
        rate->since = now_at;
        rate->lines = 0;
    }
    if (rate->lines == LOSS_LINES_MAX) {
        rate->suppressed++;
        return false;
    }
    rate->lines++;
    *suppressed = rate->suppressed;
    rate->suppressed = 0;
    return true;
}

void loss_log(struct broker *broker, const struct job *job, const char *event, const char *why)
{
    struct log_field fields[5];
    size_t count = 0;
    uint64_t suppressed;

    if (log_most() < LOG_LEVEL_INFO ||
        !loss_may_be_said(&broker->loss_rate, broker->now.mono, &suppressed)) {
        return;
    }
    fields[count++] = log_number("job", (int64_t)job->id);
    fields[count++] = log_text("queue", queue_name(queue_at(broker, job)));
    fields[count++] = log_number("attempts", (int64_t)job->attempts);
    fields[count++] = log_string("why", why);
    if (suppressed > 0) {
        fields[count++] = log_number("unsaid", (int64_t)suppressed);
    }
    log_write(LOG_LEVEL_INFO, event, fields, count);
}
