/* SPDX-License-Identifier: MIT */
#include "admin/metrics/metrics_process.h"

#include "core/base/macros.h"
#include "proto_common/frontend.h"
#include "proto_common/introspect_queues.h"

#include "admin/json/process_json.h"

#include <stdio.h>
#include <string.h>

// Maximum length of a label with a short value.
#define LABEL_MAX 256
// Maximum length of labels of which one is a name that may be as long as that of a queue.
#define NAME_LABELS_MAX (METRICS_LABEL_MAX + 64)
// Maximum numbers of endpoints and members with metrics of their own.
#define ENDPOINTS_MAX 100
#define MEMBERS_MAX 32
#define OUTCOMES_MOST 16

//
// Taking the sample
//

static void sample_beanstalk(struct process_sample *sample)
{
    struct introspect_protocol protocol;

    for (size_t i = 0; sample->introspect->protocol(sample->introspect->host, i, &protocol); i++) {
        if (strcmp(protocol.name, "beanstalk") == 0) {
            sample->beanstalk = protocol;
        }
    }
}

void process_sample_take(struct process_sample *sample, const struct broker *broker,
                         const struct process_facts *facts, const struct introspect *introspect)
{
    const struct schedules *schedules;
    struct instant now = broker_now(broker);

    memset(sample, 0, sizeof *sample);
    sample->facts = facts;
    sample->introspect = introspect;
    broker_info(broker, &sample->broker);
    broker_memo_usage(broker, MEMO_RESULT, &sample->results);
    metric_numbers_broker(broker, &sample->all);
    sample->up_for = now.mono > facts->started_at ? now.mono - facts->started_at : 0;
    sample->started_at = now.wall > sample->up_for ? now.wall - sample->up_for : 0;
    facts->cpu_time(&sample->user_for, &sample->system_for);
    sample->cpu_for = sample->user_for + sample->system_for;
    sample->journal.disk_free = UINT64_MAX;
    cluster_info_get(introspect, &sample->cluster);
    if (!introspect) {
        return;
    }
    sample_beanstalk(sample);
    introspect->loop(introspect->host, &sample->loop);
    introspect->memory(introspect->host, &sample->memory);
    introspect->descriptors(introspect->host, &sample->descriptors);
    introspect->journal(introspect->host, &sample->journal);
    schedules = introspect->schedules(introspect->host);
    if (schedules) {
        sample->schedule_count = schedules_count(schedules);
        schedules_counts(schedules, &sample->schedules);
    }
    // A standby reads the journal for as long as it lives; its role shows that.
    sample->is_opening = introspect->opening(introspect->host, &sample->opening) &&
                         sample->cluster.role != CLUSTER_STANDBY;
    if (!sample->is_opening) {
        sample->opening = (struct restore_progress){.jobs = 0};
    }
}

//
// Metrics with several samples
//

// Writes `name="value"`, with the value escaped and cut; returns the length.
static size_t label_write(char *to, const char *name, const char *value)
{
    size_t len = (size_t)snprintf(to, LABEL_MAX, "%s=\"", name);
    size_t most = (LABEL_MAX - len - 2) / 2;
    size_t value_len = strlen(value);

    len += metrics_escape(to + len, slice_of(value, value_len < most ? value_len : most));
    to[len++] = '"';
    return len;
}

// Writes `key="name"`, with the name as metrics_label() writes names of queues; returns the length.
static size_t label_write_name(char labels[NAME_LABELS_MAX], const char *key, const char *name)
{
    size_t len = (size_t)snprintf(labels, NAME_LABELS_MAX, "%s=\"", key);

    len += metrics_label(labels + len, slice_str(name));
    labels[len++] = '"';
    return len;
}

static void write_labelled(struct metrics_text *text, const struct metric_family *family,
                           const char *name, const char *value, uint64_t count)
{
    char labels[LABEL_MAX];

    metrics_text_count(text, family, slice_of(labels, label_write(labels, name, value)), count);
}

static void write_build_info(struct metrics_text *text, const struct metric_family *family,
                             const struct process_sample *sample)
{
    write_labelled(text, family, "version", sample->facts->version, 1);
}

static void write_opening_bytes(struct metrics_text *text, const struct metric_family *family,
                                const struct process_sample *sample)
{
    write_labelled(text, family, "part", "done", sample->opening.read);
    write_labelled(text, family, "part", "all", sample->opening.size);
}

static void write_memory_kinds(struct metrics_text *text, const struct metric_family *family,
                               const struct process_sample *sample)
{
    for (size_t i = 0; sample->memory.kinds && sample->memory.kinds[i]; i++) {
        write_labelled(text, family, "kind", sample->memory.kinds[i], sample->memory.by_kind[i]);
    }
}

static void write_journal_disk(struct metrics_text *text, const struct metric_family *family,
                               const struct process_sample *sample)
{
    if (sample->journal.disk_free != UINT64_MAX) {
        metrics_text_count(text, family, SLICE(""), sample->journal.disk_free);
    }
}

// Writes the uint64_t at this offset of each protocol.
static void write_protocols(struct metrics_text *text, const struct metric_family *family,
                            const struct process_sample *sample, size_t offset)
{
    struct introspect_protocol protocol;
    uint64_t count;

    for (size_t i = 0;
         sample->introspect && sample->introspect->protocol(sample->introspect->host, i, &protocol);
         i++) {
        memcpy(&count, (const char *)&protocol + offset, sizeof count);
        write_labelled(text, family, "protocol", protocol.name, count);
    }
}

static void write_protocol_refusals(struct metrics_text *text, const struct metric_family *family,
                                    const struct process_sample *sample)
{
    static const char *const kinds[] = {
#define X(name, word, help) word,
        REFUSALS(X)
#undef X
    };
    struct introspect_protocol protocol;
    char labels[2 * LABEL_MAX];

    for (size_t i = 0;
         sample->introspect && sample->introspect->protocol(sample->introspect->host, i, &protocol);
         i++) {
        size_t len = label_write(labels, "protocol", protocol.name);

        labels[len++] = ',';
        for (size_t kind = 0; kind < REFUSAL_COUNT; kind++) {
            size_t more = label_write(labels + len, "kind", kinds[kind]);

            metrics_text_count(text, family, slice_of(labels, len + more), protocol.refusals[kind]);
        }
    }
}

static void write_distribution(struct metrics_text *text, const struct metric_family *family,
                               const struct introspect_distribution *distribution, bool nanoseconds)
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

//
// Push endpoints
//

struct push_totals {
    uint64_t in_flight, paused;
    uint64_t outcomes[OUTCOMES_MOST];
};

static const struct metric_family push_requests = {"tandem_push_requests", METRIC_COUNTER,
                                                   "Requests to endpoints so far, by outcome."};
static const struct metric_family push_in_flight = {"tandem_push_in_flight", METRIC_GAUGE,
                                                    "Jobs in flight to endpoints."};
static const struct metric_family push_paused = {
    "tandem_push_paused", METRIC_GAUGE,
    "1 if the endpoint is paused; for the rest, the number of paused endpoints."};
static const struct metric_family push_seconds = {
    "tandem_push_seconds", METRIC_HISTOGRAM,
    "Time from a request to its reply, over all endpoints."};

static void push_totals_add(struct push_totals *totals, const struct introspect_push *push)
{
    totals->in_flight += push->in_flight;
    totals->paused += push->paused_for > 0 ? 1 : 0;
    for (size_t i = 0; i < push->outcome_count && i < OUTCOMES_MOST; i++) {
        totals->outcomes[i] += push->outcomes[i];
    }
}

// Writes the samples of an endpoint, or of the rest, whose section is empty. `last` has the names
// of the outcomes.
typedef void (*write_push_fn)(struct metrics_text *text, const char *section,
                              const struct push_totals *totals, const struct introspect_push *last);

static void write_push_requests(struct metrics_text *text, const char *section,
                                const struct push_totals *totals,
                                const struct introspect_push *last)
{
    char labels[NAME_LABELS_MAX];
    size_t len = label_write_name(labels, "section", section);

    for (size_t i = 0; i < last->outcome_count && i < OUTCOMES_MOST; i++) {
        size_t more = (size_t)snprintf(labels + len, sizeof labels - len, ",outcome=\"%s\"",
                                       last->outcome_words[i]);

        metrics_text_count(text, &push_requests, slice_of(labels, len + more), totals->outcomes[i]);
    }
}

static void write_push_in_flight(struct metrics_text *text, const char *section,
                                 const struct push_totals *totals,
                                 const struct introspect_push *last)
{
    char labels[NAME_LABELS_MAX];
    size_t len = label_write_name(labels, "section", section);

    (void)last;
    metrics_text_count(text, &push_in_flight, slice_of(labels, len), totals->in_flight);
}

static void write_push_paused(struct metrics_text *text, const char *section,
                              const struct push_totals *totals, const struct introspect_push *last)
{
    char labels[NAME_LABELS_MAX];
    size_t len = label_write_name(labels, "section", section);

    (void)last;
    metrics_text_count(text, &push_paused, slice_of(labels, len), totals->paused);
}

static void write_push_family(const struct introspect *introspect, struct metrics_text *text,
                              const struct metric_family *family, write_push_fn write)
{
    struct push_totals rest = {.in_flight = 0};
    struct introspect_push push;
    struct introspect_push last;
    size_t listed = 0;

    metrics_text_head(text, family);
    for (size_t i = 0; introspect && introspect->pushes->at(introspect->host, i, &push); i++) {
        struct push_totals totals = {.in_flight = 0};

        // An endpoint that was removed from the configuration may have a successor with the same
        // section.
        if (strcmp(push.state, "leaving") == 0) {
            continue;
        }
        last = push;
        if (listed++ < ENDPOINTS_MAX) {
            push_totals_add(&totals, &push);
            write(text, push.section, &totals, &push);
        } else {
            push_totals_add(&rest, &push);
        }
    }
    if (listed > ENDPOINTS_MAX) {
        write(text, "", &rest, &last);
    }
}

static void write_push(const struct introspect *introspect, struct metrics_text *text)
{
    struct introspect_distribution seconds = {.buckets = 0};

    write_push_family(introspect, text, &push_requests, write_push_requests);
    write_push_family(introspect, text, &push_in_flight, write_push_in_flight);
    write_push_family(introspect, text, &push_paused, write_push_paused);
    // One histogram for all endpoints: one for each would be most of the page.
    if (introspect) {
        introspect->pushes->seconds(introspect->host, &seconds);
    }
    metrics_text_head(text, &push_seconds);
    write_distribution(text, &push_seconds, &seconds, true);
}

//
// A shared journal
//

static const struct metric_family cluster_role = {
    "tandem_cluster_role", METRIC_GAUGE,
    "1 for the current role of this process in the shared journal, 0 for the other roles."};
static const struct metric_family member_behind = {
    "tandem_cluster_member_behind_rows", METRIC_GAUGE,
    "Rows of the journal that a member has not read yet."};
static const struct metric_family member_seen = {"tandem_cluster_member_seen_seconds", METRIC_GAUGE,
                                                 "Time since a member was last seen."};

static void write_cluster_role(const struct introspect_cluster *cluster, struct metrics_text *text)
{
    static const enum cluster_role roles[] = {CLUSTER_OWNER, CLUSTER_UNSURE, CLUSTER_STANDBY,
                                              CLUSTER_OPENING};
    char labels[NAME_LABELS_MAX];

    metrics_text_head(text, &cluster_role);
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++) {
        // The name of a shard needs no escaping.
        size_t len = (size_t)snprintf(labels, sizeof labels, "shard=\"%s\",role=\"%s\"",
                                      cluster->shard, cluster_role_name(roles[i]));

        metrics_text_count(text, &cluster_role, slice_of(labels, len), roles[i] == cluster->role);
    }
}

static void write_cluster_members(const struct introspect_cluster *cluster,
                                  struct metrics_text *text, const struct metric_family *family)
{
    char labels[NAME_LABELS_MAX];

    metrics_text_head(text, family);
    for (size_t i = 0; i < cluster->count && i < MEMBERS_MAX; i++) {
        const struct introspect_member *member = &cluster->members[i];
        struct slice at = slice_of(labels, label_write_name(labels, "node", member->node));

        if (family == &member_behind) {
            metrics_text_count(text, family, at, member->behind);
        } else {
            metrics_text_seconds(text, family, at, (uint64_t)member->seen_for);
        }
    }
}

static void write_cluster_count(struct metrics_text *text, const struct metric_family *family,
                                uint64_t count)
{
    metrics_text_head(text, family);
    metrics_text_count(text, family, SLICE(""), count);
}

static void write_cluster_seconds(struct metrics_text *text, const struct metric_family *family,
                                  nsec_t span)
{
    metrics_text_head(text, family);
    metrics_text_seconds(text, family, SLICE(""), (uint64_t)(span > 0 ? span : 0));
}

#define FAMILY(type, name, help)                                                                   \
    &(const struct metric_family)                                                                  \
    {                                                                                              \
        "tandem_cluster_" name, METRIC_##type, help                                                \
    }

static void write_cluster_owner(const struct introspect_cluster *cluster, struct metrics_text *text)
{
    write_cluster_count(
        text,
        FAMILY(GAUGE, "epoch",
               "Increases by one with each change of the owner of the shared journal."),
        cluster->epoch);
    write_cluster_seconds(
        text,
        FAMILY(GAUGE, "owner_since_seconds",
               "When the owner took over the journal, in seconds since 1970; 0 without an owner."),
        (nsec_t)cluster->since_ms * NSEC_PER_MSEC);
    write_cluster_seconds(text,
                          FAMILY(GAUGE, "lease_left_seconds",
                                 "Time until the owner's lease ends unless it is renewed."),
                          cluster->lease_left_for);
    write_cluster_count(text,
                        FAMILY(COUNTER, "takeovers", "Times that this process became the owner."),
                        cluster->takeovers);
    write_cluster_count(
        text,
        FAMILY(GAUGE, "behind_rows", "Rows of the journal that this process has not read yet."),
        cluster->behind);
}

static void write_cluster_database(const struct introspect_cluster *cluster,
                                   struct metrics_text *text)
{
    write_cluster_count(text,
                        FAMILY(GAUGE, "database_connected", "1 while the database can be reached."),
                        cluster->connected);
    write_cluster_count(text, FAMILY(GAUGE, "database_durable", "1 if a commit waits for a disk."),
                        cluster->durable);
    write_cluster_count(text,
                        FAMILY(GAUGE, "database_replicated",
                               "1 if a commit waits for a second server of the database."),
                        cluster->replicated);
    write_cluster_count(
        text,
        FAMILY(GAUGE, "database_trusted",
               "1 if journal.require_quorum is no, so the two before cause no warning."),
        cluster->trusted);
}

static void write_cluster(const struct introspect_cluster *cluster, struct metrics_text *text)
{
    if (cluster->role == CLUSTER_ALONE) {
        return;
    }
    write_cluster_role(cluster, text);
    write_cluster_owner(cluster, text);
    write_cluster_count(text, FAMILY(GAUGE, "members", "Processes that own or follow the journal."),
                        cluster->count);
    write_cluster_members(cluster, text, &member_behind);
    write_cluster_members(cluster, text, &member_seen);
    write_cluster_database(cluster, text);
    write_cluster_count(
        text, FAMILY(GAUGE, "proxied_connections", "Connections that are forwarded to the owner."),
        cluster->proxied);
    write_cluster_count(
        text, FAMILY(COUNTER, "connections_proxied", "Connections forwarded to the owner so far."),
        cluster->proxied_total);
}

//
// The table
//

enum process_row_kind {
    WHOLE,     // uint64_t
    SECONDS,   // nsec_t
    SMALL,     // unsigned
    FLAG,      // bool
    PROTOCOLS, // uint64_t of struct introspect_protocol, for each protocol
    TIMES,     // METRIC_TIMES numbers
    SPANS,     // struct introspect_distribution of nanoseconds
    VALUES,    // struct introspect_distribution of plain numbers
    WRITTEN    // by a function
};

struct process_row {
    struct metric_family family;
    enum process_row_kind kind;
    size_t offset; // in struct process_sample, or as the kind says
    void (*write)(struct metrics_text *text, const struct metric_family *family,
                  const struct process_sample *sample);
};

#define G(kind, name, field, help)                                                                 \
    {                                                                                              \
        {"tandem_" name, METRIC_GAUGE, help}, kind, offsetof(struct process_sample, field), NULL   \
    }
#define C(name, field, help)                                                                       \
    {                                                                                              \
        {"tandem_" name, METRIC_COUNTER, help}, WHOLE, offsetof(struct process_sample, field),     \
            NULL                                                                                   \
    }
#define W(type, name, write, help)                                                                 \
    {                                                                                              \
        {name, METRIC_##type, help}, WRITTEN, 0, write                                             \
    }
#define R(type, name, field, help)                                                                 \
    {                                                                                              \
        {"tandem_" name, METRIC_##type, help}, PROTOCOLS,                                          \
            offsetof(struct introspect_protocol, field), NULL                                      \
    }
#define H(kind, name, field, help)                                                                 \
    {                                                                                              \
        {"tandem_" name, METRIC_HISTOGRAM, help}, kind, offsetof(struct process_sample, field),    \
            NULL                                                                                   \
    }
#define P(type, kind, name, field, help)                                                           \
    {                                                                                              \
        {"process_" name, METRIC_##type, help}, kind, offsetof(struct process_sample, field), NULL \
    }

static const struct process_row process_rows[] = {
    W(GAUGE, "tandem_build_info", write_build_info,
      "Always 1; the label is the version of Tandem."),
    G(SECONDS, "uptime_seconds", up_for, "Seconds since the process started."),
    G(FLAG, "draining", broker.draining,
      "1 while the broker drains, so that new jobs are refused."),
    G(FLAG, "opening", is_opening, "1 while the journal is read at the start."),
    W(GAUGE, "tandem_opening_bytes", write_opening_bytes,
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
    H(TIMES, "broker_wait_seconds", all.of[NUMBER_WAIT],
      "Time from ready to reserved, in all queues, removed ones included."),
    H(TIMES, "broker_run_seconds", all.of[NUMBER_RUN],
      "Time from reserved to done, in all queues, removed ones included."),

    R(GAUGE, "connections", open, "Open connections."),
    R(COUNTER, "connections_accepted", accepted, "Connections accepted so far."),
    R(COUNTER, "commands", commands, "Commands, packets and requests so far."),
    R(COUNTER, "received_bytes", received, "Bytes from clients."),
    R(COUNTER, "sent_bytes", sent, "Bytes to clients."),
    W(COUNTER, "tandem_refusals", write_protocol_refusals, "Refusals so far, by kind."),

    G(FLAG, "journal_enabled", journal.enabled, "1 if there is a journal."),
    G(WHOLE, "journal_bytes", journal.bytes, "Bytes of the journal in storage."),
    G(WHOLE, "journal_live_bytes", journal.live, "Bytes of journal records that are still needed."),
    G(WHOLE, "journal_segments", journal.segments, "Segments of the journal."),
    G(WHOLE, "journal_segment_bytes", journal.segment_bytes, "Size of a segment of the journal."),
    C("journal_records", journal.records, "Records written."),
    C("journal_records_migrated", journal.migrated, "Records written again to free old segments."),
    C("journal_batches", journal.batches, "Batches of records written."),
    H(VALUES, "journal_batch_records", journal.batch_records, "Records in a batch."),
    H(SPANS, "journal_sync_seconds", journal.syncs, "Duration of a sync of the disk."),
    C("journal_errors", journal.errors, "Writes and syncs that failed."),
    G(FLAG, "journal_failing", journal.failing, "1 while the journal refuses records."),
    W(GAUGE, "tandem_journal_disk_free_bytes", write_journal_disk,
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
    W(GAUGE, "tandem_memory_bytes", write_memory_kinds,
      "Memory used on behalf of clients, by purpose."),

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

static void write_process_row(const struct process_row *row, const struct process_sample *sample,
                              struct metrics_text *text)
{
    const char *field = (const char *)sample + row->offset;
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
    case PROTOCOLS:
        write_protocols(text, family, sample, row->offset);
        break;
    case TIMES:
        metric_times_write(text, family, SLICE(""), (const uint64_t *)(const void *)field);
        break;
    case SPANS:
    case VALUES:
        write_distribution(text, family,
                           (const struct introspect_distribution *)(const void *)field,
                           row->kind == SPANS);
        break;
    case WRITTEN:
        row->write(text, family, sample);
        break;
    }
}

void metrics_process_write(const struct process_sample *sample, struct metrics_text *text)
{
    for (size_t i = 0; i < sizeof process_rows / sizeof *process_rows; i++) {
        write_process_row(&process_rows[i], sample, text);
    }
    write_push(sample->introspect, text);
    write_cluster(&sample->cluster, text);
}
