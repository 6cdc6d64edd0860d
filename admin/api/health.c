/* SPDX-License-Identifier: MIT */
#include "core/base/macros.h"
#include "core/broker.h"
#include "http1/reply.h"

#include "admin/api/api_routes.h"
#include "admin/json/process_json.h"
#include "admin/request/admin_context.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define TEXT_MAX 512

static enum http1_next reply_text(struct http1_conn *conn, unsigned status, const char *text)
{
    http1_reply(conn,
                &(struct http1_reply){.status = status,
                                      .type = "text/plain; charset=utf-8",
                                      .extra = status == 503 ? HTTP1_RETRY
                                                   "Cache-Control: no-store\r\n"
                                                             : "Cache-Control: no-store\r\n"},
                slice_str(text));
    return HTTP1_NEXT_REQUEST;
}

static enum http1_next answer_healthz(struct http1_conn *conn, struct slice body, struct blob *blob)
{
    (void)body;
    (void)blob;
    return reply_text(conn, 200, "ok\n");
}

static enum http1_next reply_opening(struct http1_conn *conn,
                                     const struct restore_progress *opening)
{
    uint64_t percent = opening->size ? opening->read * 100 / opening->size : 0;
    char text[TEXT_MAX];

    (void)snprintf(text, sizeof text,
                   "%s: %" PRIu64 " %%, %" PRIu64 " of %" PRIu64 " bytes, %" PRIu64
                   " jobs so far\n",
                   opening->imports ? "the jobs of another broker are being imported"
                                    : "the journal is being read",
                   percent, opening->read, opening->size, opening->jobs);
    return reply_text(conn, 503, text);
}

// Whether this process serves clients; otherwise the text is the reason.
static bool role_serves(const struct introspect_cluster *cluster, char *text, size_t room)
{
    const char *away = cluster->connected ? "" : "; the database cannot be reached";

    switch (cluster->role) {
    case CLUSTER_ALONE:
    case CLUSTER_OWNER:
        return true;
    case CLUSTER_UNSURE:
        (void)snprintf(text, room,
                       "unsure: ownership of the journal could not be confirmed (shard %s, epoch "
                       "%" PRIu64 "); no request is served until it is%s\n",
                       cluster->shard, cluster->epoch, away);
        return false;
    case CLUSTER_STANDBY:
        (void)snprintf(text, room,
                       "standby: %s owns the journal (shard %s, epoch %" PRIu64 "), %" PRIu64
                       " rows behind%s\n",
                       *cluster->owner ? cluster->owner : "no process", cluster->shard,
                       cluster->epoch, cluster->behind, away);
        return false;
    case CLUSTER_OPENING:
        (void)snprintf(text, room, "opening: %s (shard %s), %" PRIu64 " rows behind\n",
                       cluster->connected ? "the journal is being read"
                                          : "the database cannot be reached",
                       cluster->shard, cluster->behind);
        return false;
    }
    UNREACHABLE();
}

// An owner is ready, but the database may not make its commits durable or replicate them.
static enum http1_next reply_owner(struct http1_conn *conn,
                                   const struct introspect_cluster *cluster)
{
    bool safe = cluster->trusted || (cluster->durable && cluster->replicated);
    char text[TEXT_MAX];

    if (safe) {
        return reply_text(conn, 200, "ok\n");
    }
    (void)snprintf(text, sizeof text, "%s\nwarning: acknowledged changes are on %s (%s)\n",
                   cluster->required ? "not safe" : "ok",
                   cluster->durable ? "one server of the database only" : "no disk yet",
                   cluster->durability);
    return reply_text(conn, cluster->required ? 503 : 200, text);
}

static enum http1_next answer_readyz(struct http1_conn *conn, struct slice body, struct blob *blob)
{
    const struct introspect *introspect = admin_shared(conn)->introspect;
    struct introspect_journal journal = {.failing = false};
    struct restore_progress opening;
    struct introspect_cluster cluster;
    struct broker_info info;
    char text[TEXT_MAX];

    (void)body;
    (void)blob;
    cluster_info_get(introspect, &cluster);
    if (!role_serves(&cluster, text, sizeof text)) {
        return reply_text(conn, 503, text);
    }
    if (introspect && introspect->opening(introspect->host, &opening)) {
        return reply_opening(conn, &opening);
    }
    broker_info(admin_broker(conn), &info);
    if (info.draining) {
        return reply_text(conn, 503, "the broker drains: it refuses new jobs\n");
    }
    if (introspect) {
        introspect->journal(introspect->host, &journal);
    }
    if (journal.failing) {
        return reply_text(conn, 503, "the journal fails: new jobs are refused\n");
    }
    return cluster.role == CLUSTER_OWNER ? reply_owner(conn, &cluster)
                                         : reply_text(conn, 200, "ok\n");
}

const struct admin_route health_routes[] = {
    {.path = "/healthz",
     .method = HTTP1_GET,
     .probe = true,
     .early = true,
     .answer = answer_healthz},
    {.path = "/readyz", .method = HTTP1_GET, .probe = true, .early = true, .answer = answer_readyz},
    {.path = NULL},
};
