/* SPDX-License-Identifier: MIT */

// Durations of waits and runs, counted only while the host observes; and log lines about jobs that
// fail or lose their holder. Millions of jobs may do so at once: a few lines a second are written,
// and the next line has the number of omitted ones.

#include "core/observe.h"

#include "core/base/log.h"
#include "core/base/memory.h"
#include "core/job_private.h"

// Buckets are computed in units of half the first bound; the first ones are two units wide.
#define HISTOGRAM_UNIT ((nsec_t)50000)
#define BEGUN_MASK ((UINT64_C(1) << 44) - 1)

nsec_t histogram_bound(size_t bucket)
{
    nsec_t doubling;

    if (bucket >= HISTOGRAM_BOUNDS) {
        return NSEC_NEVER;
    }
    doubling = (nsec_t)1 << bucket / 2;
    return (bucket % 2 ? 3 : 2) * doubling * HISTOGRAM_UNIT;
}

// The bucket of that duration, found by its highest bit and the one after it.
static size_t histogram_bucket(nsec_t span)
{
    uint64_t units = span > 0 ? (uint64_t)((span - 1) / HISTOGRAM_UNIT) : 0;
    unsigned high;
    size_t bucket;

    if (units < 2) {
        return 0;
    }
    high = 63u - (unsigned)__builtin_clzll(units);
    bucket = 2 * (high - 1) + (units >> (high - 1) & 1) + 1;
    return bucket < HISTOGRAM_BOUNDS ? bucket : HISTOGRAM_BOUNDS;
}

static void histogram_add(struct histogram *spans, size_t bucket, nsec_t span)
{
    spans->in[bucket]++;
    spans->sum_us += (uint64_t)(span / NSEC_PER_USEC);
}

// The histograms of the queue, allocated if they are missing; NULL without memory.
static struct queue_times *queue_times_of(struct broker *broker, struct queue *queue)
{
    if (!queue->times && !memory_is_short()) {
        queue->times = slab_calloc(&broker->slab, sizeof *queue->times);
    }
    return queue->times;
}

// Stores the beginning of a lease that cannot be computed from its end.
static void note_lease_begin(struct broker *broker, struct job *job, nsec_t begun_at)
{
    struct job_extra *extra = job->extra;

    if (!extra && !memory_is_short()) {
        extra = job_extra(broker, job);
    }
    if (extra) {
        extra->begun = true;
        extra->begun_us = (uint64_t)(begun_at / NSEC_PER_USEC) & BEGUN_MASK;
    }
}

void observe_taken(struct broker *broker, struct job *job, bool limited)
{
    if (job->state == JOB_READY || job->state == JOB_GONE) {
        nsec_t span = job->state == JOB_READY ? job_waited_for(broker, job) : 0;
        struct queue_times *times = queue_times_of(broker, queue_at(broker, job));
        size_t bucket = histogram_bucket(span);

        histogram_add(&broker->times.wait, bucket, span);
        if (times) {
            histogram_add(&times->wait, bucket, span);
        }
    }
    if (limited || !job->ttr) {
        note_lease_begin(broker, job, broker->now.mono);
    }
}

// Computes the beginning of the lease from its end. False if that is not possible.
static bool lease_begin_from_end(const struct job *job, nsec_t *begun_at)
{
    *begun_at = job->due_at - nsec_from_seconds(job->ttr);
    return job->ttr && !job->renewed && !(job->extra && job->extra->limit_at);
}

void observe_renewal(struct broker *broker, struct job *job)
{
    nsec_t begun_at;

    if (lease_begin_from_end(job, &begun_at)) {
        note_lease_begin(broker, job, begun_at);
    }
}

bool job_held_for(const struct broker *broker, const struct job *job, nsec_t *held_for)
{
    nsec_t now = broker->now.mono;
    nsec_t begun_at;

    if (job->state == JOB_RESERVED && job->extra && job->extra->begun) {
        uint64_t since_us = (uint64_t)(now / NSEC_PER_USEC) - job->extra->begun_us;

        *held_for = (nsec_t)(since_us & BEGUN_MASK) * NSEC_PER_USEC;
        return true;
    }
    if (job->state == JOB_RESERVED && lease_begin_from_end(job, &begun_at)) {
        *held_for = now - begun_at;
        return true;
    }
    return false;
}

void observe_done(struct broker *broker, const struct job *job)
{
    struct queue_times *times;
    size_t bucket;
    nsec_t span;

    if (!job_held_for(broker, job, &span)) {
        return;
    }
    bucket = histogram_bucket(span);
    histogram_add(&broker->times.run, bucket, span);
    times = queue_times_of(broker, queue_at(broker, job));
    if (times) {
        histogram_add(&times->run, bucket, span);
    }
}

void observe_queue_gone(struct broker *broker, struct queue *queue)
{
    slab_free(&broker->slab, queue->times, sizeof *queue->times);
    queue->times = NULL;
}

// The largest number of lines in a second.
#define LOSS_LINES_MAX 10

// True if a line may be written now; `*suppressed` is the number omitted since the last one.
static bool loss_log_allowed(struct loss_rate *rate, nsec_t now_at, uint64_t *suppressed)
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
        !loss_log_allowed(&broker->loss_rate, broker->now.mono, &suppressed)) {
        return;
    }
    fields[count++] = log_number("job", (int64_t)job->id);
    fields[count++] = log_text("queue", queue_name_slice(queue_at(broker, job)));
    fields[count++] = log_number("attempts", (int64_t)job->attempts);
    fields[count++] = log_string("why", why);
    if (suppressed > 0) {
        fields[count++] = log_number("unsaid", (int64_t)suppressed);
    }
    log_write(LOG_LEVEL_INFO, event, fields, count);
}
