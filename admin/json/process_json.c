/* SPDX-License-Identifier: MIT */
#include "admin/json/process_json.h"

#include "core/base/macros.h"
#include "core/broker.h"
#include "proto_common/introspect_queues.h"

#include "admin/json/json_values.h"
#include "admin/request/admin_context.h"

#include <stdbool.h>
#include <string.h>

static json_t *cstr_json(const char *text)
{
    return text_json(slice_str(text));
}

static json_t *cstr_or_null_json(const char *text)
{
    return text_or_null_json(slice_str(text));
}

// Sets a number for each name; `names` may be NULL.
static json_t *numbers_json(const char *const *names, const uint64_t *numbers, size_t count)
{
    json_t *object = json_object();

    for (size_t i = 0; object && i < count; i++) {
        json_member_add(&object, names[i], json_integer(json_int_of(numbers[i])));
    }
    return object;
}

//
// Process
//

static json_t *addresses_json(const struct introspect *introspect, size_t protocol)
{
    json_t *list = json_array();
    const char *address;

    for (size_t i = 0; (address = introspect->address(introspect->host, protocol, i)); i++) {
        json_list_add(&list, cstr_json(address));
    }
    return list;
}

static json_t *protocols_json(const struct introspect *introspect)
{
    static const char *const refusals[] = {
#define X(name, word, help) [REFUSAL_##name] = (word),
        REFUSALS(X)
#undef X
    };
    json_t *list = json_array();
    struct introspect_protocol protocol;

    for (size_t i = 0; introspect && introspect->protocol(introspect->host, i, &protocol); i++) {
        json_list_add(&list, json_pack("{s:s, s:o, s:I, s:I, s:I, s:I, s:I, s:o}", "name",
                                       protocol.name, "listening", addresses_json(introspect, i),
                                       "connections", json_int_of(protocol.open), "accepted",
                                       json_int_of(protocol.accepted), "commands",
                                       json_int_of(protocol.commands), "received_bytes",
                                       json_int_of(protocol.received), "sent_bytes",
                                       json_int_of(protocol.sent), "refusals",
                                       numbers_json(refusals, protocol.refusals, REFUSAL_COUNT)));
    }
    return list;
}

static json_t *loop_json(const struct introspect *introspect)
{
    struct introspect_loop loop = {0};

    if (introspect) {
        introspect->loop(introspect->host, &loop);
    }
    return json_pack("{s:I, s:o, s:o, s:I, s:I}", "turns", json_int_of(loop.turns),
                     "longest_seconds", seconds_json(loop.longest_for), "lag_seconds",
                     seconds_json(loop.lag_for), "slow_turns", json_int_of(loop.slow_turns),
                     "io_threads", (json_int_t)loop.io_threads);
}

static json_t *memory_json(const struct introspect *introspect)
{
    struct introspect_memory memory = {0};
    size_t kinds = 0;

    if (introspect) {
        introspect->memory(introspect->host, &memory);
    }
    while (memory.kinds && memory.kinds[kinds]) {
        kinds++;
    }
    return json_pack(
        "{s:I, s:I, s:I, s:o, s:b}", "used_bytes", json_int_of(memory.used), "limit_bytes",
        json_int_of(memory.limit), "resident_bytes", json_int_of(memory.resident), "kinds",
        numbers_json(memory.kinds, memory.by_kind, kinds), "short", (int)memory.is_short);
}

static json_t *descriptors_json(const struct introspect *introspect)
{
    struct introspect_descriptors descriptors = {0};

    if (introspect) {
        introspect->descriptors(introspect->host, &descriptors);
    }
    return json_pack("{s:I, s:I}", "open", json_int_of(descriptors.open), "limit",
                     json_int_of(descriptors.limit));
}

// The rights that the session has on at least one queue.
static json_t *rights_json(const struct session *session)
{
    static const struct {
        enum right right;
        const char *name;
    } rights[] = {{MAY_SUBMIT, "submit"}, {MAY_WORK, "work"},       {MAY_OBSERVE, "observe"},
                  {MAY_CANCEL, "cancel"}, {MAY_OPERATE, "operate"}, {MAY_ADMINISTER, "admin"}};
    json_t *list = json_array();

    for (size_t i = 0; i < sizeof rights / sizeof *rights; i++) {
        if (session_may_somewhere(session, rights[i].right)) {
            json_list_add(&list, json_string(rights[i].name));
        }
    }
    return list;
}

static json_t *facts_json(const struct process_facts *facts, struct instant now, bool draining)
{
    nsec_t up_for = now.mono > facts->started_at ? now.mono - facts->started_at : 0;
    nsec_t user_for;
    nsec_t system_for;

    facts->cpu_time(&user_for, &system_for);
    return json_pack("{s:s, s:I, s:o, s:o, s:o, s:o, s:b, s:{s:o, s:o}}", "version", facts->version,
                     "pid", (json_int_t)facts->pid, "host", cstr_json(facts->hostname),
                     "started_at", seconds_json(now.wall > up_for ? now.wall - up_for : 0),
                     "uptime_seconds", seconds_json(up_for), "now", seconds_json(now.wall),
                     "draining", (int)draining, "cpu", "user_seconds", seconds_json(user_for),
                     "system_seconds", seconds_json(system_for));
}

static json_t *broker_json(const struct broker *broker, const struct broker_info *info)
{
    struct counts counts;

    broker_counts(broker, &counts);
    return json_pack("{s:o, s:o, s:o, s:I, s:I, s:I, s:I}", "jobs", jobs_json(info->jobs), "bands",
                     bands_json(info->ready), "totals", totals_json(&counts), "queues",
                     json_int_of(info->queues), "workers", json_int_of(info->workers), "waiting",
                     json_int_of(info->waiting), "producers", json_int_of(info->producers));
}

json_t *process_json(const struct http1_conn *conn)
{
    const struct broker *broker = conn->shared->broker;
    const struct introspect *introspect = admin_shared(conn)->introspect;
    struct broker_info info;
    json_t *document;

    broker_info(broker, &info);
    document = facts_json(conn->shared->facts, broker_now(broker), info.draining);
    document = json_merge(document, broker_json(broker, &info));
    return json_merge(document,
                      json_pack("{s:o, s:o, s:o, s:o, s:o}", "protocols",
                                protocols_json(introspect), "loop", loop_json(introspect), "memory",
                                memory_json(introspect), "descriptors",
                                descriptors_json(introspect), "may", rights_json(conn->session)));
}

//
// Journal
//

// `Histogram`.
static json_t *distribution_json(const struct introspect_distribution *distribution)
{
    json_t *buckets = json_array();

    for (size_t i = 0; i < distribution->buckets; i++) {
        if (distribution->counts[i] > 0) {
            json_list_add(&buckets, json_pack("{s:o, s:I}", "le_seconds",
                                              distribution->ends[i] == INT64_MAX
                                                  ? json_null()
                                                  : seconds_json(distribution->ends[i]),
                                              "count", json_int_of(distribution->counts[i])));
        }
    }
    return json_pack("{s:I, s:o, s:o}", "count", json_int_of(distribution->count), "sum_seconds",
                     seconds_json((nsec_t)distribution->sum), "buckets", buckets);
}

json_t *journal_json(const struct http1_conn *conn)
{
    const struct introspect *introspect = admin_shared(conn)->introspect;
    struct introspect_journal journal = {.directory = "", .fsync = "", .disk_free = UINT64_MAX};

    if (introspect) {
        introspect->journal(introspect->host, &journal);
    }
    return json_merge(
        json_pack("{s:b, s:o, s:o, s:I, s:I, s:I, s:o, s:I, s:b}", "enabled", (int)journal.enabled,
                  "directory", cstr_json(journal.directory), "fsync", cstr_json(journal.fsync),
                  "records", json_int_of(journal.records), "migrated",
                  json_int_of(journal.migrated), "batches", json_int_of(journal.batches), "syncs",
                  distribution_json(&journal.syncs), "errors", json_int_of(journal.errors),
                  "failing", (int)journal.failing),
        json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:o}", "bytes", json_int_of(journal.bytes),
                  "live_bytes", json_int_of(journal.live), "segment_bytes",
                  json_int_of(journal.segment_bytes), "segments", json_int_of(journal.segments),
                  "oldest", json_int_of(journal.oldest), "current", json_int_of(journal.current),
                  "free_bytes",
                  journal.disk_free == UINT64_MAX ? json_null()
                                                  : json_integer(json_int_of(journal.disk_free))));
}

//
// Cluster
//

void cluster_info_get(const struct introspect *introspect, struct introspect_cluster *cluster)
{
    *cluster = (struct introspect_cluster){.role = CLUSTER_ALONE,
                                           .shard = "",
                                           .node = "",
                                           .owner = "",
                                           .owner_address = "",
                                           .durability = "",
                                           .why = ""};
    if (introspect && introspect->cluster) {
        introspect->cluster(introspect->host, cluster);
    }
}

const char *cluster_role_name(enum cluster_role role)
{
    switch (role) {
    case CLUSTER_ALONE:
        return "alone";
    case CLUSTER_OWNER:
        return "owner";
    case CLUSTER_UNSURE:
        return "unsure";
    case CLUSTER_STANDBY:
        return "standby";
    case CLUSTER_OPENING:
        return "opening";
    }
    UNREACHABLE();
}

static json_t *members_json(const struct introspect_cluster *cluster)
{
    json_t *list = json_array();

    for (size_t i = 0; list && i < cluster->count; i++) {
        const struct introspect_member *member = &cluster->members[i];

        json_list_add(&list,
                      json_pack("{s:o, s:o, s:b, s:b, s:b, s:I, s:I, s:o}", "node",
                                cstr_json(member->node), "address", cstr_json(member->address),
                                "owner", (int)member->owner, "takes_over", (int)member->takes_over,
                                "self", (int)member->self, "epoch", json_int_of(member->epoch),
                                "behind", json_int_of(member->behind), "seen_seconds",
                                seconds_json(member->seen_for)));
    }
    return list;
}

static json_t *database_json(const struct introspect *introspect,
                             const struct introspect_cluster *cluster)
{
    struct introspect_journal journal = {.disk_free = 0};

    if (introspect && cluster->role != CLUSTER_ALONE) {
        introspect->journal(introspect->host, &journal);
    }
    return json_pack("{s:b, s:o, s:b, s:b, s:b, s:o, s:o}", "connected", (int)cluster->connected,
                     "why", cstr_or_null_json(cluster->why), "durable", (int)cluster->durable,
                     "replicated", (int)cluster->replicated, "trusted", (int)cluster->trusted,
                     "settings", cstr_json(cluster->durability), "syncs",
                     distribution_json(&journal.syncs));
}

json_t *cluster_json(const struct http1_conn *conn)
{
    const struct introspect *introspect = admin_shared(conn)->introspect;
    struct introspect_cluster cluster;

    cluster_info_get(introspect, &cluster);
    return json_pack(
        "{s:s, s:o, s:o, s:o, s:o, s:I, s:o, s:o, s:I, s:I, s:I, s:o, s:o, s:{s:I, s:I}}", "role",
        cluster_role_name(cluster.role), "shard", cstr_json(cluster.shard), "node",
        cstr_json(cluster.node), "owner", cstr_or_null_json(cluster.owner), "owner_address",
        cstr_or_null_json(cluster.owner_address), "epoch", json_int_of(cluster.epoch), "since",
        cluster.since_ms ? seconds_json((nsec_t)cluster.since_ms * NSEC_PER_MSEC) : json_null(),
        "lease_left_seconds", seconds_json(cluster.lease_left_for), "rows",
        json_int_of(cluster.seq), "behind", json_int_of(cluster.behind), "takeovers",
        json_int_of(cluster.takeovers), "members", members_json(&cluster), "database",
        database_json(introspect, &cluster), "proxied", "connections", json_int_of(cluster.proxied),
        "total", json_int_of(cluster.proxied_total));
}

//
// Push endpoints
//

static json_t *endpoint_json(const struct introspect_push *push)
{
    return json_pack("{s:o, s:o, s:s, s:o, s:I, s:I, s:o, s:o}", "section",
                     cstr_json(push->section), "endpoint", cstr_json(push->endpoint), "state",
                     push->state, "paused_seconds", seconds_json(push->paused_for), "connections",
                     json_int_of(push->connections), "in_flight", json_int_of(push->in_flight),
                     "outcomes",
                     numbers_json(push->outcome_words, push->outcomes, push->outcome_count),
                     "last_failure", cstr_or_null_json(push->last_failure));
}

json_t *endpoints_json(const struct introspect *introspect)
{
    json_t *list = json_array();
    struct introspect_push push;

    for (size_t i = 0; list && introspect && introspect->pushes->at(introspect->host, i, &push);
         i++) {
        json_list_add(&list, endpoint_json(&push));
    }
    return list;
}

json_t *section_endpoint_json(const struct introspect *introspect, struct slice section)
{
    struct introspect_push push;

    for (size_t i = 0; introspect && introspect->pushes->at(introspect->host, i, &push); i++) {
        if (slice_equal(section, slice_str(push.section))) {
            return endpoint_json(&push);
        }
    }
    return json_null();
}

json_t *queue_endpoint_json(const struct introspect *introspect, const struct queue *queue)
{
    struct introspect_push push;

    return introspect && introspect->pushes->of(introspect->host, queue, &push)
               ? endpoint_json(&push)
               : json_null();
}
