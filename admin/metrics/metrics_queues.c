/* SPDX-License-Identifier: MIT */
#include "admin/metrics/metrics_queues.h"

#include <string.h>

static size_t label_append(char *labels, size_t len, const char *text)
{
    return (size_t)(stpcpy(labels + len, text) - labels);
}

static void write_row_numbers(struct metrics_text *text, const struct metric_queue_family *family,
                              const struct metric_row *row, char *labels, size_t len,
                              const char *const *more, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        metrics_text_count(text, &family->family,
                           slice_of(labels, label_append(labels, len, more[i])),
                           row->numbers.of[family->number + i]);
    }
}

static void write_queue_states(struct metrics_text *text, const struct metric_queue_family *family,
                               const struct metric_row *row, char *labels, size_t len)
{
    static const char *const states[JOB_STATES] = {
        [JOB_DELAYED] = ",state=\"delayed\"",
        [JOB_READY] = ",state=\"ready\"",
        [JOB_RESERVED] = ",state=\"reserved\"",
        [JOB_BURIED] = ",state=\"buried\"",
    };

    write_row_numbers(text, family, row, labels, len, states, JOB_STATES);
}

static void write_queue_bands(struct metrics_text *text, const struct metric_queue_family *family,
                              const struct metric_row *row, char *labels, size_t len)
{
    static const char *const bands[BAND_COUNT] = {
        [BAND_HIGH] = ",band=\"high\"",
        [BAND_NORMAL] = ",band=\"normal\"",
        [BAND_LOW] = ",band=\"low\"",
    };

    write_row_numbers(text, family, row, labels, len, bands, BAND_COUNT);
}

static void write_queue_number(struct metrics_text *text, const struct metric_queue_family *family,
                               const struct metric_row *row, char *labels, size_t len)
{
    metrics_text_count(text, &family->family, slice_of(labels, len),
                       row->numbers.of[family->number]);
}

static uint64_t row_gauge(const struct metric_queue_family *family, const struct metric_row *row)
{
    uint64_t value;

    memcpy(&value, (const char *)&row->gauges + family->offset, sizeof value);
    return value;
}

static void write_queue_gauge(struct metrics_text *text, const struct metric_queue_family *family,
                              const struct metric_row *row, char *labels, size_t len)
{
    metrics_text_count(text, &family->family, slice_of(labels, len), row_gauge(family, row));
}

static void write_queue_closed(struct metrics_text *text, const struct metric_queue_family *family,
                               const struct metric_row *row, char *labels, size_t len)
{
    for (unsigned i = 0; i < CLOSED_REASONS; i++) {
        size_t more =
            label_append(labels, label_append(labels, len, ",reason=\""), closed_reason_text(i));

        metrics_text_count(text, &family->family,
                           slice_of(labels, label_append(labels, more, "\"")),
                           row->gauges.closed[i]);
    }
}

static void write_queue_age(struct metrics_text *text, const struct metric_queue_family *family,
                            const struct metric_row *row, char *labels, size_t len)
{
    metrics_text_seconds(text, &family->family, slice_of(labels, len), row_gauge(family, row));
}

static void write_queue_times(struct metrics_text *text, const struct metric_queue_family *family,
                              const struct metric_row *row, char *labels, size_t len)
{
    const uint64_t *times = row->numbers.of + family->number;

    if (row->timed) {
        metric_times_write(text, &family->family, slice_of(labels, len), times);
    }
}

#define C(n, name, help)                                                                           \
    {                                                                                              \
        {"tandem_" name, METRIC_COUNTER, help}, write_queue_number, .number = (n)                  \
    }
#define S(write, field, name, help)                                                                \
    {                                                                                              \
        {"tandem_" name, METRIC_GAUGE, help}, write,                                               \
            .offset = offsetof(struct metric_gauges, field)                                        \
    }

static const struct metric_queue_family queue_families[] = {
    {{"tandem_jobs", METRIC_GAUGE, "Jobs, by state."}, write_queue_states, .number = NUMBER_JOBS},
    {{"tandem_ready_jobs", METRIC_GAUGE, "Ready jobs, by priority band."},
     write_queue_bands,
     .number = NUMBER_BANDS},
    S(write_queue_age, oldest_ns, "oldest_ready_seconds",
      "Age of the ready job that has waited longest."),
    S(write_queue_gauge, subscriptions, "subscriptions", "Sessions that take jobs from the queue."),
    S(write_queue_gauge, waiting, "waiters", "Sessions that wait for a job of the queue."),
    S(write_queue_gauge, paused, "paused",
      "1 if the queue is paused; for the rest, the number of paused queues."),
    S(write_queue_closed, closed, "closed", "1 if no job of the queue is handed out, by reason."),
    C(NUMBER_SUBMITTED, "jobs_submitted", "Jobs accepted."),
    C(NUMBER_COMPLETED, "jobs_completed", "Jobs completed by a worker."),
    C(NUMBER_FAILED, "jobs_failed", "Jobs that failed, including those buried for it."),
    C(NUMBER_BURIED, "jobs_buried", "Jobs buried."),
    C(NUMBER_DELETED, "jobs_deleted", "Jobs deleted, or ended because no client waited for them."),
    C(NUMBER_RELEASED, "jobs_released", "Jobs given back by their workers."),
    C(NUMBER_KICKED, "jobs_kicked", "Jobs kicked."),
    C(NUMBER_EXPIRED, "jobs_expired", "Jobs that waited longer than their policy allows."),
    C(NUMBER_DEAD, "jobs_dead", "Jobs that their policy moved to a dead-letter queue."),
    C(NUMBER_TIMEOUTS, "job_timeouts", "Leases that timed out."),
    C(NUMBER_RETRIES, "job_retries", "Leases after which the job waits for another attempt."),
    {{"tandem_wait_seconds", METRIC_HISTOGRAM, "Time from ready to reserved."},
     write_queue_times,
     .number = NUMBER_WAIT},
    {{"tandem_run_seconds", METRIC_HISTOGRAM, "Time from reserved to the report of the worker."},
     write_queue_times,
     .number = NUMBER_RUN},
};

#define FAMILIES (sizeof queue_families / sizeof *queue_families)

const struct metric_queue_family *metric_queue_family(size_t index)
{
    return index < FAMILIES ? &queue_families[index] : metrics_exporters_family(index - FAMILIES);
}

void metric_queue_write(struct metrics_text *text, const struct metric_queue_family *family,
                        const struct metric_row *row)
{
    char labels[METRICS_LABELS_MAX];
    size_t len = label_append(labels, 0, family->label ? family->label : "queue");

    len = label_append(labels, len, "=\"");
    if (row->name) {
        struct slice label = metric_name_label(row->name);

        memcpy(labels + len, label.ptr, label.len);
        len += label.len;
    }
    len = label_append(labels, len, "\"");
    if (!row->name) {
        len = label_append(labels, len, ",rest=\"true\"");
    }
    family->write(text, family, row, labels, len);
}
