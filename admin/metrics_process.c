/* SPDX-License-Identifier: MIT */
#include "admin/metrics_process.h"

#include "proto_common/frontend.h"

#include "admin/metrics_cluster.h"
#include "admin/metrics_label.h"
#include "admin/metrics_push.h"

#include <stdio.h>
#include <string.h>

#define LABEL_ROOM 256

//
// What is more than one number
//

// `name="value"`, with the value escaped and cut; returns how many bytes.
static size_t label(char *to, const char *name, const char *value)
{
    size_t len = (size_t)snprintf(to, LABEL_ROOM, "%s=\"", name);
    size_t most = (LABEL_ROOM - len - 2) / 2;
    size_t value_len = strlen(value);

    len += metrics_escape(to + len, slice_of(value, value_len < most ? value_len : most));
    to[len++] = '"';
    return len;
}

static void write_labelled(struct metrics_text *text, const struct metric_family *family,
                           const char *name, const char *value, uint64_t count)
{
    char labels[LABEL_ROOM];

    metrics_text_count(text, family, slice_of(labels, label(labels, name, value)), count);
}

static void write_build(struct metrics_text *text, const struct metric_family *family,
                        const struct metric_look *look)
{
    write_labelled(text, family, "version", look->facts->version, 1);
}

static void write_opening(struct metrics_text *text, const struct metric_family *family,
                          const struct metric_look *look)
{
    write_labelled(text, family, "part", "done", look->opening.done);
    write_labelled(text, family, "part", "all", look->opening.total);
}

static void write_memory(struct metrics_text *text, const struct metric_family *family,
                         const struct metric_look *look)
{
    for (size_t i = 0; look->memory.kinds && look->memory.kinds[i]; i++) {
        write_labelled(text, family, "kind", look->memory.kinds[i], look->memory.by_kind[i]);
    }
}

static void write_disk(struct metrics_text *text, const struct metric_family *family,
                       const struct metric_look *look)
{
    if (look->journal.disk_free != UINT64_MAX) {
        metrics_text_count(text, family, SLICE(""), look->journal.disk_free);
    }
}

// A number of each protocol, which stands at that offset.
static void write_protocols(struct metrics_text *text, const struct metric_family *family,
                            const struct metric_look *look, size_t offset)
{
    struct sight_protocol protocol;
    uint64_t count;

    for (size_t i = 0; look->sight && look->sight->protocol(look->sight->host, i, &protocol); i++) {
        memcpy(&count, (const char *)&protocol + offset, sizeof count);
        write_labelled(text, family, "protocol", protocol.name, count);
    }
}

static void write_open(struct metrics_text *text, const struct metric_family *family,
                       const struct metric_look *look)
{
    write_protocols(text, family, look, offsetof(struct sight_protocol, open));
}

static void write_accepted(struct metrics_text *text, const struct metric_family *family,
                           const struct metric_look *look)
{
    write_protocols(text, family, look, offsetof(struct sight_protocol, accepted));
}

static void write_commands(struct metrics_text *text, const struct metric_family *family,
                           const struct metric_look *look)
{
    write_protocols(text, family, look, offsetof(struct sight_protocol, commands));
}

static void write_received(struct metrics_text *text, const struct metric_family *family,
                           const struct metric_look *look)
{
    write_protocols(text, family, look, offsetof(struct sight_protocol, received));
}

static void write_sent(struct metrics_text *text, const struct metric_family *family,
                       const struct metric_look *look)
{
    write_protocols(text, family, look, offsetof(struct sight_protocol, sent));
}

static void write_refusals(struct metrics_text *text, const struct metric_family *family,
                           const struct metric_look *look)
{
    static const char *const kinds[] = {
#define X(name, word, help) word,
        SIGHT_REFUSALS(X)
#undef X
    };
    struct sight_protocol protocol;
    char labels[2 * LABEL_ROOM];

    for (size_t i = 0; look->sight && look->sight->protocol(look->sight->host, i, &protocol); i++) {
        size_t len = label(labels, "protocol", protocol.name);

        labels[len++] = ',';
        for (size_t kind = 0; kind < SIGHT_REFUSAL_COUNT; kind++) {
            size_t more = label(labels + len, "kind", kinds[kind]);

            metrics_text_count(text, family, slice_of(labels, len + more), protocol.refusals[kind]);
        }
    }
}

static void write_spans(struct metrics_text *text, const struct metric_family *family,
                        const uint64_t *times)
{
    metrics_text_histogram(text, family, SLICE(""),
                           &(struct metric_histogram){.ends = metric_ends,
                                                      .counts = times,
                                                      .buckets = METRIC_BUCKETS,
                                                      .sum = times[METRIC_BUCKETS],
                                                      .nanoseconds = true,
                                                      .sum_in_us = true});
}

static void write_wait(struct metrics_text *text, const struct metric_family *family,
                       const struct metric_look *look)
{
    write_spans(text, family, look->all.of + NUMBER_WAIT);
}

static void write_run(struct metrics_text *text, const struct metric_family *family,
                      const struct metric_look *look)
{
    write_spans(text, family, look->all.of + NUMBER_RUN);
}

static void write_distribution(struct metrics_text *text, const struct metric_family *family,
                               const struct sight_distribution *distribution, bool nanoseconds)
{
    if (distribution->buckets > 0) {
        metrics_text_histogram(text, family, SLICE(""),
                               &(struct metric_histogram){.ends = distribution->ends,
                                                          .counts = distribution->counts,
                                                          .buckets = distribution->buckets,
                                                          .sum = distribution->sum,
                                                          .nanoseconds = nanoseconds});
    }
}

static void write_syncs(struct metrics_text *text, const struct metric_family *family,
                        const struct metric_look *look)
{
    write_distribution(text, family, &look->journal.syncs, true);
}

static void write_batches(struct metrics_text *text, const struct metric_family *family,
                          const struct metric_look *look)
{
    write_distribution(text, family, &look->journal.batch_records, false);
}

//
// The table
//

enum kind {
    WHOLE,   // uint64_t
    SECONDS, // nsec_t
    SMALL,   // unsigned
    FLAG,    // bool
    WRITTEN  // by the function
};

struct process_row {
    struct metric_family family;
    enum kind kind;
    size_t offset; // of the field in struct metric_look
    void (*write)(struct metrics_text *text, const struct metric_family *family,
                  const struct metric_look *look);
};

#define G(kind, name, field, help)                                                                 \
    {                                                                                              \
        {"tandem_" name, METRIC_GAUGE, help}, kind, offsetof(struct metric_look, field), NULL      \
    }
#define C(name, field, help)                                                                       \
    {                                                                                              \
        {"tandem_" name, METRIC_COUNTER, help}, WHOLE, offsetof(struct metric_look, field), NULL   \
    }
#define W(type, name, write, help)                                                                 \
    {                                                                                              \
        {name, METRIC_##type, help}, WRITTEN, 0, write                                             \
    }
#define P(type, kind, name, field, help)                                                           \
    {                                                                                              \
        {"process_" name, METRIC_##type, help}, kind, offsetof(struct metric_look, field), NULL    \
    }

static const struct process_row rows[] = {
    W(GAUGE, "tandem_build_info", write_build, "Always 1; the label is the version of Tandem."),
    G(SECONDS, "uptime_seconds", up_for, "Seconds since the process started."),
    G(FLAG, "draining", broker.draining,
      "1 while the broker drains, so that new jobs are refused."),
    G(FLAG, "opening", is_opening, "1 while the journal is read at the start."),
    W(GAUGE, "tandem_opening_bytes", write_opening,
      "Bytes of the journal while it is read at the start: those read so far, and all."),
    G(WHOLE, "opening_jobs", opening.jobs, "Jobs restored from the journal so far."),

    G(WHOLE, "queues", broker.queues, "Queues."),
    G(WHOLE, "queues_in_rest", unnamed,
      "Queues without metrics of their own, which are summed up in the rest."),
    G(WHOLE, "sessions", broker.sessions, "Sessions: connections that may submit or work."),
    G(WHOLE, "workers", broker.workers, "Sessions that have asked for a job."),
    G(WHOLE, "producers", broker.producers, "Sessions that have submitted a job."),
    G(WHOLE, "waiting_workers", broker.waiting, "Sessions that currently wait for a job."),
    C("broker_jobs_submitted", all.of[NUMBER_SUBMITTED],
      "Jobs accepted, in all queues, removed ones included."),
    C("broker_jobs_completed", all.of[NUMBER_COMPLETED],
      "Jobs completed, in all queues, removed ones included."),
    C("broker_jobs_failed", all.of[NUMBER_FAILED],
      "Jobs failed, in all queues, removed ones included."),
    C("broker_jobs_buried", all.of[NUMBER_BURIED],
      "Jobs buried, in all queues, removed ones included."),
    C("broker_job_timeouts", all.of[NUMBER_TIMEOUTS],
      "Leases that timed out, in all queues, removed ones included."),
    C("broker_job_retries", all.of[NUMBER_RETRIES],
      "Leases after which the job waits for another attempt, in all queues, removed ones "
      "included."),
    C("broker_jobs_deleted", all.of[NUMBER_DELETED],
      "Jobs deleted, in all queues, removed ones included."),
    C("broker_jobs_expired", all.of[NUMBER_EXPIRED],
      "Jobs that waited longer than their policy allows, in all queues, removed ones included."),
    C("broker_jobs_dead", all.of[NUMBER_DEAD],
      "Jobs that their policy moved to a dead-letter queue, in all queues, removed ones included."),
    W(HISTOGRAM, "tandem_broker_wait_seconds", write_wait,
      "Time from ready to reserved, in all queues, removed ones included."),
    W(HISTOGRAM, "tandem_broker_run_seconds", write_run,
      "Time from reserved to done, in all queues, removed ones included."),

    W(GAUGE, "tandem_connections", write_open, "Open connections."),
    W(COUNTER, "tandem_connections_accepted", write_accepted, "Connections accepted so far."),
    W(COUNTER, "tandem_commands", write_commands, "Commands, packets and requests so far."),
    W(COUNTER, "tandem_received_bytes", write_received, "Bytes from clients."),
    W(COUNTER, "tandem_sent_bytes", write_sent, "Bytes to clients."),
    W(COUNTER, "tandem_refusals", write_refusals, "Refusals so far, by kind."),

    G(FLAG, "journal_enabled", journal.enabled, "1 if there is a journal."),
    G(WHOLE, "journal_bytes", journal.bytes, "Bytes of the journal in storage."),
    G(WHOLE, "journal_live_bytes", journal.live, "Bytes of journal records that are still needed."),
    G(WHOLE, "journal_segments", journal.segments, "Segments of the journal."),
    G(WHOLE, "journal_segment_bytes", journal.segment_bytes, "Size of a segment of the journal."),
    C("journal_records", journal.records, "Records written."),
    C("journal_records_migrated", journal.migrated, "Records written again to free old segments."),
    C("journal_batches", journal.batches, "Batches of records written."),
    W(HISTOGRAM, "tandem_journal_batch_records", write_batches, "Records in a batch."),
    W(HISTOGRAM, "tandem_journal_sync_seconds", write_syncs, "Duration of a sync of the disk."),
    C("journal_errors", journal.errors, "Writes and syncs that failed."),
    G(FLAG, "journal_failing", journal.failing, "1 while the journal refuses records."),
    W(GAUGE, "tandem_journal_disk_free_bytes", write_disk,
      "Free space on the disk of the journal."),

    G(WHOLE, "schedules", schedule_count, "Schedules."),
    C("schedule_firings", schedules.fired, "Jobs submitted by schedules."),
    C("schedule_late_firings", schedules.late,
      "Jobs submitted by schedules a minute or more after their planned time."),
    C("schedule_misses", schedules.missed, "Times that planned times were skipped as missed."),
    C("schedule_overlaps", schedules.overlapped,
      "Planned times skipped because the previous job was not done."),
    C("schedule_refusals", schedules.refused, "Submissions by schedules that were refused."),
    C("schedule_failures", schedules.given_up,
      "Planned times whose job was refused until the next one."),

    C("loop_turns", loop.turns, "Turns of the loop."),
    C("loop_slow_turns", loop.slow_turns, "Turns that were logged because they were slow."),
    G(SECONDS, "loop_longest_turn_seconds", loop.longest_for,
      "Duration of the longest turn in about the last minute, without the time spent waiting."),
    G(SECONDS, "loop_lag_seconds", loop.lag_for,
      "Largest delay of a due timer in about the last minute."),
    G(SMALL, "io_threads", loop.io_threads, "Threads that receive and send."),

    G(WHOLE, "memory_used_bytes", memory.used, "Memory used on behalf of clients."),
    G(WHOLE, "memory_limit_bytes", memory.limit, "Its limit, server.max_memory; 0 for no limit."),
    G(FLAG, "memory_short", memory.is_short,
      "1 while new work is refused because memory is short."),
    W(GAUGE, "tandem_memory_bytes", write_memory, "Memory used on behalf of clients, by purpose."),

    G(WHOLE, "results", results.count, "Kept results."),
    G(WHOLE, "results_bytes", results.bytes, "Memory of the kept results."),
    C("results_dropped", results.evicted, "Results dropped early to make room for newer ones."),
    C("results_refused", results.refused,
      "Results not kept, or kept without their data, because they were too large or memory was "
      "short."),

    P(COUNTER, SECONDS, "cpu_seconds", cpu_for, "Processor time of the process, user and system."),
    P(GAUGE, SECONDS, "start_time_seconds", started_at,
      "When the process started, in seconds since 1970."),
    P(GAUGE, WHOLE, "resident_memory_bytes", memory.resident, "Resident memory of the process."),
    P(GAUGE, WHOLE, "open_fds", descriptors.open, "Open files and sockets."),
    P(GAUGE, WHOLE, "max_fds", descriptors.limit, "Limit on open files and sockets."),
};

static void write_row(const struct process_row *row, const struct metric_look *look,
                      struct metrics_text *text)
{
    const char *field = (const char *)look + row->offset;
    const struct metric_family *family = &row->family;

    metrics_text_head(text, family);
    switch (row->kind) {
    case WHOLE:
        metrics_text_count(text, family, SLICE(""), *(const uint64_t *)(const void *)field);
        break;
    case SECONDS:
        metrics_text_seconds(text, family, SLICE(""),
                             (uint64_t) * (const nsec_t *)(const void *)field);
        break;
    case SMALL:
        metrics_text_count(text, family, SLICE(""), *(const unsigned *)(const void *)field);
        break;
    case FLAG:
        metrics_text_count(text, family, SLICE(""), *(const bool *)field);
        break;
    case WRITTEN:
        row->write(text, family, look);
        break;
    }
}

void metrics_process_write(const struct metric_look *look, struct metrics_text *text)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        write_row(&rows[i], look, text);
    }
    metrics_push_write(look->sight, text);
    metrics_cluster_write(&look->cluster, text);
}
