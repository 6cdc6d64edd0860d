/* SPDX-License-Identifier: MIT */
#include "admin/change.h"

#include "admin/context.h"
#include "admin/reply.h"
#include "admin/shown_job.h"
#include "admin/shown_queue.h"

void change_hold(struct http1_conn *conn)
{
    wire_hold(conn->wire, broker_position(admin_broker(conn)));
}

enum http1_next change_show_job(struct http1_conn *conn, uint64_t id)
{
    const struct job *job;

    change_hold(conn);
    job = shown_job_find(conn, id);
    if (!job) {
        return admin_reply_nothing(conn);
    }
    shown_job_hold(conn, job);
    return admin_reply_json(conn, 200, shown_job(conn, job));
}

enum http1_next change_show_queue(struct http1_conn *conn, struct slice name)
{
    struct broker *broker = admin_broker(conn);
    const struct queue *queue = broker_queue_find(broker, name);

    change_hold(conn);
    if (!queue || !session_may(conn->session, MAY_OBSERVE, queue)) {
        return admin_reply_nothing(conn);
    }
    return admin_reply_json(conn, 200,
                            shown_queue_detail(broker, admin_shared(conn)->sight, queue));
}
