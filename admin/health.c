/* SPDX-License-Identifier: MIT */
#include "admin/health.h"

#include "core/broker.h"
#include "proto_common/http1/reply.h"

#include "admin/context.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static enum http1_next say(struct http1_conn *conn, unsigned status, const char *text)
{
    http1_reply(conn,
                &(struct http1_reply){.status = status,
                                      .type = "text/plain; charset=utf-8",
                                      .extra = status == 503 ? HTTP1_RETRY
                                                   "Cache-Control: no-store\r\n"
                                                             : "Cache-Control: no-store\r\n"},
                slice_of(text, strlen(text)));
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

static enum http1_next answer_ready(struct http1_conn *conn, struct slice body, struct blob *blob)
{
    const struct sight *sight = admin_shared(conn)->sight;
    struct sight_journal journal = {.failing = false};
    struct sight_opening opening;
    struct broker_info info;

    (void)body;
    (void)blob;
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
    return say(conn, 200, "ok\n");
}

const struct admin_route health_routes[] = {
    {.path = "/healthz", .method = HTTP1_GET, .early = true, .answer = answer_health},
    {.path = "/readyz", .method = HTTP1_GET, .early = true, .answer = answer_ready},
    {.path = NULL},
};
