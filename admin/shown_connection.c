/* SPDX-License-Identifier: MIT */
#include "admin/shown_connection.h"

#include "core/broker.h"

#include "admin/context.h"
#include "admin/shown.h"
#include "admin/shown_counts.h"
#include "admin/shown_job.h"

#include <string.h>

// What is shown of one that has more.
#define QUEUES_MAX 1000
#define JOBS_MAX 100

static struct slice slice_of_text(const char *text)
{
    return slice_of(text, text ? strlen(text) : 0);
}

static json_t *shown_bytes(const struct sight_connection *connection)
{
    return json_pack("{s:I, s:I, s:I, s:I}", "received_bytes", shown_number(connection->received),
                     "sent_bytes", shown_number(connection->sent), "unread_bytes",
                     shown_number(connection->unread), "kept_bytes",
                     shown_number(connection->kept));
}

static json_t *shown_session(const struct session *session)
{
    struct session_info info = {0};

    if (session) {
        session_info(session, &info);
    }
    return json_pack("{s:b, s:b, s:b, s:I, s:I, s:I}", "worker", (int)info.worker, "producer",
                     (int)info.producer, "waiting", info.waits_for_job || info.waits_for_nudge,
                     "subscriptions", shown_number(info.subscriptions), "jobs_held",
                     shown_number(info.held), "watches", shown_number(info.watches));
}

// Adds the members of `more`, which is given up, to `document`. NULL without memory.
static json_t *merged(json_t *document, json_t *more)
{
    if (!document || !more || json_object_update(document, more) != 0) {
        json_decref(document);
        document = NULL;
    }
    json_decref(more);
    return document;
}

json_t *shown_connection(const struct http1_conn *conn, const struct sight_connection *connection)
{
    nsec_t since_for = broker_now(admin_broker(conn)).mono - connection->connected_at;
    json_t *document = json_pack(
        "{s:I, s:s, s:o, s:b, s:o, s:o, s:o}", "id", shown_number(connection->number), "protocol",
        connection->protocol, "peer", shown_text(slice_of_text(connection->peer)), "tls",
        (int)connection->tls, "caller", shown_text_or_null(slice_of_text(connection->caller)),
        "client_id", shown_text_or_null(slice_of_text(connection->client_id)), "connected_seconds",
        shown_seconds(since_for > 0 ? since_for : 0));

    return merged(merged(document, shown_session(connection->session)), shown_bytes(connection));
}

static json_t *shown_queues(const struct http1_conn *conn, const struct session *session,
                            json_t *(*show)(struct slice name))
{
    const struct subscription *cursor = NULL;
    json_t *list = json_array();
    const struct queue *queue;

    for (int i = 0; list && session && i < QUEUES_MAX; i++) {
        queue = session_queue_next(session, &cursor);
        if (!queue) {
            break;
        }
        if (session_may(conn->session, MAY_OBSERVE, queue) &&
            json_array_append_new(list, show(queue_name(queue))) != 0) {
            json_decref(list);
            list = NULL;
        }
    }
    return list;
}

static json_t *shown_held(const struct http1_conn *conn, const struct session *session)
{
    const struct broker *broker = admin_broker(conn);
    struct job_cursor cursor = {0};
    json_t *list = json_array();
    const struct job *job;

    for (int i = 0; list && session && i < JOBS_MAX; i++) {
        if (session_jobs_next(session, &cursor, &job) != STATUS_OK) {
            break;
        }
        if (!session_may(conn->session, MAY_OBSERVE, job_queue(broker, job))) {
            continue;
        }
        shown_job_hold(conn, job);
        if (json_array_append_new(list, shown_job(conn, job)) != 0) {
            json_decref(list);
            list = NULL;
        }
    }
    return list;
}

json_t *shown_connection_detail(const struct http1_conn *conn,
                                const struct sight_connection *connection)
{
    return merged(shown_connection(conn, connection),
                  json_pack("{s:o, s:o, s:o}", "queues",
                            shown_queues(conn, connection->session, shown_text), "queue_paths",
                            shown_queues(conn, connection->session, shown_path), "jobs",
                            shown_held(conn, connection->session)));
}
