/* SPDX-License-Identifier: MIT */
#include "admin/queues.h"

#include "core/broker.h"

#include "admin/context.h"
#include "admin/input.h"
#include "admin/job_list.h"
#include "admin/queue_list.h"
#include "admin/reply.h"
#include "admin/shown_queue.h"

static enum http1_next answer_queue(struct http1_conn *conn, struct slice body, struct blob *blob)
{
    struct broker *broker = admin_broker(conn);
    static const char *const names[] = {NULL};
    char name[QUEUE_NAME_MAX + 1];
    const struct queue *queue;
    struct input input;
    size_t len;

    (void)body;
    (void)blob;
    input_begin_query(&input, conn);
    input_parameters(&input, names);
    if (!input_path_text(&input, 0, name, sizeof name, &len)) {
        return input_refuse(&input);
    }
    if (!session_may_by_name(conn->session, MAY_OBSERVE, slice_of(name, len))) {
        return admin_refuse_status(conn, STATUS_FORBIDDEN);
    }
    queue = broker_queue_find(broker, slice_of(name, len));
    if (!queue) {
        return admin_refuse_status(conn, STATUS_NOT_FOUND);
    }
    return admin_reply_json(conn, 200,
                            shown_queue_detail(broker, admin_shared(conn)->sight, queue));
}

const struct admin_route queue_routes[] = {
    {.path = "/api/v1/queues",
     .method = HTTP1_GET,
     .right = MAY_OBSERVE,
     .answer = queue_list_answer},
    {.path = "/api/v1/queues/{name}",
     .method = HTTP1_GET,
     .right = MAY_OBSERVE,
     .answer = answer_queue},
    {.path = "/api/v1/queues/{name}/jobs",
     .method = HTTP1_GET,
     .right = MAY_OBSERVE,
     .answer = job_list_answer},
    {.path = NULL},
};
