/* SPDX-License-Identifier: MIT */
#include "admin/connections.h"

#include "core/broker.h"

#include "admin/connection_list.h"
#include "admin/context.h"
#include "admin/input.h"
#include "admin/reply.h"
#include "admin/shown_connection.h"

// How many queues of a connection are looked at for one that its observer may observe.
#define LOOKED_AT_MOST 1000

// Whoever may not observe everything is shown those that take from a queue which he may.
static bool may_see(const struct session *observer, const struct session *session)
{
    const struct subscription *cursor = NULL;

    if (session_may_everywhere(observer, MAY_OBSERVE)) {
        return true;
    }
    for (int i = 0; session && i < LOOKED_AT_MOST; i++) {
        const struct queue *queue = session_queue_next(session, &cursor);

        if (!queue) {
            return false;
        }
        if (session_may(observer, MAY_OBSERVE, queue)) {
            return true;
        }
    }
    return false;
}

static enum http1_next answer_connection(struct http1_conn *conn, struct slice body,
                                         struct blob *blob)
{
    static const char *const none[] = {NULL};
    const struct sight *sight = admin_shared(conn)->sight;
    struct sight_connection connection;
    struct input input;
    uint64_t number;

    (void)body;
    (void)blob;
    input_begin_query(&input, conn);
    input_parameters(&input, none);
    if (!input_path_number(&input, 0, &number) || !input_good(&input)) {
        return input_refuse(&input);
    }
    if (!sight || !sight->connection(sight->host, number, &connection) ||
        !may_see(conn->session, connection.session)) {
        return admin_refuse_status(conn, STATUS_NOT_FOUND);
    }
    return admin_reply_json(conn, 200, shown_connection_detail(conn, &connection));
}

const struct admin_route connection_routes[] = {
    {.path = "/api/v1/connections",
     .method = HTTP1_GET,
     .right = MAY_OBSERVE,
     .answer = connection_list_answer},
    {.path = "/api/v1/connections/{id}",
     .method = HTTP1_GET,
     .right = MAY_OBSERVE,
     .answer = answer_connection},
    {.path = "/api/v1/workers",
     .method = HTTP1_GET,
     .right = MAY_OBSERVE,
     .answer = worker_list_answer},
    {.path = NULL},
};
