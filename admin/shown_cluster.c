/* SPDX-License-Identifier: MIT */
#include "admin/shown_cluster.h"

#include "admin/cluster_look.h"
#include "admin/context.h"
#include "admin/shown.h"
#include "admin/shown_counts.h"
#include "admin/shown_process.h"

#include <string.h>

static json_t *text(const char *words)
{
    return shown_text(slice_str(words));
}

static json_t *text_or_null(const char *words)
{
    return shown_text_or_null(slice_str(words));
}

static json_t *shown_member(const struct sight_member *member)
{
    return json_pack("{s:o, s:o, s:b, s:b, s:b, s:I, s:I, s:o}", "node", text(member->node),
                     "address", text(member->address), "owner", (int)member->owner, "takes_over",
                     (int)member->takes_over, "self", (int)member->self, "epoch",
                     shown_number(member->epoch), "behind", shown_number(member->behind),
                     "seen_seconds", shown_seconds(member->seen_for));
}

static json_t *shown_members(const struct sight_cluster *cluster)
{
    json_t *list = json_array();

    for (size_t i = 0; list && i < cluster->count; i++) {
        if (json_array_append_new(list, shown_member(&cluster->members[i])) != 0) {
            json_decref(list);
            list = NULL;
        }
    }
    return list;
}

static json_t *shown_database(const struct sight *sight, const struct sight_cluster *cluster)
{
    struct sight_journal journal = {.disk_free = 0};

    if (sight && cluster->role != SIGHT_ALONE) {
        sight->journal(sight->host, &journal);
    }
    return json_pack("{s:b, s:o, s:b, s:b, s:b, s:o, s:o}", "connected", (int)cluster->connected,
                     "why", text_or_null(cluster->why), "durable", (int)cluster->durable,
                     "replicated", (int)cluster->replicated, "trusted", (int)cluster->trusted,
                     "settings", text(cluster->care), "syncs", shown_syncs(&journal.syncs));
}

static json_t *since(const struct sight_cluster *cluster)
{
    return cluster->since_ms ? shown_seconds((nsec_t)cluster->since_ms * NSEC_PER_MSEC)
                             : json_null();
}

json_t *shown_cluster(const struct http1_conn *conn)
{
    const struct sight *sight = admin_shared(conn)->sight;
    struct sight_cluster cluster;

    cluster_look(sight, &cluster);
    return json_pack(
        "{s:s, s:o, s:o, s:o, s:o, s:I, s:o, s:o, s:I, s:I, s:I, s:o, s:o, s:{s:I, s:I}}", "role",
        cluster_role_word(cluster.role), "shard", text(cluster.shard), "node", text(cluster.node),
        "owner", text_or_null(cluster.owner), "owner_address", text_or_null(cluster.owner_address),
        "epoch", shown_number(cluster.epoch), "since", since(&cluster), "lease_left_seconds",
        shown_seconds(cluster.lease_left_for), "rows", shown_number(cluster.seq), "behind",
        shown_number(cluster.behind), "takeovers", shown_number(cluster.takeovers), "members",
        shown_members(&cluster), "database", shown_database(sight, &cluster), "proxied",
        "connections", shown_number(cluster.proxied), "total", shown_number(cluster.proxied_total));
}
