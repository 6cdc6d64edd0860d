/* SPDX-License-Identifier: MIT */
#include "admin/metrics_queues.h"

#include "admin/metrics_names.h"

#include <string.h>

#define REST ",rest=\"true\""

static size_t append(char *labels, size_t len, const char *text)
{
    return (size_t)(stpcpy(labels + len, text) - labels);
}

static void write_some(struct metrics_text *text, const struct metric_queue_family *family,
                       const struct metric_row *row, char *labels, size_t len,
                       const char *const *more, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        metrics_text_count(text, &family->family, slice_of(labels, append(labels, len, more[i])),
                           row->numbers.of[family->number + i]);
    }
}

static void write_states(struct metrics_text *text, const struct metric_queue_family *family,
                         const struct metric_row *row, char *labels, size_t len)
{
    static const char *const states[JOB_STATES] = {
        [JOB_DELAYED] = ",state=\"delayed\"",
        [JOB_READY] = ",state=\"ready\"",
        [JOB_RESERVED] = ",state=\"reserved\"",
        [JOB_BURIED] = ",state=\"buried\"",
    };

    write_some(text, family, row, labels, len, states, JOB_STATES);
}

static void write_bands(struct metrics_text *text, const struct metric_queue_family *family,
                        const struct metric_row *row, char *labels, size_t len)
{
    static const char *const bands[BAND_COUNT] = {
        [BAND_HIGH] = ",band=\"high\"",
        [BAND_NORMAL] = ",band=\"normal\"",
        [BAND_LOW] = ",band=\"low\"",
    };

    write_some(text, family, row, labels, len, bands, BAND_COUNT);
}

static void write_number(struct metrics_text *text, const struct metric_queue_family *family,
                         const struct metric_row *row, char *labels, size_t len)
{
    metrics_text_count(text, &family->family, slice_of(labels, len),
                       row->numbers.of[family->number]);
}

static uint64_t seen(const struct metric_queue_family *family, const struct metric_row *row)
{
    uint64_t value;

    memcpy(&value, (const char *)&row->seen + family->offset, sizeof value);
    return value;
}

static void write_seen(struct metrics_text *text, const struct metric_queue_family *family,
                       const struct metric_row *row, char *labels, size_t len)
{
    metrics_text_count(text, &family->family, slice_of(labels, len), seen(family, row));
}

static void write_closed(struct metrics_text *text, const struct metric_queue_family *family,
                         const struct metric_row *row, char *labels, size_t len)
{
    for (unsigned i = 0; i < CLOSED_REASONS; i++) {
        size_t more = append(labels, append(labels, len, ",reason=\""), closed_word(i));

        metrics_text_count(text, &family->family, slice_of(labels, append(labels, more, "\"")),
                           row->seen.closed[i]);
    }
}

static void write_age(struct metrics_text *text, const struct metric_queue_family *family,
                      const struct metric_row *row, char *labels, size_t len)
{
    metrics_text_seconds(text, &family->family, slice_of(labels, len), seen(family, row));
}

static void write_times(struct metrics_text *text, const struct metric_queue_family *family,
                        const struct metric_row *row, char *labels, size_t len)
{
    const uint64_t *times = row->numbers.of + family->number;

    if (row->timed) {
        metrics_text_histogram(text, &family->family, slice_of(labels, len),
                               &(struct metric_histogram){.ends = metric_ends,
                                                          .counts = times,
                                                          .buckets = METRIC_BUCKETS,
                                                          .sum = times[METRIC_BUCKETS],
                                                          .nanoseconds = true,
                                                          .sum_in_us = true});
    }
}

#define C(n, name, help)                                                                           \
    {                                                                                              \
        {"tandem_" name, METRIC_COUNTER, help}, write_number, .number = (n)                        \
    }
#define S(write, field, name, help)                                                                \
    {                                                                                              \
        {"tandem_" name, METRIC_GAUGE, help}, write, .offset = offsetof(struct metric_seen, field) \
    }

static const struct metric_queue_family families[] = {
    {{"tandem_jobs", METRIC_GAUGE, "Jobs that there are, by state."},
     write_states,
     .number = NUMBER_JOBS},
    {{"tandem_ready_jobs", METRIC_GAUGE, "Ready jobs, by band of priority."},
     write_bands,
     .number = NUMBER_BANDS},
    S(write_age, oldest_ns, "oldest_ready_seconds",
      "How long the ready job that has waited longest has waited."),
    S(write_seen, subscriptions, "subscriptions", "Sessions that take jobs from the queue."),
    S(write_seen, waiting, "waiters", "Sessions that wait for a job of the queue."),
    S(write_seen, paused, "paused", "1 where the queue is paused; of the rest, how many are."),
    S(write_closed, closed, "closed", "1 where nothing is taken from the queue, by reason."),
    C(NUMBER_SUBMITTED, "jobs_submitted", "Jobs accepted."),
    C(NUMBER_COMPLETED, "jobs_completed", "Jobs done, by the word of their worker."),
    C(NUMBER_FAILED, "jobs_failed", "Jobs not done; those that were buried for it, too."),
    C(NUMBER_BURIED, "jobs_buried", "Jobs set aside."),
    C(NUMBER_DELETED, "jobs_deleted", "Jobs taken back, or that nobody wanted any more."),
    C(NUMBER_RELEASED, "jobs_released", "Jobs given back by their workers."),
    C(NUMBER_KICKED, "jobs_kicked", "Jobs made ready by somebody."),
    C(NUMBER_EXPIRED, "jobs_expired", "Jobs that waited longer than their policy lets them."),
    C(NUMBER_DEAD, "jobs_dead", "Jobs that their policy took to a dead queue."),
    C(NUMBER_TIMEOUTS, "job_timeouts", "Leases that ended by time."),
    C(NUMBER_RETRIES, "job_retries", "Leases after which the job waits to be worked anew."),
    {{"tandem_wait_seconds", METRIC_HISTOGRAM, "From ready to reserved."},
     write_times,
     .number = NUMBER_WAIT},
    {{"tandem_run_seconds", METRIC_HISTOGRAM, "From reserved to the word of the worker."},
     write_times,
     .number = NUMBER_RUN},
};

#define FAMILIES (sizeof families / sizeof *families)

const struct metric_queue_family *metric_queue_family(size_t index)
{
    return index < FAMILIES ? &families[index] : metrics_names_family(index - FAMILIES);
}

void metric_queue_write(struct metrics_text *text, const struct metric_queue_family *family,
                        const struct metric_row *row)
{
    char labels[METRICS_LABELS_MAX];
    size_t len = append(labels, 0, family->label ? family->label : "queue");

    len = append(labels, len, "=\"");
    if (row->name) {
        struct slice label = metric_name_label(row->name);

        memcpy(labels + len, label.ptr, label.len);
        len += label.len;
    }
    len = append(labels, len, "\"");
    if (!row->name) {
        len = append(labels, len, REST);
    }
    family->write(text, family, row, labels, len);
}
