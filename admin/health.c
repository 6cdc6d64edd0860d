/* SPDX-License-Identifier: MIT */
#include "admin/health.h"

#include "core/base/macros.h"
#include "core/broker.h"
#include "http1/reply.h"

#include "admin/cluster_look.h"
#include "admin/context.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define WORDS_ROOM 512

static enum http1_next say(struct http1_conn *conn, unsigned status, const char *text)
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

static enum http1_next answer_health(struct http1_conn *conn, struct slice body, struct blob *blob)
{
    (void)body;
    (void)blob;
    return say(conn, 200, "ok\n");
}

static enum http1_next say_opening(struct http1_conn *conn, const struct sight_opening *opening)
{
    uint64_t percent = opening->total ? opening->done * 100 / opening->total : 0;
    char text[160];

    (void)snprintf(text, sizeof text,
                   "%s: %" PRIu64 " %%, %" PRIu64 " of %" PRIu64 " bytes, %" PRIu64
                   " jobs so far\n",
                   opening->imports ? "jobs of another broker are being brought in"
                                    : "the journal is being read",
                   percent, opening->done, opening->total, opening->jobs);
    return say(conn, 503, text);
}

// Whether clients are served by this process; otherwise the words that say who serves them.
static bool serves(const struct sight_cluster *cluster, char *words, size_t room)
{
    const char *away = cluster->connected ? "" : "; the database cannot be reached";

    switch (cluster->role) {
    case SIGHT_ALONE:
    case SIGHT_OWNER:
        return true;
    case SIGHT_UNSURE:
        (void)snprintf(words, room,
                       "unsure: another may own the journal by now (shard %s, epoch %" PRIu64
                       "), and nothing is answered until it is known%s\n",
                       cluster->shard, cluster->epoch, away);
        return false;
    case SIGHT_STANDBY:
        (void)snprintf(words, room,
                       "standby: %s owns the journal (shard %s, epoch %" PRIu64 "), %" PRIu64
                       " rows behind%s\n",
                       *cluster->owner ? cluster->owner : "nobody", cluster->shard, cluster->epoch,
                       cluster->behind, away);
        return false;
    case SIGHT_OPENING:
        (void)snprintf(words, room, "opening: %s (shard %s), %" PRIu64 " rows behind\n",
                       cluster->connected ? "the journal is being read"
                                          : "the database cannot be reached",
                       cluster->shard, cluster->behind);
        return false;
    }
    UNREACHABLE();
}

// Of an owner that is ready as far as it goes.
static enum http1_next say_care(struct http1_conn *conn, const struct sight_cluster *cluster)
{
    bool safe = cluster->trusted || (cluster->durable && cluster->replicated);
    char words[WORDS_ROOM];

    (void)snprintf(words, sizeof words, "%s\ncare: what is acknowledged is on %s (%s)\n",
                   cluster->required ? "not safe" : "ok",
                   cluster->durable ? "one server of the database only" : "no disk yet",
                   cluster->care);
    return safe ? say(conn, 200, "ok\n") : say(conn, cluster->required ? 503 : 200, words);
}

static enum http1_next answer_ready(struct http1_conn *conn, struct slice body, struct blob *blob)
{
    const struct sight *sight = admin_shared(conn)->sight;
    struct sight_journal journal = {.failing = false};
    struct sight_opening opening;
    struct sight_cluster cluster;
    struct broker_info info;
    char words[WORDS_ROOM];

    (void)body;
    (void)blob;
    cluster_look(sight, &cluster);
    if (!serves(&cluster, words, sizeof words)) {
        return say(conn, 503, words);
    }
    if (sight && sight->opening(sight->host, &opening)) {
        return say_opening(conn, &opening);
    }
    broker_info(admin_broker(conn), &info);
    if (info.draining) {
        return say(conn, 503, "the broker drains: it takes no new jobs\n");
    }
    if (sight) {
        sight->journal(sight->host, &journal);
    }
    if (journal.failing) {
        return say(conn, 503, "the journal fails: it takes no new jobs\n");
    }
    return cluster.role == SIGHT_OWNER ? say_care(conn, &cluster) : say(conn, 200, "ok\n");
}

const struct admin_route health_routes[] = {
    {.path = "/healthz",
     .method = HTTP1_GET,
     .probe = true,
     .early = true,
     .answer = answer_health},
    {.path = "/readyz", .method = HTTP1_GET, .probe = true, .early = true, .answer = answer_ready},
    {.path = NULL},
};
