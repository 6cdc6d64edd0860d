/* SPDX-License-Identifier: MIT */
#include "admin/shown_process.h"

#include "core/broker.h"

#include "admin/context.h"
#include "admin/shown.h"
#include "admin/shown_counts.h"

#include <stdbool.h>
#include <string.h>

static json_t *text(const char *words)
{
    return shown_text(slice_str(words));
}

// Adds a member, which is given up, to the list, which is where there is no memory.
static void append(json_t **list, json_t *member)
{
    if (!*list) {
        json_decref(member);
    } else if (json_array_append_new(*list, member) != 0) {
        json_decref(*list);
        *list = NULL;
    }
}

//
// Parts of the process
//

static json_t *shown_addresses(const struct sight *sight, size_t protocol)
{
    json_t *list = json_array();
    const char *address;

    for (size_t i = 0; (address = sight->address(sight->host, protocol, i)); i++) {
        append(&list, text(address));
    }
    return list;
}

static json_t *shown_refusals(const struct sight_protocol *protocol)
{
    static const char *const words[] = {
#define X(name, word, help) [SIGHT_##name] = (word),
        SIGHT_REFUSALS(X)
#undef X
    };
    json_t *object = json_object();

    for (size_t i = 0; object && i < SIGHT_REFUSAL_COUNT; i++) {
        if (json_object_set_new(object, words[i],
                                json_integer(shown_number(protocol->refusals[i]))) != 0) {
            json_decref(object);
            object = NULL;
        }
    }
    return object;
}

static json_t *shown_protocols(const struct sight *sight)
{
    json_t *list = json_array();
    struct sight_protocol protocol;

    for (size_t i = 0; sight && sight->protocol(sight->host, i, &protocol); i++) {
        append(&list,
               json_pack("{s:s, s:o, s:I, s:I, s:I, s:I, s:I, s:o}", "name", protocol.name,
                         "listening", shown_addresses(sight, i), "connections",
                         shown_number(protocol.open), "accepted", shown_number(protocol.accepted),
                         "commands", shown_number(protocol.commands), "received_bytes",
                         shown_number(protocol.received), "sent_bytes", shown_number(protocol.sent),
                         "refusals", shown_refusals(&protocol)));
    }
    return list;
}

static json_t *shown_loop(const struct sight *sight)
{
    struct sight_loop loop = {0};

    if (sight) {
        sight->loop(sight->host, &loop);
    }
    return json_pack("{s:I, s:o, s:o, s:I, s:I}", "turns", shown_number(loop.turns),
                     "longest_seconds", shown_seconds(loop.longest_for), "lag_seconds",
                     shown_seconds(loop.lag_for), "slow_turns", shown_number(loop.slow_turns),
                     "io_threads", (json_int_t)loop.io_threads);
}

static json_t *shown_kinds(const struct sight_memory *memory)
{
    json_t *object = json_object();

    for (size_t i = 0; object && memory->kinds && memory->kinds[i]; i++) {
        if (json_object_set_new(object, memory->kinds[i],
                                json_integer(shown_number(memory->by_kind[i]))) != 0) {
            json_decref(object);
            object = NULL;
        }
    }
    return object;
}

static json_t *shown_memory(const struct sight *sight)
{
    struct sight_memory memory = {0};

    if (sight) {
        sight->memory(sight->host, &memory);
    }
    return json_pack("{s:I, s:I, s:I, s:o, s:b}", "used_bytes", shown_number(memory.used),
                     "limit_bytes", shown_number(memory.limit), "resident_bytes",
                     shown_number(memory.resident), "kinds", shown_kinds(&memory), "short",
                     (int)memory.is_short);
}

static json_t *shown_descriptors(const struct sight *sight)
{
    struct sight_descriptors descriptors = {0};

    if (sight) {
        sight->descriptors(sight->host, &descriptors);
    }
    return json_pack("{s:I, s:I}", "open", shown_number(descriptors.open), "limit",
                     shown_number(descriptors.limit));
}

static json_t *shown_cpu(const struct process_facts *facts)
{
    nsec_t user_for;
    nsec_t system_for;

    facts->cpu_time(&user_for, &system_for);
    return json_pack("{s:o, s:o}", "user_seconds", shown_seconds(user_for), "system_seconds",
                     shown_seconds(system_for));
}

// What the caller may do somewhere.
static json_t *shown_rights(const struct session *session)
{
    static const struct {
        enum right right;
        const char *word;
    } rights[] = {{MAY_SUBMIT, "submit"}, {MAY_WORK, "work"},       {MAY_OBSERVE, "observe"},
                  {MAY_CANCEL, "cancel"}, {MAY_OPERATE, "operate"}, {MAY_ADMINISTER, "admin"}};
    json_t *list = json_array();

    for (size_t i = 0; i < sizeof rights / sizeof *rights; i++) {
        if (session_may_somewhere(session, rights[i].right)) {
            append(&list, json_string(rights[i].word));
        }
    }
    return list;
}

//
// The process
//

static json_t *shown_facts(const struct process_facts *facts, struct instant now, bool draining)
{
    nsec_t up_for = now.mono > facts->started_at ? now.mono - facts->started_at : 0;

    return json_pack("{s:s, s:I, s:o, s:o, s:o, s:o, s:b, s:o}", "version", facts->version, "pid",
                     (json_int_t)facts->pid, "host", text(facts->hostname), "started_at",
                     shown_seconds(now.wall > up_for ? now.wall - up_for : 0), "uptime_seconds",
                     shown_seconds(up_for), "now", shown_seconds(now.wall), "draining",
                     (int)draining, "cpu", shown_cpu(facts));
}

static json_t *shown_broker(const struct broker *broker, const struct broker_info *info)
{
    struct counts counts;

    broker_counts(broker, &counts);
    return json_pack("{s:o, s:o, s:o, s:I, s:I, s:I, s:I}", "jobs", shown_jobs(info->jobs), "bands",
                     shown_bands(info->ready), "totals", shown_totals(&counts), "queues",
                     shown_number(info->queues), "workers", shown_number(info->workers), "waiting",
                     shown_number(info->waiting), "producers", shown_number(info->producers));
}

// Adds the members of `more`, which is given up, to `document`. NULL without memory.
static json_t *merged(json_t *document, json_t *more)
{
    if (!document || !more || json_object_update(document, more) != 0) {
        json_decref(document);
        document = NULL;
    }
    json_decref(more);
    return document;
}

json_t *shown_process(const struct http1_conn *conn)
{
    const struct broker *broker = conn->shared->broker;
    const struct sight *sight = admin_shared(conn)->sight;
    struct broker_info info;
    json_t *document;

    broker_info(broker, &info);
    document = shown_facts(conn->shared->facts, broker_now(broker), info.draining);
    document = merged(document, shown_broker(broker, &info));
    return merged(document,
                  json_pack("{s:o, s:o, s:o, s:o, s:o}", "protocols", shown_protocols(sight),
                            "loop", shown_loop(sight), "memory", shown_memory(sight), "descriptors",
                            shown_descriptors(sight), "may", shown_rights(conn->session)));
}

//
// The journal
//

json_t *shown_syncs(const struct sight_distribution *syncs)
{
    json_t *buckets = json_array();

    for (size_t i = 0; i < syncs->buckets; i++) {
        if (syncs->counts[i] > 0) {
            append(&buckets, json_pack("{s:o, s:I}", "le_seconds",
                                       syncs->ends[i] == INT64_MAX ? json_null()
                                                                   : shown_seconds(syncs->ends[i]),
                                       "count", shown_number(syncs->counts[i])));
        }
    }
    return json_pack("{s:I, s:o, s:o}", "count", shown_number(syncs->count), "sum_seconds",
                     shown_seconds((nsec_t)syncs->sum), "buckets", buckets);
}

static json_t *shown_files(const struct sight_journal *journal)
{
    return json_pack(
        "{s:I, s:I, s:I, s:I, s:I, s:I, s:o}", "bytes", shown_number(journal->bytes), "live_bytes",
        shown_number(journal->live), "segment_bytes", shown_number(journal->segment_bytes),
        "segments", shown_number(journal->segments), "oldest", shown_number(journal->oldest),
        "current", shown_number(journal->current), "free_bytes",
        journal->disk_free == UINT64_MAX ? json_null()
                                         : json_integer(shown_number(journal->disk_free)));
}

json_t *shown_journal(const struct http1_conn *conn)
{
    const struct sight *sight = admin_shared(conn)->sight;
    struct sight_journal journal = {.directory = "", .fsync = "", .disk_free = UINT64_MAX};

    if (sight) {
        sight->journal(sight->host, &journal);
    }
    return merged(
        json_pack("{s:b, s:o, s:o, s:I, s:I, s:I, s:o, s:I, s:b}", "enabled", (int)journal.enabled,
                  "directory", text(journal.directory), "fsync", text(journal.fsync), "records",
                  shown_number(journal.records), "migrated", shown_number(journal.migrated),
                  "batches", shown_number(journal.batches), "syncs", shown_syncs(&journal.syncs),
                  "errors", shown_number(journal.errors), "failing", (int)journal.failing),
        shown_files(&journal));
}
