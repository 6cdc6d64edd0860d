/* SPDX-License-Identifier: MIT */
#include "admin/metrics_cluster.h"

#include "core/base/macros.h"

#include "admin/cluster_look.h"
#include "admin/metrics_label.h"

#include <stdio.h>
#include <string.h>

#define LABELS_ROOM (METRICS_LABEL_MAX + 64)

static const struct metric_family role = {
    "tandem_cluster_role", METRIC_GAUGE,
    "1 for the current role of this process in the shared journal, 0 for the other roles."};
static const struct metric_family member_behind = {
    "tandem_cluster_member_behind_rows", METRIC_GAUGE,
    "Rows of the journal that a member has not read yet."};
static const struct metric_family member_seen = {"tandem_cluster_member_seen_seconds", METRIC_GAUGE,
                                                 "Time since a member was last seen."};

static void write_role(const struct sight_cluster *cluster, struct metrics_text *text)
{
    static const enum sight_role roles[] = {SIGHT_OWNER, SIGHT_UNSURE, SIGHT_STANDBY,
                                            SIGHT_OPENING};
    char labels[LABELS_ROOM];

    metrics_text_head(text, &role);
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++) {
        // The name of a shard needs no escaping.
        size_t len = (size_t)snprintf(labels, sizeof labels, "shard=\"%s\",role=\"%s\"",
                                      cluster->shard, cluster_role_word(roles[i]));

        metrics_text_count(text, &role, slice_of(labels, len), roles[i] == cluster->role);
    }
}

static size_t label(char *labels, const struct sight_member *member)
{
    char name[METRICS_LABEL_MAX + 1];
    size_t len = strlen(member->node);

    name[metrics_label(name, slice_of(member->node, len))] = '\0';
    return (size_t)snprintf(labels, LABELS_ROOM, "node=\"%s\"", name);
}

static void write_members(const struct sight_cluster *cluster, struct metrics_text *text,
                          const struct metric_family *family)
{
    char labels[LABELS_ROOM];

    metrics_text_head(text, family);
    for (size_t i = 0; i < cluster->count && i < METRICS_CLUSTER_NAMED; i++) {
        const struct sight_member *member = &cluster->members[i];
        struct slice at = slice_of(labels, label(labels, member));

        if (family == &member_behind) {
            metrics_text_count(text, family, at, member->behind);
        } else {
            metrics_text_seconds(text, family, at, (uint64_t)member->seen_for);
        }
    }
}

static void write_count(struct metrics_text *text, const struct metric_family *family,
                        uint64_t count)
{
    metrics_text_head(text, family);
    metrics_text_count(text, family, SLICE(""), count);
}

static void write_seconds(struct metrics_text *text, const struct metric_family *family,
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

static void write_owner(const struct sight_cluster *cluster, struct metrics_text *text)
{
    write_count(text,
                FAMILY(GAUGE, "epoch",
                       "Increases by one with each change of the owner of the shared journal."),
                cluster->epoch);
    write_seconds(
        text,
        FAMILY(GAUGE, "owner_since_seconds",
               "When the owner took over the journal, in seconds since 1970; 0 without an owner."),
        (nsec_t)cluster->since_ms * NSEC_PER_MSEC);
    write_seconds(text,
                  FAMILY(GAUGE, "lease_left_seconds",
                         "Time until the owner's lease ends unless it is renewed."),
                  cluster->lease_left_for);
    write_count(text, FAMILY(COUNTER, "takeovers", "Times that this process became the owner."),
                cluster->takeovers);
    write_count(
        text,
        FAMILY(GAUGE, "behind_rows", "Rows of the journal that this process has not read yet."),
        cluster->behind);
}

static void write_database(const struct sight_cluster *cluster, struct metrics_text *text)
{
    write_count(text, FAMILY(GAUGE, "database_connected", "1 while the database can be reached."),
                cluster->connected);
    write_count(text, FAMILY(GAUGE, "database_durable", "1 if a commit waits for a disk."),
                cluster->durable);
    write_count(text,
                FAMILY(GAUGE, "database_replicated",
                       "1 if a commit waits for a second server of the database."),
                cluster->replicated);
    write_count(
        text,
        FAMILY(
            GAUGE, "database_trusted",
            "1 if journal.require_quorum is no, so that there is no warning about the two before."),
        cluster->trusted);
}

void metrics_cluster_write(const struct sight_cluster *cluster, struct metrics_text *text)
{
    if (cluster->role == SIGHT_ALONE) {
        return;
    }
    write_role(cluster, text);
    write_owner(cluster, text);
    write_count(text, FAMILY(GAUGE, "members", "Processes that own or follow the journal."),
                cluster->count);
    write_members(cluster, text, &member_behind);
    write_members(cluster, text, &member_seen);
    write_database(cluster, text);
    write_count(
        text, FAMILY(GAUGE, "proxied_connections", "Connections that are forwarded to the owner."),
        cluster->proxied);
    write_count(
        text, FAMILY(COUNTER, "connections_proxied", "Connections forwarded to the owner so far."),
        cluster->proxied_total);
}
