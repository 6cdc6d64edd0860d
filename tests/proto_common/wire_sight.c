/* SPDX-License-Identifier: MIT */
#include "tests/proto_common/wire_sight.h"

#include "core/base/macros.h"
#include "core/broker.h"

#include "tests/proto_common/wire_host_private.h"

#include <stdio.h>
#include <string.h>

static bool on_protocol(void *host, size_t index, struct sight_protocol *protocol)
{
    const struct wire_sight *sight = host;

    if (index >= sight->protocol_count) {
        return false;
    }
    *protocol = sight->protocols[index];
    return true;
}

static const char *on_address(void *host, size_t protocol, size_t index)
{
    const struct wire_sight *sight = host;

    ENSURE(protocol < sight->protocol_count);
    return index < WIRE_SIGHT_ADDRESSES ? sight->addresses[protocol][index] : NULL;
}

static bool on_connection_next(void *host, uint64_t *after, struct sight_connection *connection)
{
    struct wire_sight *sight = host;

    sight->steps++;
    for (size_t i = 0; i < sight->connection_count; i++) {
        if (sight->connections[i].number > *after) {
            *connection = sight->connections[i];
            *after = connection->number;
            return true;
        }
    }
    return false;
}

static bool on_connection(void *host, uint64_t number, struct sight_connection *connection)
{
    uint64_t after = number - 1;

    return number > 0 && on_connection_next(host, &after, connection) && after == number;
}

static uint64_t on_connection_of(void *host, const struct session *session)
{
    const struct wire_sight *sight = host;

    for (size_t i = 0; i < sight->connection_count; i++) {
        if (sight->connections[i].session == session) {
            return sight->connections[i].number;
        }
    }
    return 0;
}

static void on_loop(void *host, struct sight_loop *loop)
{
    *loop = ((const struct wire_sight *)host)->loop;
}

static void on_memory(void *host, struct sight_memory *memory)
{
    *memory = ((const struct wire_sight *)host)->memory;
}

static void on_descriptors(void *host, struct sight_descriptors *descriptors)
{
    *descriptors = ((const struct wire_sight *)host)->descriptors;
}

static void on_journal(void *host, struct sight_journal *journal)
{
    *journal = ((const struct wire_sight *)host)->journal;
}

static void on_cluster(void *host, struct sight_cluster *cluster)
{
    *cluster = ((const struct wire_sight *)host)->cluster;
}

static bool on_hand_over(void *host)
{
    struct wire_sight *sight = host;

    sight->hand_overs++;
    return sight->hands_over;
}

static bool on_opening(void *host, struct sight_opening *opening)
{
    const struct wire_sight *sight = host;

    *opening = sight->opening;
    return sight->is_opening;
}

static bool on_setting(void *host, size_t index, struct sight_setting *setting)
{
    const struct wire_sight *sight = host;

    if (index >= sight->setting_count) {
        return false;
    }
    *setting = sight->settings[index];
    return true;
}

static bool on_push(void *host, size_t index, struct sight_push *push)
{
    const struct wire_sight *sight = host;

    if (index >= sight->push_count) {
        return false;
    }
    *push = sight->pushes[index];
    return true;
}

// All queues are for the first one.
static bool on_push_of(void *host, const struct queue *queue, struct sight_push *push)
{
    (void)queue;
    return on_push(host, 0, push);
}

static void on_push_seconds(void *host, struct sight_distribution *seconds)
{
    *seconds = ((const struct wire_sight *)host)->push_seconds;
}

static bool on_section(void *host, size_t index, struct sight_section *section)
{
    const struct wire_sight *sight = host;

    if (index >= sight->section_count) {
        return false;
    }
    *section = (struct sight_section){.kind = "queue",
                                      .name = sight->sections[index].name,
                                      .origin = sight->sections[index].origin};
    return true;
}

static const struct option section_options[] = {
    {.name = "max_jobs", .kind = OPTION_NUMBER, .preset = "0"},
    {.name = "rate", .kind = OPTION_RATE, .preset = "0"},
    {.name = "unused", .kind = OPTION_BOOL, .preset = "false"},
};

// The first says what the test wants, the second `5/m`, and the third nothing.
static bool show_key(const struct wire_section *section, size_t key, struct sight_key *shown)
{
    if (key >= 3) {
        return false;
    }
    *shown = (struct sight_key){
        .option = &section_options[key], .value = "5/m", .preset = key == 2 || !section->value};
    if (key == 0 && section->value) {
        shown->value = section->value;
    }
    return true;
}

static bool on_section_key(void *host, size_t index, size_t key, struct sight_key *shown)
{
    const struct wire_sight *sight = host;

    return show_key(&sight->sections[index], key, shown);
}

static bool on_policy(void *host, size_t index, struct sight_policy *policy)
{
    const struct wire_sight *sight = host;
    const struct wire_section *found = &sight->policies[index];

    if (index >= sight->policy_count) {
        return false;
    }
    *policy = (struct sight_policy){.glob = found->name,
                                    .origin = found->origin,
                                    .is_run_time = found->is_run_time,
                                    .position = found->position,
                                    .why_not = found->why_not};
    return true;
}

static bool on_policy_key(void *host, size_t index, size_t key, struct sight_key *shown)
{
    const struct wire_sight *sight = host;

    return show_key(&sight->policies[index], key, shown);
}

static enum status on_set_policy(void *host, const struct sight_new_policy *policy,
                                 struct error_text *why)
{
    struct wire_sight *sight = host;
    struct wire_section *made = &sight->policies[0];
    size_t len = 0;

    (void)snprintf(why->text, sizeof why->text, "`it` is wrong");
    if (sight->policy_status != STATUS_OK) {
        return sight->policy_status;
    }
    ENSURE(sight->policy_count < WIRE_SIGHT_SECTIONS);
    memmove(made + 1, made, sight->policy_count++ * sizeof *made);
    *made = (struct wire_section){.origin = SIGHT_RUN_TIME,
                                  .value = "77",
                                  .is_run_time = true,
                                  .position = policy->has_position ? policy->position : 10};
    memcpy(made->name, policy->glob.ptr, policy->glob.len);
    for (size_t i = 0; i < policy->count; i++) {
        len += (size_t)snprintf(sight->policy_set + len, sizeof sight->policy_set - len, "%s=%s ",
                                policy->said[i].key, policy->said[i].value);
    }
    return STATUS_OK;
}

static enum status on_drop_policy(void *host, struct slice glob)
{
    struct wire_sight *sight = host;

    for (size_t i = 0; i < sight->policy_count; i++) {
        struct wire_section *found = &sight->policies[i];

        if (found->is_run_time && slice_equal(glob, slice_str(found->name))) {
            memmove(found, found + 1, (--sight->policy_count - i) * sizeof *found);
            return sight->policy_status;
        }
    }
    return STATUS_NOT_FOUND;
}

static const char *on_config_file(void *host)
{
    return ((const struct wire_sight *)host)->config_file;
}

static void on_drain(void *host, bool on)
{
    struct wire_sight *sight = host;

    sight->drains++;
    sight->draining = on;
    if (sight->broker && on) {
        broker_drain(sight->broker);
    } else if (sight->broker) {
        broker_end_drain(sight->broker);
    }
}

static struct schedules *on_schedules(void *host)
{
    struct wire_sight *sight = host;

    return sight->schedules;
}

static bool on_reload(void *host, char *why, size_t room)
{
    struct wire_sight *sight = host;

    sight->reloads++;
    (void)snprintf(why, room, "%s", sight->reload_fails ? "/etc/t.conf:3: no such key" : "");
    return !sight->reload_fails;
}

static bool on_log_commands(void *host, const char *whose)
{
    struct wire_sight *sight = host;

    sight->logs++;
    (void)snprintf(sight->logged, sizeof sight->logged, "%s", whose);
    return !sight->log_fails;
}

static bool on_push_resume(void *host, struct slice section)
{
    struct wire_sight *sight = host;

    for (size_t i = 0; i < sight->push_count; i++) {
        if (slice_equal(section, slice_str(sight->pushes[i].section))) {
            sight->resumes++;
            sight->pushes[i].state = "open";
            return true;
        }
    }
    return false;
}

static const struct sight_pushes pushes = {
    .at = on_push, .of = on_push_of, .seconds = on_push_seconds, .resume = on_push_resume};

static const struct sight_policies policies = {
    .section = on_section,
    .section_key = on_section_key,
    .at = on_policy,
    .key = on_policy_key,
    .set = on_set_policy,
    .drop = on_drop_policy,
};

static const struct sight table = {
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

static void preset_protocols(struct wire_sight *sight)
{
    static const char *const names[] = {"beanstalk", "gearman", "http"};
    static const char *const addresses[] = {"127.0.0.1:11300", "127.0.0.1:4730", "127.0.0.1:8080"};

    sight->protocol_count = 3;
    for (uint64_t i = 0; i < 3; i++) {
        sight->protocols[i] = (struct sight_protocol){
            .name = names[i],
            .open = 11 + i,
            .accepted = 21 + i,
            .commands = 101 + i,
            .received = 1001 + i,
            .sent = 2001 + i,
            .refusals = {[SIGHT_FORBIDDEN] = 31 + i, [SIGHT_TOO_LARGE] = 41 + i},
        };
        sight->addresses[i][0] = addresses[i];
    }
    sight->addresses[1][1] = "tls:127.0.0.1:4731";
}

static void preset_journal(struct sight_journal *journal)
{
    *journal = (struct sight_journal){
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

static void preset_settings(struct wire_sight *sight)
{
    sight->setting_count = 2;
    sight->settings[0] = (struct sight_setting){.section = "server",
                                                .key = "max_memory",
                                                .value = "64M",
                                                .preset = "0",
                                                .effect = "memory for what clients make grow",
                                                .live = true};
    sight->settings[1] = (struct sight_setting){.section = "beanstalk",
                                                .key = "listen",
                                                .value = "127.0.0.1:11300",
                                                .preset = "127.0.0.1:11300",
                                                .effect = "addresses"};
    sight->config_file = "/etc/tandem/tandemd.conf";
    sight->section_count = 1;
    sight->sections[0] = (struct wire_section){
        .name = "mail.*", .origin = "/etc/tandem/tandemd.conf:12", .value = "5"};
    sight->policy_count = 2;
    sight->policies[0] = (struct wire_section){.name = "m*",
                                               .origin = SIGHT_RUN_TIME,
                                               .why_not = "unreadable",
                                               .is_run_time = true,
                                               .position = 10};
    sight->policies[1] = sight->sections[0];
}

void wire_sight_init(struct wire_sight *sight)
{
    memset(sight, 0, sizeof *sight);
    sight->sight = table;
    sight->sight.host = sight;
    preset_protocols(sight);
    preset_journal(&sight->journal);
    preset_settings(sight);
    sight->loop = (struct sight_loop){.turns = 5001,
                                      .slow_turns = 3,
                                      .longest_for = 2 * NSEC_PER_MSEC,
                                      .lag_for = 7 * NSEC_PER_MSEC,
                                      .io_threads = 2};
    sight->memory = (struct sight_memory){.used = 1000000,
                                          .limit = 67108864,
                                          .resident = 9437184,
                                          .kinds = memory_kinds,
                                          .by_kind = memory_bytes};
    sight->cluster = (struct sight_cluster){.role = SIGHT_ALONE,
                                            .shard = "",
                                            .node = "",
                                            .owner = "",
                                            .owner_address = "",
                                            .care = "",
                                            .why = ""};
    sight->descriptors = (struct sight_descriptors){.open = 48, .limit = 1024};
    sight->opening = (struct sight_opening){.done = 250, .total = 1000, .jobs = 12};
}

struct sight_connection *wire_sight_add(struct wire_sight *sight, uint64_t number)
{
    struct sight_connection *connection = &sight->connections[sight->connection_count];

    ENSURE(sight->connection_count < WIRE_SIGHT_CONNECTIONS && number > 0 &&
           (sight->connection_count == 0 || number > connection[-1].number));
    sight->connection_count++;
    *connection = (struct sight_connection){.number = number,
                                            .protocol = "beanstalk",
                                            .peer = "127.0.0.1:50000",
                                            .connected_at = SECONDS(990)};
    return connection;
}

struct sight_connection *wire_sight_add_peer(struct wire_sight *sight, const struct peer *peer)
{
    struct sight_connection *connection = wire_sight_add(sight, peer->wire.number);
    struct frontend_about about = peer->frontend->about(peer->conn);

    connection->protocol = peer->frontend->name;
    connection->session = about.session;
    connection->client_id = about.client_id;
    return connection;
}

void wire_sight_remove(struct wire_sight *sight, uint64_t number)
{
    size_t at = 0;

    while (at < sight->connection_count && sight->connections[at].number != number) {
        at++;
    }
    ENSURE(at < sight->connection_count);
    sight->connection_count--;
    memmove(&sight->connections[at], &sight->connections[at + 1],
            (sight->connection_count - at) * sizeof sight->connections[0]);
}
