/* SPDX-License-Identifier: MIT */
#include "admin/metrics/metrics_exporters.h"

#include "http1/http1_options.h"
#include "proto_common/frontend.h"

#include "admin/metrics/metrics.h"
#include "admin/metrics/metrics_process.h"
#include "admin/metrics/metrics_queues.h"

#include <stdio.h>
#include <string.h>

bool metrics_exporters_read(const char *list, unsigned *exporters)
{
    struct slice left = slice_str(list);
    struct slice word;

    *exporters = 0;
    while (http1_list_next(&left, &word)) {
        if (slice_equal(word, SLICE("beanstalkd"))) {
            *exporters |= METRICS_BEANSTALKD;
        } else if (slice_equal(word, SLICE("gearman"))) {
            *exporters |= METRICS_GEARMAN;
        } else {
            return false;
        }
    }
    return true;
}

//
// The process
//

enum exporter_kind {
    WHOLE,   // uint64_t
    SECONDS, // nsec_t
    ONE      // 1
};

struct exporter_row {
    struct metric_family family;
    enum exporter_kind kind;
    size_t offset; // in struct process_sample
};

#define AT(field) offsetof(struct process_sample, field)
// The places of numbers that there are for each state of a job, and for each band of priorities.
#define OF_STATE(state) (NUMBER_JOBS + (int)(state))
#define OF_BAND(band) (NUMBER_BANDS + (int)(band))
#define JOBS(state) AT(all.of[OF_STATE(state)])

// The names of beanstalkd_exporter by messagebird and by davidtannock for the same value.
#define BOTH(name, suffix, kind, offset, help)                                                     \
    {{name, METRIC_GAUGE, help}, kind, offset},                                                    \
    {                                                                                              \
        {"beanstalkd_" name suffix, METRIC_GAUGE, help}, kind, offset                              \
    }
#define ONLY(name, kind, offset, help)                                                             \
    {                                                                                              \
        {name, METRIC_GAUGE, help}, kind, offset                                                   \
    }

static const struct exporter_row beanstalkd_rows[] = {
    ONLY("beanstalkd_up", ONE, 0, "Always 1."),
    BOTH("current_jobs_urgent", "_count", WHOLE, AT(all.of[OF_BAND(BAND_HIGH)]),
         "Ready jobs with a priority below 1024."),
    BOTH("current_jobs_ready", "_count", WHOLE, JOBS(JOB_READY), "Ready jobs."),
    BOTH("current_jobs_reserved", "_count", WHOLE, JOBS(JOB_RESERVED), "Reserved jobs."),
    BOTH("current_jobs_delayed", "_count", WHOLE, JOBS(JOB_DELAYED), "Delayed jobs."),
    BOTH("current_jobs_buried", "_count", WHOLE, JOBS(JOB_BURIED), "Buried jobs."),
    BOTH("job_timeouts", "_count", WHOLE, AT(all.of[NUMBER_TIMEOUTS]), "Leases that timed out."),
    BOTH("total_jobs", "_count", WHOLE, AT(all.of[NUMBER_SUBMITTED]), "Jobs accepted so far."),
    BOTH("current_tubes", "_count", WHOLE, AT(broker.queues), "Queues."),
    BOTH("current_connections", "_count", WHOLE, AT(beanstalk.open),
         "Open connections of beanstalk clients."),
    BOTH("current_producers", "_count", WHOLE, AT(broker.producers),
         "Sessions that have submitted a job."),
    BOTH("current_workers", "_count", WHOLE, AT(broker.workers),
         "Sessions that have asked for a job."),
    BOTH("current_waiting", "_count", WHOLE, AT(broker.waiting), "Sessions that wait for a job."),
    BOTH("total_connections", "_count", WHOLE, AT(beanstalk.accepted),
         "Connections of beanstalk clients so far."),
    ONLY("uptime", SECONDS, AT(up_for), "Seconds since the process started."),
    ONLY("rusage_utime", SECONDS, AT(user_for), "Processor time in user mode."),
    ONLY("rusage_stime", SECONDS, AT(system_for), "Processor time in kernel mode."),
    ONLY("binlog_oldest_index", WHOLE, AT(journal.oldest),
         "Number of the oldest segment of the journal."),
    ONLY("binlog_current_index", WHOLE, AT(journal.current),
         "Number of the segment of the journal that is being written."),
    ONLY("binlog_max_size", WHOLE, AT(journal.segment_bytes), "Size of a segment of the journal."),
    ONLY("binlog_records_written", WHOLE, AT(journal.records), "Records written."),
    ONLY("binlog_records_migrated", WHOLE, AT(journal.migrated), "Records written again."),
};

static void write_beanstalkd(const struct process_sample *process, struct metrics_text *text)
{
    for (size_t i = 0; i < sizeof beanstalkd_rows / sizeof *beanstalkd_rows; i++) {
        const struct exporter_row *row = &beanstalkd_rows[i];
        uint64_t value = 1;

        if (row->kind != ONE) {
            memcpy(&value, (const char *)process + row->offset, sizeof value);
        }
        metrics_text_head(text, &row->family);
        if (row->kind == SECONDS) {
            metrics_text_seconds(text, &row->family, SLICE(""), value);
        } else {
            metrics_text_count(text, &row->family, SLICE(""), value);
        }
    }
}

void metrics_exporters_write(unsigned exporters, const struct process_sample *process,
                             struct metrics_text *text)
{
    static const struct metric_family up = {"gearman_up", METRIC_GAUGE, "Always 1."};
    static const struct metric_family version = {"gearman_version_info", METRIC_GAUGE,
                                                 "Always 1; the label is the version."};
    char labels[128];
    size_t len;

    if (exporters & METRICS_BEANSTALKD) {
        write_beanstalkd(process, text);
    }
    if (exporters & METRICS_GEARMAN) {
        metrics_text_head(text, &up);
        metrics_text_count(text, &up, SLICE(""), 1);
        metrics_text_head(text, &version);
        len =
            (size_t)snprintf(labels, sizeof labels, "version=\"%.100s\"", process->facts->version);
        metrics_text_count(text, &version, slice_of(labels, len), 1);
    }
}

//
// Queues
//

void metric_tube_sample(const struct queue_info *info, uint64_t tube[TUBE_COUNT])
{
    tube[TUBE_TOTAL] = info->total_jobs;
    tube[TUBE_USING] = info->holders;
    tube[TUBE_WATCHING] = info->subscriptions;
    tube[TUBE_WAITING] = info->waiting;
    tube[TUBE_DELETES] = info->ended;
    tube[TUBE_PAUSES] = info->pauses;
    tube[TUBE_PAUSE] = (uint64_t)(info->pause_for / NSEC_PER_SEC);
    tube[TUBE_PAUSE_LEFT] = (uint64_t)(info->pause_remaining_for / NSEC_PER_SEC);
}

static void write_tube_value(struct metrics_text *text, const struct metric_queue_family *family,
                             const struct metric_row *row, char *labels, size_t len)
{
    metrics_text_count(text, &family->family, slice_of(labels, len), row->tube[family->number]);
}

static void write_tube_jobs(struct metrics_text *text, const struct metric_queue_family *family,
                            const struct metric_row *row, char *labels, size_t len)
{
    metrics_text_count(text, &family->family, slice_of(labels, len),
                       row->numbers.of[family->number]);
}

static void write_waiting_jobs(struct metrics_text *text, const struct metric_queue_family *family,
                               const struct metric_row *row, char *labels, size_t len)
{
    const uint64_t *jobs = row->numbers.of + NUMBER_JOBS;

    metrics_text_count(text, &family->family, slice_of(labels, len),
                       jobs[JOB_READY] + jobs[JOB_DELAYED]);
}

static void write_unfinished_jobs(struct metrics_text *text,
                                  const struct metric_queue_family *family,
                                  const struct metric_row *row, char *labels, size_t len)
{
    const uint64_t *jobs = row->numbers.of + NUMBER_JOBS;

    metrics_text_count(text, &family->family, slice_of(labels, len),
                       jobs[JOB_READY] + jobs[JOB_DELAYED] + jobs[JOB_RESERVED]);
}

#define TUBE(name, type, suffix, write, n, help)                                                   \
    {{"tube_" name, METRIC_GAUGE, help},                                                           \
     write,                                                                                        \
     .number = (n),                                                                                \
     .exporter = METRICS_BEANSTALKD,                                                               \
     .label = "tube"},                                                                             \
    {                                                                                              \
        {"beanstalkd_tube_" name suffix, METRIC_##type, help}, write,                              \
            .number = (n), .exporter = METRICS_BEANSTALKD, .label = "tube"                         \
    }
#define FUNCTION(name, write, n, help)                                                             \
    {                                                                                              \
        {"gearman_" name, METRIC_GAUGE, help}, write, .number = (n), .exporter = METRICS_GEARMAN,  \
                                                      .label = "function"                          \
    }

static const struct metric_queue_family exporter_families[] = {
    TUBE("current_jobs_urgent", GAUGE, "_count", write_tube_jobs, OF_BAND(BAND_HIGH),
         "Ready jobs with a priority below 1024."),
    TUBE("current_jobs_ready", GAUGE, "_count", write_tube_jobs, OF_STATE(JOB_READY),
         "Ready jobs."),
    TUBE("current_jobs_reserved", GAUGE, "_count", write_tube_jobs, OF_STATE(JOB_RESERVED),
         "Reserved jobs."),
    TUBE("current_jobs_delayed", GAUGE, "_count", write_tube_jobs, OF_STATE(JOB_DELAYED),
         "Delayed jobs."),
    TUBE("current_jobs_buried", GAUGE, "_count", write_tube_jobs, OF_STATE(JOB_BURIED),
         "Buried jobs."),
    TUBE("total_jobs", GAUGE, "_count", write_tube_value, TUBE_TOTAL, "Jobs accepted so far."),
    TUBE("current_using", GAUGE, "_count", write_tube_value, TUBE_USING,
         "Sessions that use the queue."),
    TUBE("current_watching", GAUGE, "_count", write_tube_value, TUBE_WATCHING,
         "Sessions that take jobs from the queue."),
    TUBE("current_waiting", GAUGE, "_count", write_tube_value, TUBE_WAITING,
         "Sessions that wait for a job of the queue."),
    TUBE("cmd_delete", COUNTER, "", write_tube_value, TUBE_DELETES, "Jobs completed or deleted."),
    TUBE("cmd_pause_tube", COUNTER, "", write_tube_value, TUBE_PAUSES,
         "Times that the queue was paused."),
    TUBE("pause", GAUGE, "_seconds_total", write_tube_value, TUBE_PAUSE,
         "Duration of the pause in seconds."),
    TUBE("pause_time_left", GAUGE, "_seconds_total", write_tube_value, TUBE_PAUSE_LEFT,
         "Remaining seconds of the pause."),
    FUNCTION("jobs", write_unfinished_jobs, 0, "Waiting and running jobs."),
    FUNCTION("jobs_running", write_tube_jobs, OF_STATE(JOB_RESERVED), "Running jobs."),
    FUNCTION("jobs_waiting", write_waiting_jobs, 0, "Waiting jobs."),
    FUNCTION("workers", write_tube_value, TUBE_WATCHING, "Workers of the function."),
    FUNCTION("status_total", write_unfinished_jobs, 0, "Waiting and running jobs."),
    FUNCTION("status_running", write_tube_jobs, OF_STATE(JOB_RESERVED), "Running jobs."),
    FUNCTION("status_workers", write_tube_value, TUBE_WATCHING, "Workers of the function."),
    FUNCTION("function_jobs", write_unfinished_jobs, 0, "Waiting and running jobs."),
    FUNCTION("function_jobs_running", write_tube_jobs, OF_STATE(JOB_RESERVED), "Running jobs."),
    FUNCTION("function_jobs_waiting", write_waiting_jobs, 0, "Waiting jobs."),
    FUNCTION("function_workers", write_tube_value, TUBE_WATCHING, "Workers of the function."),
};

const struct metric_queue_family *metrics_exporters_family(size_t index)
{
    return index < sizeof exporter_families / sizeof *exporter_families ? &exporter_families[index]
                                                                        : NULL;
}
