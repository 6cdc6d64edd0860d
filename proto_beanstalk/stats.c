/* SPDX-License-Identifier: MIT */
#include "proto_beanstalk/stats.h"

#include "core/policies.h"
#include "proto_beanstalk/caller.h"
#include "proto_beanstalk/yaml.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// The level of the protocol that we speak. Clients compare it, and some insist on two numbers.
#define PROTOCOL_LEVEL "1.13"
// What beanstalkd shows where it has no binlog.
#define BINLOG_MAX_SIZE 10485760

#define ENTRY(key, value)                                                                          \
    {                                                                                              \
        {(key), sizeof(key) - 1}, (value)                                                          \
    }
#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static void reply_yaml(struct bean_conn *conn, struct yaml *yaml)
{
    struct blob *body = yaml_finish(yaml);

    if (body) {
        bean_reply_body(&conn->wire->out, body);
        blob_unref(body);
    } else {
        bean_refuse(conn->wire, BEAN_OUT_OF_MEMORY);
    }
}

static uint64_t whole_seconds(nsec_t span)
{
    return (uint64_t)(span / NSEC_PER_SEC);
}

static struct slice text_slice(const char *text)
{
    return slice_str(text);
}

static void write_flag(struct yaml *yaml, struct slice key, bool flag)
{
    yaml_plain(yaml, key, flag ? SLICE("true") : SLICE("false"));
}

// A text as beanstalkd 1.13 shows it, or as 1.12 does. What cannot stand in a line by itself is in
// quotes in any case.
static void write_text(struct yaml *yaml, const struct bean_shared *shared, struct slice key,
                       struct slice text, bool may_be_bare)
{
    if (shared->options->quote_names == BEAN_BARE_NAMES && may_be_bare) {
        yaml_plain(yaml, key, text);
    } else {
        yaml_quoted(yaml, key, text);
    }
}

// The name of a tube, or of a function that is no tube's name.
static void write_name(struct yaml *yaml, const struct bean_shared *shared, struct slice key,
                       struct slice name)
{
    write_text(yaml, shared, key, name, bean_name_valid(name));
}

// What the process says of itself.
static void write_fact(struct yaml *yaml, const struct bean_shared *shared, struct slice key,
                       const char *fact)
{
    size_t len = 0;

    while (fact[len] >= ' ' && fact[len] <= '~') {
        len++;
    }
    write_text(yaml, shared, key, text_slice(fact), len > 0 && fact[len] == '\0');
}

static void write_job_counts(struct yaml *yaml, uint64_t urgent, const uint64_t jobs[JOB_STATES])
{
    const struct yaml_entry entries[] = {
        ENTRY("current-jobs-urgent", urgent),
        ENTRY("current-jobs-ready", jobs[JOB_READY]),
        ENTRY("current-jobs-reserved", jobs[JOB_RESERVED]),
        ENTRY("current-jobs-delayed", jobs[JOB_DELAYED]),
        ENTRY("current-jobs-buried", jobs[JOB_BURIED]),
    };

    yaml_numbers(yaml, entries, COUNT_OF(entries));
}

//
// stats
//

struct command_key {
    struct slice key;
    enum bean_verb verb;
};

// reserve-job and kick-job are counted, but have no key.
static const struct command_key command_keys[] = {
    ENTRY("cmd-put", BEAN_PUT),
    ENTRY("cmd-peek", BEAN_PEEK),
    ENTRY("cmd-peek-ready", BEAN_PEEK_READY),
    ENTRY("cmd-peek-delayed", BEAN_PEEK_DELAYED),
    ENTRY("cmd-peek-buried", BEAN_PEEK_BURIED),
    ENTRY("cmd-reserve", BEAN_RESERVE),
    ENTRY("cmd-reserve-with-timeout", BEAN_RESERVE_WITH_TIMEOUT),
    ENTRY("cmd-delete", BEAN_DELETE),
    ENTRY("cmd-release", BEAN_RELEASE),
    ENTRY("cmd-use", BEAN_USE),
    ENTRY("cmd-watch", BEAN_WATCH),
    ENTRY("cmd-ignore", BEAN_IGNORE),
    ENTRY("cmd-bury", BEAN_BURY),
    ENTRY("cmd-kick", BEAN_KICK),
    ENTRY("cmd-touch", BEAN_TOUCH),
    ENTRY("cmd-stats", BEAN_STATS),
    ENTRY("cmd-stats-job", BEAN_STATS_JOB),
    ENTRY("cmd-stats-tube", BEAN_STATS_TUBE),
    ENTRY("cmd-list-tubes", BEAN_LIST_TUBES),
    ENTRY("cmd-list-tube-used", BEAN_LIST_TUBE_USED),
    ENTRY("cmd-list-tubes-watched", BEAN_LIST_TUBES_WATCHED),
    ENTRY("cmd-pause-tube", BEAN_PAUSE_TUBE),
};

// Those that beanstalkd does not have.
static const struct command_key extension_keys[] = {
    ENTRY("cmd-reserve-batch", BEAN_RESERVE_BATCH), ENTRY("cmd-put-unique", BEAN_PUT_UNIQUE),
    ENTRY("cmd-complete", BEAN_COMPLETE),           ENTRY("cmd-progress", BEAN_PROGRESS),
    ENTRY("cmd-clear-tube", BEAN_CLEAR_TUBE),
};

static void write_commands(struct yaml *yaml, const struct bean_shared *shared,
                           const struct command_key *keys, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        yaml_number(yaml, keys[i].key, shared->commands[keys[i].verb]);
    }
}

static void write_totals(struct yaml *yaml, const struct bean_shared *shared,
                         const struct broker_info *info)
{
    const struct yaml_entry entries[] = {
        ENTRY("job-timeouts", info->timeouts),
        ENTRY("total-jobs", info->total_jobs),
        ENTRY("max-job-size", shared->options->max_job_size),
        ENTRY("current-tubes", info->queues),
        ENTRY("current-connections", shared->connections),
        ENTRY("current-producers", shared->producers),
        ENTRY("current-workers", shared->workers),
        ENTRY("current-waiting", info->waiting),
        ENTRY("total-connections", shared->total_connections),
        ENTRY("pid", (uint64_t)shared->facts->pid),
    };

    yaml_numbers(yaml, entries, COUNT_OF(entries));
}

// Seconds with six places.
static void write_cpu_time(struct yaml *yaml, struct slice key, nsec_t span)
{
    char text[40];
    int len = snprintf(text, sizeof text, "%" PRIu64 ".%06" PRIu64, whole_seconds(span),
                       (uint64_t)(span % NSEC_PER_SEC / 1000));

    yaml_plain(yaml, key, slice_of(text, (size_t)len));
}

static void write_process(struct yaml *yaml, const struct bean_shared *shared)
{
    const struct process_facts *facts = shared->facts;
    nsec_t up_for = broker_now(shared->broker).mono - facts->started_at;
    nsec_t user_for;
    nsec_t system_for;

    facts->cpu_time(&user_for, &system_for);
    write_fact(yaml, shared, SLICE("version"), PROTOCOL_LEVEL);
    write_cpu_time(yaml, SLICE("rusage-utime"), user_for);
    write_cpu_time(yaml, SLICE("rusage-stime"), system_for);
    yaml_number(yaml, SLICE("uptime"), whole_seconds(up_for));
}

// Our journal by the names that clients expect.
static void write_binlog(struct yaml *yaml, const struct store_info *store, bool kept)
{
    const struct yaml_entry entries[] = {
        ENTRY("binlog-oldest-index", store->oldest),
        ENTRY("binlog-current-index", store->current),
        ENTRY("binlog-records-migrated", store->migrated),
        ENTRY("binlog-records-written", store->written),
        ENTRY("binlog-max-size", kept ? store->file_max : BINLOG_MAX_SIZE),
    };

    yaml_numbers(yaml, entries, COUNT_OF(entries));
}

// Only of a store that several processes share.
static void write_cluster(struct yaml *yaml, const struct store_info *store)
{
    if (store->epoch == 0) {
        return;
    }
    yaml_number(yaml, SLICE("cluster-epoch"), store->epoch);
    write_flag(yaml, SLICE("cluster-durable"), store->durable);
    write_flag(yaml, SLICE("cluster-replicated"), store->replicated);
}

// 16 hexadecimal digits, the first of them a letter: digits alone, or with one e among them, would
// be read as a number where YAML is parsed.
static void write_instance(struct yaml *yaml, uint64_t instance)
{
    char text[17];
    unsigned first = 10 + (unsigned)(instance >> 60) % 6;

    (void)snprintf(text, sizeof text, "%x%015" PRIx64, first, instance & (UINT64_MAX >> 4));
    yaml_plain(yaml, SLICE("id"), slice_of(text, sizeof text - 1));
}

void bean_stats(struct bean_conn *conn, const struct bean_command *command)
{
    const struct bean_shared *shared = conn->shared;
    const struct process_facts *facts = shared->facts;
    struct broker_info info;
    struct store_info store;
    bool kept = broker_store_info(shared->broker, &store);
    struct yaml yaml;

    (void)command;
    if (!session_may_somewhere(conn->session, MAY_OBSERVE)) {
        bean_refuse(conn->wire, BEAN_FORBIDDEN);
        return;
    }
    broker_info(shared->broker, &info);
    yaml_begin(&yaml);
    write_job_counts(&yaml, info.ready[BAND_HIGH], info.jobs);
    write_commands(&yaml, shared, command_keys, COUNT_OF(command_keys));
    write_totals(&yaml, shared, &info);
    write_process(&yaml, shared);
    write_binlog(&yaml, &store, kept);
    write_flag(&yaml, SLICE("draining"), info.draining);
    write_instance(&yaml, facts->instance);
    write_fact(&yaml, shared, SLICE("hostname"), facts->hostname);
    write_fact(&yaml, shared, SLICE("os"), facts->os);
    write_fact(&yaml, shared, SLICE("platform"), facts->platform);
    write_fact(&yaml, shared, SLICE("tandem-version"), facts->version);
    yaml_number(&yaml, SLICE("binlog-errors"), store.errors);
    write_flag(&yaml, SLICE("binlog-failing"), store.failing);
    write_commands(&yaml, shared, extension_keys, COUNT_OF(extension_keys));
    write_cluster(&yaml, &store);
    reply_yaml(conn, &yaml);
}

//
// stats-job
//

static const struct slice state_names[JOB_STATES] = {
    [JOB_DELAYED] = {"delayed", 7},
    [JOB_READY] = {"ready", 5},
    [JOB_RESERVED] = {"reserved", 8},
    [JOB_BURIED] = {"buried", 6},
};

// `file` is the number of the file that the job is kept in.
static void write_job(struct yaml *yaml, const struct bean_shared *shared,
                      const struct job_info *info, uint32_t file)
{
    const struct yaml_entry entries[] = {
        ENTRY("pri", info->pri),
        ENTRY("age", whole_seconds(info->age_for)),
        ENTRY("delay", whole_seconds(info->delay_for)),
        ENTRY("ttr", whole_seconds(info->ttr_for)),
        ENTRY("time-left", whole_seconds(info->left_for)),
        ENTRY("file", file),
        ENTRY("reserves", info->reserves),
        ENTRY("timeouts", info->timeouts),
        ENTRY("releases", info->releases),
        ENTRY("buries", info->buries),
        ENTRY("kicks", info->kicks),
    };

    yaml_number(yaml, SLICE("id"), info->id);
    write_name(yaml, shared, SLICE("tube"), queue_name(info->queue));
    yaml_plain(yaml, SLICE("state"), state_names[info->state]);
    yaml_numbers(yaml, entries, COUNT_OF(entries));
}

// Of a job that a policy has taken to its dead queue.
static void write_past(struct yaml *yaml, const struct bean_shared *shared, const struct job *job)
{
    struct job_past past;
    const char *why;

    if (!job_past(shared->broker, job, &past)) {
        return;
    }
    why = dead_why_word(past.why);
    write_name(yaml, shared, SLICE("dead-from"), past.queue);
    yaml_plain(yaml, SLICE("dead-why"), slice_str(why));
    yaml_number(yaml, SLICE("dead-attempts"), past.attempts);
    yaml_number(yaml, SLICE("dead-at"), past.at_ms / 1000);
}

void bean_stats_job(struct bean_conn *conn, const struct bean_command *command)
{
    const struct job *job = bean_look_up(conn, command->id);
    struct job_info info;
    struct yaml yaml;

    if (!job) {
        bean_reply(&conn->wire->out, BEAN_NOT_FOUND);
        return;
    }
    broker_job_info(conn->shared->broker, job, &info);
    yaml_begin(&yaml);
    write_job(&yaml, conn->shared, &info, job_mark(job));
    write_past(&yaml, conn->shared, job);
    reply_yaml(conn, &yaml);
}

//
// stats-tube
//

static void write_tube(struct yaml *yaml, const struct queue_info *info)
{
    const struct yaml_entry entries[] = {
        ENTRY("total-jobs", info->total_jobs),
        ENTRY("current-using", info->holders),
        ENTRY("current-watching", info->subscriptions),
        ENTRY("current-waiting", info->waiting),
        ENTRY("cmd-delete", info->ended),
        ENTRY("cmd-pause-tube", info->pauses),
        ENTRY("pause", whole_seconds(info->pause_for)),
        ENTRY("pause-time-left", whole_seconds(info->pause_left_for)),
    };

    write_job_counts(yaml, info->ready[BAND_HIGH], info->jobs);
    yaml_numbers(yaml, entries, COUNT_OF(entries));
}

// At the end, and only of tubes with a policy: others look as ever.
static void write_policed(struct yaml *yaml, const struct queue *queue,
                          const struct queue_info *info)
{
    const struct yaml_entry entries[] = {
        ENTRY("rate-time-left", whole_seconds(info->rate_left_for)),
        ENTRY("current-bytes", info->bytes),
    };
    char reasons[64];
    char *end = reasons;

    if (!queue_policy(queue)) {
        return;
    }
    for (unsigned i = 0; i < CLOSED_REASONS; i++) {
        if (info->closed >> i & 1) {
            end = stpcpy(stpcpy(end, end == reasons ? "" : "+"), closed_word(i));
        }
    }
    yaml_plain(yaml, SLICE("closed"),
               end == reasons ? SLICE("no") : slice_of(reasons, (size_t)(end - reasons)));
    yaml_numbers(yaml, entries, COUNT_OF(entries));
}

void bean_stats_tube(struct bean_conn *conn, const struct bean_command *command)
{
    struct broker *broker = conn->shared->broker;
    const struct queue *queue = broker_queue_find(broker, command->name);
    struct queue_info info;
    struct yaml yaml;

    if (!session_may_by_name(conn->session, MAY_OBSERVE, command->name)) {
        bean_refuse(conn->wire, BEAN_FORBIDDEN);
        return;
    }
    if (!queue) {
        bean_reply(&conn->wire->out, BEAN_NOT_FOUND);
        return;
    }
    broker_queue_info(broker, queue, &info);
    yaml_begin(&yaml);
    write_name(&yaml, conn->shared, SLICE("name"), queue_name(queue));
    write_tube(&yaml, &info);
    write_policed(&yaml, queue, &info);
    reply_yaml(conn, &yaml);
}
