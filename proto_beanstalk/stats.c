/* SPDX-License-Identifier: MIT */

// `stats`, `stats-job`, `stats-tube`, `list-tubes` and `list-tubes-watched`. Statistics have the
// keys of beanstalkd in its order, and then the keys that only Tandem has.

#include "proto_beanstalk/bean_conn.h"

#include "core/base/digits.h"
#include "core/policy.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

//
// YAML: a mapping or a list, one level deep
//

// A document that grows as it is written. If there is no memory, it ignores further text and yields
// no document.
struct bean_yaml {
    struct blob_builder text;
    bool failed;
};

// A line of a mapping, for tables.
struct bean_yaml_entry {
    struct slice key;
    uint64_t value;
};

// More than any document has. The builder allocates only the bytes that are written.
#define YAML_TOTAL_MAX ((size_t)1 << 40)

static void bean_yaml_append(struct bean_yaml *yaml, struct slice bytes)
{
    if (!yaml->failed) {
        yaml->failed = blob_builder_take(&yaml->text, bytes) != bytes.len;
    }
}

static void bean_yaml_begin(struct bean_yaml *yaml)
{
    blob_builder_init(&yaml->text, YAML_TOTAL_MAX);
    yaml->failed = false;
    bean_yaml_append(yaml, SLICE("---\n"));
}

static void bean_yaml_append_key(struct bean_yaml *yaml, struct slice key)
{
    bean_yaml_append(yaml, key);
    bean_yaml_append(yaml, SLICE(": "));
}

// key: number
static void bean_yaml_number(struct bean_yaml *yaml, struct slice key, uint64_t value)
{
    char digits[DIGITS_MAX + 1];
    char *end = digits_write(digits, value);

    *end++ = '\n';
    bean_yaml_append_key(yaml, key);
    bean_yaml_append(yaml, slice_of(digits, (size_t)(end - digits)));
}

static void bean_yaml_numbers(struct bean_yaml *yaml, const struct bean_yaml_entry *entries,
                              size_t count)
{
    for (size_t i = 0; i < count; i++) {
        bean_yaml_number(yaml, entries[i].key, entries[i].value);
    }
}

// key: text
static void bean_yaml_plain(struct bean_yaml *yaml, struct slice key, struct slice text)
{
    bean_yaml_append_key(yaml, key);
    bean_yaml_append(yaml, text);
    bean_yaml_append(yaml, SLICE("\n"));
}

// key: "text", with quotes, backslashes and all bytes that are not printable ASCII escaped.
static void bean_yaml_quoted(struct bean_yaml *yaml, struct slice key, struct slice text)
{
    static const char hex[] = "0123456789abcdef";

    bean_yaml_append_key(yaml, key);
    bean_yaml_append(yaml, SLICE("\""));
    while (text.len) {
        size_t run = 0;

        while (run < text.len && text.ptr[run] >= ' ' && text.ptr[run] <= '~' &&
               text.ptr[run] != '"' && text.ptr[run] != '\\') {
            run++;
        }
        bean_yaml_append(yaml, slice_of(text.ptr, run));
        text = slice_from(text, run);
        if (text.len) {
            unsigned char byte = (unsigned char)*text.ptr;
            const char escape[] = {'\\', 'x', hex[byte >> 4], hex[byte & 15]};

            bean_yaml_append(yaml, slice_of(escape, sizeof escape));
            text = slice_from(text, 1);
        }
    }
    bean_yaml_append(yaml, SLICE("\"\n"));
}

// Frees the text.
static void bean_yaml_discard(struct bean_yaml *yaml)
{
    blob_builder_discard(&yaml->text);
}

//
// Values
//

// The protocol version. Clients compare it, and some require exactly two numbers.
#define PROTOCOL_LEVEL "1.13"
// The value that beanstalkd shows if it has no binlog.
#define BINLOG_MAX_SIZE 10485760

#define ENTRY(key, value)                                                                          \
    {                                                                                              \
        {(key), sizeof(key) - 1}, (value)                                                          \
    }
#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

// Replies with the document, or that there was no memory at some point. Frees the text.
static void bean_reply_yaml(struct bean_conn *conn, struct bean_yaml *yaml)
{
    struct blob *body = NULL;

    if (yaml->failed) {
        bean_yaml_discard(yaml);
    } else {
        // The length of the document is known only now.
        yaml->text.total -= blob_builder_missing(&yaml->text);
        body = blob_builder_finish(&yaml->text);
    }
    if (body) {
        bean_reply_body(&conn->wire->out, body);
        blob_unref(body);
    } else {
        bean_refuse(conn->wire, BEAN_OUT_OF_MEMORY);
    }
}

static uint64_t bean_whole_seconds(nsec_t span)
{
    return (uint64_t)(span / NSEC_PER_SEC);
}

static void bean_write_flag(struct bean_yaml *yaml, struct slice key, bool flag)
{
    bean_yaml_plain(yaml, key, flag ? SLICE("true") : SLICE("false"));
}

// A text with quotes, as in beanstalkd 1.13, or without, as in 1.12. A text that is not `plain`
// always has quotes.
static void bean_write_text(struct bean_yaml *yaml, const struct bean_shared *shared,
                            struct slice key, struct slice text, bool plain)
{
    if (shared->options->quote_names == BEAN_BARE_NAMES && plain) {
        bean_yaml_plain(yaml, key, text);
    } else {
        bean_yaml_quoted(yaml, key, text);
    }
}

// A queue may be a Gearman function, whose name need not be a valid tube name.
static void bean_write_name(struct bean_yaml *yaml, const struct bean_shared *shared,
                            struct slice key, struct slice name)
{
    bean_write_text(yaml, shared, key, name, bean_name_valid(name));
}

// A text about the process.
static void bean_write_fact(struct bean_yaml *yaml, const struct bean_shared *shared,
                            struct slice key, const char *fact)
{
    size_t len = 0;

    while (fact[len] >= ' ' && fact[len] <= '~') {
        len++;
    }
    bean_write_text(yaml, shared, key, slice_str(fact), len > 0 && fact[len] == '\0');
}

static void bean_write_job_counts(struct bean_yaml *yaml, uint64_t urgent,
                                  const uint64_t jobs[JOB_STATES])
{
    const struct bean_yaml_entry entries[] = {
        ENTRY("current-jobs-urgent", urgent),
        ENTRY("current-jobs-ready", jobs[JOB_READY]),
        ENTRY("current-jobs-reserved", jobs[JOB_RESERVED]),
        ENTRY("current-jobs-delayed", jobs[JOB_DELAYED]),
        ENTRY("current-jobs-buried", jobs[JOB_BURIED]),
    };

    bean_yaml_numbers(yaml, entries, COUNT_OF(entries));
}

//
// stats
//

struct bean_command_key {
    struct slice key;
    enum bean_verb verb;
};

// reserve-job and kick-job are counted, but beanstalkd has no keys for them.
static const struct bean_command_key command_keys[] = {
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

// Commands that beanstalkd does not have.
static const struct bean_command_key extension_keys[] = {
    ENTRY("cmd-reserve-batch", BEAN_RESERVE_BATCH), ENTRY("cmd-put-unique", BEAN_PUT_UNIQUE),
    ENTRY("cmd-complete", BEAN_COMPLETE),           ENTRY("cmd-progress", BEAN_PROGRESS),
    ENTRY("cmd-clear-tube", BEAN_CLEAR_TUBE),
};

static void bean_write_commands(struct bean_yaml *yaml, const struct bean_shared *shared,
                                const struct bean_command_key *keys, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        bean_yaml_number(yaml, keys[i].key, shared->commands[keys[i].verb]);
    }
}

static void bean_write_totals(struct bean_yaml *yaml, const struct bean_shared *shared,
                              const struct broker_info *info)
{
    const struct bean_yaml_entry entries[] = {
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

    bean_yaml_numbers(yaml, entries, COUNT_OF(entries));
}

// Seconds with six decimal places.
static void bean_write_cpu_time(struct bean_yaml *yaml, struct slice key, nsec_t span)
{
    char text[40];
    int len = snprintf(text, sizeof text, "%" PRIu64 ".%06" PRIu64, bean_whole_seconds(span),
                       (uint64_t)(span % NSEC_PER_SEC / 1000));

    bean_yaml_plain(yaml, key, slice_of(text, (size_t)len));
}

static void bean_write_process(struct bean_yaml *yaml, const struct bean_shared *shared)
{
    const struct process_facts *facts = shared->facts;
    nsec_t up_for = broker_now(shared->broker).mono - facts->started_at;
    nsec_t user_for;
    nsec_t system_for;

    facts->cpu_time(&user_for, &system_for);
    bean_write_fact(yaml, shared, SLICE("version"), PROTOCOL_LEVEL);
    bean_write_cpu_time(yaml, SLICE("rusage-utime"), user_for);
    bean_write_cpu_time(yaml, SLICE("rusage-stime"), system_for);
    bean_yaml_number(yaml, SLICE("uptime"), bean_whole_seconds(up_for));
}

// The store, under the keys of beanstalkd's binlog.
static void bean_write_binlog(struct bean_yaml *yaml, const struct store_info *store,
                              bool has_store)
{
    const struct bean_yaml_entry entries[] = {
        ENTRY("binlog-oldest-index", store->oldest),
        ENTRY("binlog-current-index", store->current),
        ENTRY("binlog-records-migrated", store->migrated),
        ENTRY("binlog-records-written", store->written),
        ENTRY("binlog-max-size", has_store ? store->file_max : BINLOG_MAX_SIZE),
    };

    bean_yaml_numbers(yaml, entries, COUNT_OF(entries));
}

// 16 hexadecimal digits, the first of them a letter: YAML parsers would read digits alone, or with
// one e among them, as a number.
static void bean_write_instance(struct bean_yaml *yaml, uint64_t instance)
{
    char text[17];
    unsigned first = 10 + (unsigned)(instance >> 60) % 6;

    (void)snprintf(text, sizeof text, "%x%015" PRIx64, first, instance & (UINT64_MAX >> 4));
    bean_yaml_plain(yaml, SLICE("id"), slice_of(text, sizeof text - 1));
}

void bean_stats(struct bean_conn *conn, const struct bean_command *command)
{
    const struct bean_shared *shared = conn->shared;
    const struct process_facts *facts = shared->facts;
    struct broker_info info;
    struct store_info store;
    bool has_store = broker_store_info(shared->broker, &store);
    struct bean_yaml yaml;

    (void)command;
    if (!session_may_somewhere(conn->session, MAY_OBSERVE)) {
        bean_refuse(conn->wire, BEAN_FORBIDDEN);
        return;
    }
    broker_info(shared->broker, &info);
    bean_yaml_begin(&yaml);
    bean_write_job_counts(&yaml, info.ready[BAND_HIGH], info.jobs);
    bean_write_commands(&yaml, shared, command_keys, COUNT_OF(command_keys));
    bean_write_totals(&yaml, shared, &info);
    bean_write_process(&yaml, shared);
    bean_write_binlog(&yaml, &store, has_store);
    bean_write_flag(&yaml, SLICE("draining"), info.draining);
    bean_write_instance(&yaml, facts->instance);
    bean_write_fact(&yaml, shared, SLICE("hostname"), facts->hostname);
    bean_write_fact(&yaml, shared, SLICE("os"), facts->os);
    bean_write_fact(&yaml, shared, SLICE("platform"), facts->platform);
    bean_write_fact(&yaml, shared, SLICE("tandem-version"), facts->version);
    bean_yaml_number(&yaml, SLICE("binlog-errors"), store.errors);
    bean_write_flag(&yaml, SLICE("binlog-failing"), store.failing);
    bean_write_commands(&yaml, shared, extension_keys, COUNT_OF(extension_keys));
    // Only if several processes share the store.
    if (store.epoch > 0) {
        bean_yaml_number(&yaml, SLICE("cluster-epoch"), store.epoch);
        bean_write_flag(&yaml, SLICE("cluster-durable"), store.durable);
        bean_write_flag(&yaml, SLICE("cluster-replicated"), store.replicated);
    }
    bean_reply_yaml(conn, &yaml);
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

// `file`: the number of the file that contains the job.
static void bean_write_job(struct bean_yaml *yaml, const struct bean_shared *shared,
                           const struct job_info *info, uint32_t file)
{
    const struct bean_yaml_entry entries[] = {
        ENTRY("pri", info->pri),
        ENTRY("age", bean_whole_seconds(info->age_for)),
        ENTRY("delay", bean_whole_seconds(info->delay_for)),
        ENTRY("ttr", bean_whole_seconds(info->ttr_for)),
        ENTRY("time-left", bean_whole_seconds(info->remaining_for)),
        ENTRY("file", file),
        ENTRY("reserves", info->reserves),
        ENTRY("timeouts", info->timeouts),
        ENTRY("releases", info->releases),
        ENTRY("buries", info->buries),
        ENTRY("kicks", info->kicks),
    };

    bean_yaml_number(yaml, SLICE("id"), info->id);
    bean_write_name(yaml, shared, SLICE("tube"), queue_name(info->queue));
    bean_yaml_plain(yaml, SLICE("state"), state_names[info->state]);
    bean_yaml_numbers(yaml, entries, COUNT_OF(entries));
}

// Only of a job that a policy has moved to a dead letter queue.
static void bean_write_dead_letter(struct bean_yaml *yaml, const struct bean_shared *shared,
                                   const struct job *job)
{
    struct dead_letter dead;
    const char *why;

    if (!job_dead_letter(shared->broker, job, &dead)) {
        return;
    }
    why = dead_reason_text(dead.why);
    bean_write_name(yaml, shared, SLICE("dead-from"), dead.queue);
    bean_yaml_plain(yaml, SLICE("dead-why"), slice_str(why));
    bean_yaml_number(yaml, SLICE("dead-attempts"), dead.attempts);
    bean_yaml_number(yaml, SLICE("dead-at"), dead.at_ms / 1000);
}

const struct job *bean_find_job(const struct bean_conn *conn, uint64_t id)
{
    const struct broker *broker = conn->shared->broker;
    const struct job *job = broker_find(broker, id);
    bool may = job && (session_may(conn->session, MAY_OBSERVE, job_queue(broker, job)) ||
                       job_held_by(broker, job, conn->session));

    return may ? job : NULL;
}

void bean_stats_job(struct bean_conn *conn, const struct bean_command *command)
{
    const struct job *job = bean_find_job(conn, command->id);
    struct job_info info;
    struct bean_yaml yaml;

    if (!job) {
        bean_reply(&conn->wire->out, BEAN_NOT_FOUND);
        return;
    }
    broker_job_info(conn->shared->broker, job, &info);
    bean_yaml_begin(&yaml);
    bean_write_job(&yaml, conn->shared, &info, job_mark(job));
    bean_write_dead_letter(&yaml, conn->shared, job);
    bean_reply_yaml(conn, &yaml);
}

//
// stats-tube
//

static void bean_write_tube(struct bean_yaml *yaml, const struct queue_info *info)
{
    const struct bean_yaml_entry entries[] = {
        ENTRY("total-jobs", info->total_jobs),
        ENTRY("current-using", info->holders),
        ENTRY("current-watching", info->subscriptions),
        ENTRY("current-waiting", info->waiting),
        ENTRY("cmd-delete", info->ended),
        ENTRY("cmd-pause-tube", info->pauses),
        ENTRY("pause", bean_whole_seconds(info->pause_for)),
        ENTRY("pause-time-left", bean_whole_seconds(info->pause_remaining_for)),
    };

    bean_write_job_counts(yaml, info->ready[BAND_HIGH], info->jobs);
    bean_yaml_numbers(yaml, entries, COUNT_OF(entries));
}

// Last, and only of tubes with a policy: other tubes have exactly the keys of beanstalkd.
static void bean_write_policy(struct bean_yaml *yaml, const struct queue *queue,
                              const struct queue_info *info)
{
    const struct bean_yaml_entry entries[] = {
        ENTRY("rate-time-left", bean_whole_seconds(info->rate_remaining_for)),
        ENTRY("current-bytes", info->bytes),
    };
    char reasons[64];
    char *end = reasons;

    if (!queue_policy(queue)) {
        return;
    }
    for (unsigned i = 0; i < CLOSED_REASONS; i++) {
        if (info->closed >> i & 1) {
            end = stpcpy(stpcpy(end, end == reasons ? "" : "+"), closed_reason_text(i));
        }
    }
    bean_yaml_plain(yaml, SLICE("closed"),
                    end == reasons ? SLICE("no") : slice_of(reasons, (size_t)(end - reasons)));
    bean_yaml_numbers(yaml, entries, COUNT_OF(entries));
}

void bean_stats_tube(struct bean_conn *conn, const struct bean_command *command)
{
    struct broker *broker = conn->shared->broker;
    const struct queue *queue = broker_queue_find(broker, command->name);
    struct queue_info info;
    struct bean_yaml yaml;

    if (!session_may_by_name(conn->session, MAY_OBSERVE, command->name)) {
        bean_refuse(conn->wire, BEAN_FORBIDDEN);
        return;
    }
    if (!queue) {
        bean_reply(&conn->wire->out, BEAN_NOT_FOUND);
        return;
    }
    broker_queue_info(broker, queue, &info);
    bean_yaml_begin(&yaml);
    bean_write_name(&yaml, conn->shared, SLICE("name"), queue_name(queue));
    bean_write_tube(&yaml, &info);
    bean_write_policy(&yaml, queue, &info);
    bean_reply_yaml(conn, &yaml);
}

//
// list-tubes, list-tubes-watched
//
// The reply gives the size of the list first. A short list is written to memory. A long one is only
// counted, and then the names are read again and sent as the peer takes them, so that no memory is
// needed but the position in the names. Names of Gearman functions that are not valid tube names
// are left out, and so are tubes that the caller may not observe, unless it watches them. Each step
// handles a slice of the names.
//

// This number of names uses up as much of the turn's budget as a command.
#define NAMES_PER_COMMAND 8
// The largest list that is written to memory, in bytes.
#define GATHERED_MAX ((size_t)64 * 1024)
// A step ends after this number of comparisons with globs, of which a caller may have many.
#define GLOBS_PER_STEP 1024

static const struct slice bean_list_head = {"---\n", 4};
static const struct slice bean_before_name = {"- ", 2};
static const struct slice bean_after_name = {"\n", 1};

struct bean_listing {
    bool watched;          // list-tubes-watched; otherwise list-tubes
    struct grants *grants; // a reference; the caller's rights when the list began
    union {
        struct queue_snapshot snapshot; // list-tubes
        // list-tubes-watched: the last subscription that was listed. The subscriptions do not
        // change while the list is written.
        const struct subscription *place;
    };
    bool gathers;          // the list so far is in `yaml`
    bool sends;            // the size has been sent, and the names are being sent
    uint64_t len;          // the size so far, or the bytes that are still to be sent
    struct bean_yaml yaml; // while `gathers`
};

static void bean_list(struct bean_conn *conn, bool watched)
{
    struct bean_listing *listing = calloc(1, sizeof *listing);

    if (!listing) {
        bean_refuse(conn->wire, BEAN_OUT_OF_MEMORY);
        return;
    }
    listing->watched = watched;
    listing->grants = grants_ref(broker_session_grants(conn->session));
    listing->gathers = true;
    listing->len = bean_list_head.len;
    bean_yaml_begin(&listing->yaml);
    if (!watched) {
        queue_snapshot_begin(conn->shared->broker, &listing->snapshot);
    }
    conn->doing.listing = listing;
    conn->state = BEAN_LISTING;
}

void bean_list_tubes(struct bean_conn *conn, const struct bean_command *command)
{
    (void)command;
    bean_list(conn, false);
}

void bean_list_tubes_watched(struct bean_conn *conn, const struct bean_command *command)
{
    (void)command;
    bean_list(conn, true);
}

size_t bean_listing_holds(const struct bean_conn *conn)
{
    return sizeof *conn->doing.listing + blob_builder_holds(&conn->doing.listing->yaml.text);
}

void bean_listing_discard(struct bean_conn *conn)
{
    struct bean_listing *listing = conn->doing.listing;

    if (!listing->watched) {
        queue_snapshot_end(conn->shared->broker, &listing->snapshot);
    }
    bean_yaml_discard(&listing->yaml);
    grants_unref(listing->grants);
    free(listing);
    conn->doing.listing = NULL;
    conn->state = BEAN_LINE;
}

// The caller has seen the names of the tubes that it watches. The rights are those at the beginning
// of the list, so that both readings of the names give the same list.
static bool bean_listing_includes(const struct bean_listing *listing, struct slice name,
                                  size_t *compared)
{
    size_t globs = 0;
    bool included =
        bean_name_valid(name) && (listing->watched || !listing->grants ||
                                  grants_have(listing->grants, MAY_OBSERVE, name, &globs));

    *compared += globs;
    return included;
}

static void bean_listing_count(struct bean_listing *listing, struct slice name)
{
    listing->len += bean_before_name.len + name.len + bean_after_name.len;
    if (!listing->gathers) {
        return;
    }
    if (listing->len <= GATHERED_MAX) {
        bean_yaml_append(&listing->yaml, bean_before_name);
        bean_yaml_append(&listing->yaml, name);
        bean_yaml_append(&listing->yaml, bean_after_name);
    } else {
        bean_yaml_discard(&listing->yaml);
        listing->gathers = false;
    }
}

static void bean_listing_send(struct bean_conn *conn, struct slice name)
{
    struct output *out = &conn->wire->out;
    size_t len = bean_before_name.len + name.len + bean_after_name.len;

    ENSURE(conn->doing.listing->len >= len);
    conn->doing.listing->len -= len;
    output_write(out, bean_before_name);
    output_write(out, name);
    output_write(out, bean_after_name);
}

// All names have been read. False: they are read again, to be sent.
static bool bean_listing_finish(struct bean_conn *conn)
{
    struct bean_listing *listing = conn->doing.listing;
    struct output *out = &conn->wire->out;

    if (listing->sends) {
        ENSURE(listing->len == 0);
        output_write(out, SLICE("\r\n"));
    } else if (listing->gathers) {
        bean_reply_yaml(conn, &listing->yaml);
    } else {
        bean_reply_number(out, SLICE("OK "), listing->len);
        output_write(out, bean_list_head);
        listing->len -= bean_list_head.len;
        listing->sends = true;
        if (listing->watched) {
            listing->place = NULL;
        } else {
            queue_snapshot_rewind(&listing->snapshot);
        }
        return false;
    }
    bean_listing_discard(conn);
    return true;
}

enum step bean_listing_step(struct bean_conn *conn, struct feed_turn *turn)
{
    struct bean_listing *listing = conn->doing.listing;
    struct broker *broker = conn->shared->broker;
    size_t compared = 0;

    for (unsigned i = 0; i < BROKER_SLICE && compared < GLOBS_PER_STEP; i++) {
        const struct queue *queue = listing->watched
                                        ? session_queue_next(conn->session, &listing->place)
                                        : queue_snapshot_next(broker, &listing->snapshot);

        if (!queue && !listing->watched && !listing->snapshot.ended) {
            break;
        }
        if (!queue) {
            unsigned cost = i / NAMES_PER_COMMAND;

            turn->budget -= cost < turn->budget ? cost : turn->budget;
            return bean_listing_finish(conn) ? STEP_ON : STEP_AGAIN;
        }
        if (!bean_listing_includes(listing, queue_name(queue), &compared)) {
            continue;
        }
        if (listing->sends) {
            bean_listing_send(conn, queue_name(queue));
        } else {
            bean_listing_count(listing, queue_name(queue));
        }
    }
    broker_charge_links(broker, compared);
    return STEP_AGAIN;
}
