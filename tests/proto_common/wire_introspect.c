/* SPDX-License-Identifier: MIT */
#include "tests/proto_common/wire_introspect.h"

#include "core/base/macros.h"
#include "core/broker.h"

#include "tests/proto_common/wire_host_private.h"

#include <stdio.h>
#include <string.h>

static bool on_protocol(void *host, size_t index, struct introspect_protocol *protocol)
{
    const struct wire_introspect *introspect = host;

    if (index >= introspect->protocol_count) {
        return false;
    }
    *protocol = introspect->protocols[index];
    return true;
}

static const char *on_address(void *host, size_t protocol, size_t index)
{
    const struct wire_introspect *introspect = host;

    ENSURE(protocol < introspect->protocol_count);
    return index < WIRE_INTROSPECT_ADDRESSES ? introspect->addresses[protocol][index] : NULL;
}

static bool on_connection_next(void *host, uint64_t *after,
                               struct introspect_connection *connection)
{
    struct wire_introspect *introspect = host;

    introspect->steps++;
    for (size_t i = 0; i < introspect->connection_count; i++) {
        if (introspect->connections[i].number > *after) {
            *connection = introspect->connections[i];
            *after = connection->number;
            return true;
        }
    }
    return false;
}

static bool on_connection(void *host, uint64_t number, struct introspect_connection *connection)
{
    uint64_t after = number - 1;

    return number > 0 && on_connection_next(host, &after, connection) && after == number;
}

static uint64_t on_connection_of(void *host, const struct session *session)
{
    const struct wire_introspect *introspect = host;

    for (size_t i = 0; i < introspect->connection_count; i++) {
        if (introspect->connections[i].session == session) {
            return introspect->connections[i].number;
        }
    }
    return 0;
}

static void on_loop(void *host, struct introspect_loop *loop)
{
    *loop = ((const struct wire_introspect *)host)->loop;
}

static void on_memory(void *host, struct introspect_memory *memory)
{
    *memory = ((const struct wire_introspect *)host)->memory;
}

static void on_descriptors(void *host, struct introspect_descriptors *descriptors)
{
    *descriptors = ((const struct wire_introspect *)host)->descriptors;
}

static void on_journal(void *host, struct introspect_journal *journal)
{
    *journal = ((const struct wire_introspect *)host)->journal;
}

static void on_cluster(void *host, struct introspect_cluster *cluster)
{
    *cluster = ((const struct wire_introspect *)host)->cluster;
}

static bool on_hand_over(void *host)
{
    struct wire_introspect *introspect = host;

    introspect->hand_overs++;
    return introspect->hands_over;
}

static bool on_opening(void *host, struct restore_progress *opening)
{
    const struct wire_introspect *introspect = host;

    *opening = introspect->opening;
    return introspect->is_opening;
}

static bool on_setting(void *host, size_t index, struct introspect_setting *setting)
{
    const struct wire_introspect *introspect = host;

    if (index >= introspect->setting_count) {
        return false;
    }
    *setting = introspect->settings[index];
    return true;
}

static bool on_push(void *host, size_t index, struct introspect_push *push)
{
    const struct wire_introspect *introspect = host;

    if (index >= introspect->push_count) {
        return false;
    }
    *push = introspect->pushes[index];
    return true;
}

// All queues belong to the first endpoint.
static bool on_push_of(void *host, const struct queue *queue, struct introspect_push *push)
{
    (void)queue;
    return on_push(host, 0, push);
}

static void on_push_seconds(void *host, struct introspect_distribution *seconds)
{
    *seconds = ((const struct wire_introspect *)host)->push_seconds;
}

static bool on_section(void *host, size_t index, struct introspect_section *section)
{
    const struct wire_introspect *introspect = host;

    if (index >= introspect->section_count) {
        return false;
    }
    *section = (struct introspect_section){.kind = "queue",
                                           .name = introspect->sections[index].name,
                                           .origin = introspect->sections[index].origin};
    return true;
}

static const struct option section_options[] = {
    {.name = "max_jobs", .kind = OPTION_NUMBER, .default_value = "0"},
    {.name = "rate", .kind = OPTION_RATE, .default_value = "0"},
    {.name = "unused", .kind = OPTION_BOOL, .default_value = "false"},
};

// The first key has the value of the test, the second `5/m`, and the third its default.
static bool show_key(const struct wire_section *section, size_t key, struct introspect_key *shown)
{
    if (key >= 3) {
        return false;
    }
    *shown = (struct introspect_key){
        .option = &section_options[key], .value = "5/m", .is_default = key == 2 || !section->value};
    if (key == 0 && section->value) {
        shown->value = section->value;
    }
    return true;
}

static bool on_section_key(void *host, size_t index, size_t key, struct introspect_key *shown)
{
    const struct wire_introspect *introspect = host;

    return show_key(&introspect->sections[index], key, shown);
}

static bool on_policy(void *host, size_t index, struct introspect_policy *policy)
{
    const struct wire_introspect *introspect = host;
    const struct wire_section *found = &introspect->policies[index];

    if (index >= introspect->policy_count) {
        return false;
    }
    *policy = (struct introspect_policy){.glob = found->name,
                                         .origin = found->origin,
                                         .is_run_time = found->is_run_time,
                                         .position = found->position,
                                         .why_not = found->why_not};
    return true;
}

static bool on_policy_key(void *host, size_t index, size_t key, struct introspect_key *shown)
{
    const struct wire_introspect *introspect = host;

    return show_key(&introspect->policies[index], key, shown);
}

static enum status on_set_policy(void *host, const struct introspect_new_policy *policy,
                                 struct error_text *why)
{
    struct wire_introspect *introspect = host;
    struct wire_section *made = &introspect->policies[0];
    size_t len = 0;

    (void)snprintf(why->text, sizeof why->text, "`it` is wrong");
    if (introspect->policy_status != STATUS_OK) {
        return introspect->policy_status;
    }
    ENSURE(introspect->policy_count < WIRE_INTROSPECT_SECTIONS);
    memmove(made + 1, made, introspect->policy_count++ * sizeof *made);
    *made = (struct wire_section){.origin = INTROSPECT_RUN_TIME,
                                  .value = "77",
                                  .is_run_time = true,
                                  .position = policy->has_position ? policy->position : 10};
    memcpy(made->name, policy->glob.ptr, policy->glob.len);
    for (size_t i = 0; i < policy->count; i++) {
        len += (size_t)snprintf(introspect->policy_set + len, sizeof introspect->policy_set - len,
                                "%s=%s ", policy->assignments[i].key, policy->assignments[i].value);
    }
    return STATUS_OK;
}

static enum status on_drop_policy(void *host, struct slice glob)
{
    struct wire_introspect *introspect = host;

    for (size_t i = 0; i < introspect->policy_count; i++) {
        struct wire_section *found = &introspect->policies[i];

        if (found->is_run_time && slice_equal(glob, slice_str(found->name))) {
            memmove(found, found + 1, (--introspect->policy_count - i) * sizeof *found);
            return introspect->policy_status;
        }
    }
    return STATUS_NOT_FOUND;
}

static const char *on_config_file(void *host)
{
    return ((const struct wire_introspect *)host)->config_file;
}

static void on_drain(void *host, bool on)
{
    struct wire_introspect *introspect = host;

    introspect->drains++;
    introspect->draining = on;
    if (introspect->broker && on) {
        broker_drain(introspect->broker);
    } else if (introspect->broker) {
        broker_end_drain(introspect->broker);
    }
}

static struct schedules *on_schedules(void *host)
{
    struct wire_introspect *introspect = host;

    return introspect->schedules;
}

static bool on_reload(void *host, struct error_text *why)
{
    struct wire_introspect *introspect = host;

    introspect->reloads++;
    return !introspect->reload_fails || error_set(why, "/etc/t.conf:3: no such key");
}

static bool on_log_commands(void *host, const char *whose)
{
    struct wire_introspect *introspect = host;

    introspect->logs++;
    (void)snprintf(introspect->logged, sizeof introspect->logged, "%s", whose);
    return !introspect->log_fails;
}

static bool on_push_resume(void *host, struct slice section)
{
    struct wire_introspect *introspect = host;

    for (size_t i = 0; i < introspect->push_count; i++) {
        if (slice_equal(section, slice_str(introspect->pushes[i].section))) {
            introspect->resumes++;
            introspect->pushes[i].state = "open";
            return true;
        }
    }
    return false;
}

static const struct introspect_pushes pushes = {
    .at = on_push, .of = on_push_of, .seconds = on_push_seconds, .resume = on_push_resume};

static const struct introspect_policies policies = {
    .section = on_section,
    .section_key = on_section_key,
    .at = on_policy,
    .key = on_policy_key,
    .set = on_set_policy,
    .drop = on_drop_policy,
};

static const struct introspect table = {
    .policies = &policies,
    .protocol = on_protocol,
    .address = on_address,
    .connection_next = on_connection_next,
    .connection = on_connection,
    .connection_of = on_connection_of,
    .loop = on_loop,
    .memory = on_memory,
    .descriptors = on_descriptors,
    .journal = on_journal,
    .cluster = on_cluster,
    .hand_over = on_hand_over,
    .opening = on_opening,
    .setting = on_setting,
    .pushes = &pushes,
    .config_file = on_config_file,
    .schedules = on_schedules,
    .drain = on_drain,
    .reload = on_reload,
    .log_commands = on_log_commands,
};

static const int64_t sync_ends[] = {NSEC_PER_MSEC, 10 * NSEC_PER_MSEC, INT64_MAX};
static const uint64_t sync_counts[] = {5, 2, 1};
static const int64_t record_ends[] = {1, 8, INT64_MAX};
static const uint64_t record_counts[] = {3, 4, 2};
static const char *const memory_kinds[] = {"jobs", "output", "other", NULL};
static const uint64_t memory_bytes[] = {600000, 300000, 100000};

static void preset_protocols(struct wire_introspect *introspect)
{
    static const char *const names[] = {"beanstalk", "gearman", "http"};
    static const char *const addresses[] = {"127.0.0.1:11300", "127.0.0.1:4730", "127.0.0.1:8080"};

    introspect->protocol_count = 3;
    for (uint64_t i = 0; i < 3; i++) {
        introspect->protocols[i] = (struct introspect_protocol){
            .name = names[i],
            .open = 11 + i,
            .accepted = 21 + i,
            .commands = 101 + i,
            .received = 1001 + i,
            .sent = 2001 + i,
            .refusals = {[REFUSAL_FORBIDDEN] = 31 + i, [REFUSAL_TOO_LARGE] = 41 + i},
        };
        introspect->addresses[i][0] = addresses[i];
    }
    introspect->addresses[1][1] = "tls:127.0.0.1:4731";
}

static void preset_journal(struct introspect_journal *journal)
{
    *journal = (struct introspect_journal){
        .enabled = true,
        .directory = "/var/lib/tandem",
        .fsync = "always",
        .bytes = 20971520,
        .live = 1048577,
        .segment_bytes = 10485760,
        .segments = 2,
        .oldest = 6,
        .current = 7,
        .records = 1234,
        .migrated = 56,
        .batches = 9,
        .syncs = {sync_ends, sync_counts, 3, 8, 40 * NSEC_PER_MSEC},
        .batch_records = {record_ends, record_counts, 3, 9, 61},
        .errors = 4,
        .disk_free = UINT64_C(5000000000),
    };
}

static void preset_settings(struct wire_introspect *introspect)
{
    introspect->setting_count = 2;
    introspect->settings[0] =
        (struct introspect_setting){.section = "server",
                                    .key = "max_memory",
                                    .value = "64M",
                                    .default_value = "0",
                                    .effect = "memory for what clients make grow",
                                    .live = true};
    introspect->settings[1] = (struct introspect_setting){.section = "beanstalk",
                                                          .key = "listen",
                                                          .value = "127.0.0.1:11300",
                                                          .default_value = "127.0.0.1:11300",
                                                          .effect = "addresses"};
    introspect->config_file = "/etc/tandem/tandemd.conf";
    introspect->section_count = 1;
    introspect->sections[0] = (struct wire_section){
        .name = "mail.*", .origin = "/etc/tandem/tandemd.conf:12", .value = "5"};
    introspect->policy_count = 2;
    introspect->policies[0] = (struct wire_section){.name = "m*",
                                                    .origin = INTROSPECT_RUN_TIME,
                                                    .why_not = "unreadable",
                                                    .is_run_time = true,
                                                    .position = 10};
    introspect->policies[1] = introspect->sections[0];
}

void wire_introspect_init(struct wire_introspect *introspect)
{
    memset(introspect, 0, sizeof *introspect);
    introspect->introspect = table;
    introspect->introspect.host = introspect;
    preset_protocols(introspect);
    preset_journal(&introspect->journal);
    preset_settings(introspect);
    introspect->loop = (struct introspect_loop){.turns = 5001,
                                                .slow_turns = 3,
                                                .longest_for = 2 * NSEC_PER_MSEC,
                                                .lag_for = 7 * NSEC_PER_MSEC,
                                                .io_threads = 2};
    introspect->memory = (struct introspect_memory){.used = 1000000,
                                                    .limit = 67108864,
                                                    .resident = 9437184,
                                                    .kinds = memory_kinds,
                                                    .by_kind = memory_bytes};
    introspect->cluster = (struct introspect_cluster){.role = CLUSTER_ALONE,
                                                      .shard = "",
                                                      .node = "",
                                                      .owner = "",
                                                      .owner_address = "",
                                                      .durability = "",
                                                      .why = ""};
    introspect->descriptors = (struct introspect_descriptors){.open = 48, .limit = 1024};
    introspect->opening = (struct restore_progress){.read = 250, .size = 1000, .jobs = 12};
}

struct introspect_connection *wire_introspect_add(struct wire_introspect *introspect,
                                                  uint64_t number)
{
    struct introspect_connection *connection =
        &introspect->connections[introspect->connection_count];

    ENSURE(introspect->connection_count < WIRE_INTROSPECT_CONNECTIONS && number > 0 &&
           (introspect->connection_count == 0 || number > connection[-1].number));
    introspect->connection_count++;
    *connection = (struct introspect_connection){.number = number,
                                                 .protocol = "beanstalk",
                                                 .peer = "127.0.0.1:50000",
                                                 .connected_at = SECONDS(990)};
    return connection;
}

struct introspect_connection *wire_introspect_add_peer(struct wire_introspect *introspect,
                                                       const struct peer *peer)
{
    struct introspect_connection *connection = wire_introspect_add(introspect, peer->wire.number);
    struct frontend_facts facts = peer->frontend->facts(peer->conn);

    connection->protocol = peer->frontend->name;
    connection->session = facts.session;
    connection->client_id = facts.client_id;
    return connection;
}

void wire_introspect_remove(struct wire_introspect *introspect, uint64_t number)
{
    size_t at = 0;

    while (at < introspect->connection_count && introspect->connections[at].number != number) {
        at++;
    }
    ENSURE(at < introspect->connection_count);
    introspect->connection_count--;
    memmove(&introspect->connections[at], &introspect->connections[at + 1],
            (introspect->connection_count - at) * sizeof introspect->connections[0]);
}
