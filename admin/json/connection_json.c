/* SPDX-License-Identifier: MIT */
#include "admin/json/connection_json.h"

#include "core/broker.h"

#include "admin/json/job_json.h"
#include "admin/json/json_values.h"
#include "admin/request/admin_context.h"

#include <string.h>

// Maximum numbers in a document.
#define QUEUES_MAX 1000
#define JOBS_MAX 100

// The text may be NULL.
static struct slice optional_text(const char *text)
{
    return slice_of(text, text ? strlen(text) : 0);
}

json_t *connection_json(const struct http1_conn *conn,
                        const struct introspect_connection *connection)
{
    nsec_t since_for = broker_now(admin_broker(conn)).mono - connection->connected_at;
    struct session_info info = {0};
    json_t *document;

    if (connection->session) {
        session_info(connection->session, &info);
    }
    document = json_pack("{s:I, s:s, s:o, s:b, s:o, s:o, s:o}", "id",
                         json_int_of(connection->number), "protocol", connection->protocol, "peer",
                         text_json(optional_text(connection->peer)), "tls", (int)connection->tls,
                         "caller", text_or_null_json(optional_text(connection->caller)),
                         "client_id", text_or_null_json(optional_text(connection->client_id)),
                         "connected_seconds", seconds_json(since_for > 0 ? since_for : 0));
    document = json_merge(document,
                          json_pack("{s:b, s:b, s:b, s:I, s:I, s:I}", "worker", (int)info.worker,
                                    "producer", (int)info.producer, "waiting",
                                    info.waits_for_job || info.waits_for_nudge, "subscriptions",
                                    json_int_of(info.subscriptions), "jobs_held",
                                    json_int_of(info.held), "watches", json_int_of(info.watches)));
    return json_merge(document, json_pack("{s:I, s:I, s:I, s:I}", "received_bytes",
                                          json_int_of(connection->received), "sent_bytes",
                                          json_int_of(connection->sent), "unread_bytes",
                                          json_int_of(connection->unread), "kept_bytes",
                                          json_int_of(connection->held)));
}

// The names of the session's queues, each as name_json() writes it.
static json_t *queue_names_json(const struct http1_conn *conn, const struct session *session,
                                json_t *(*name_json)(struct slice name))
{
    const struct subscription *cursor = NULL;
    json_t *list = json_array();
    const struct queue *queue;

    for (int i = 0; list && session && i < QUEUES_MAX; i++) {
        queue = session_queue_next(session, &cursor);
        if (!queue) {
            break;
        }
        if (session_may(conn->session, MAY_OBSERVE, queue)) {
            json_list_add(&list, name_json(queue_name(queue)));
        }
    }
    return list;
}

static json_t *held_jobs_json(const struct http1_conn *conn, const struct session *session)
{
    struct job_cursor cursor = {0};
    json_t *list = json_array();
    const struct job *job;

    for (int i = 0; list && session && i < JOBS_MAX; i++) {
        if (session_jobs_next(session, &cursor, &job) != STATUS_OK) {
            break;
        }
        if (session_may(conn->session, MAY_OBSERVE, job_queue(admin_broker(conn), job))) {
            job_json_hold(conn, job);
            json_list_add(&list, job_json(conn, job));
        }
    }
    return list;
}

json_t *connection_detail_json(const struct http1_conn *conn,
                               const struct introspect_connection *connection)
{
    return json_merge(connection_json(conn, connection),
                      json_pack("{s:o, s:o, s:o}", "queues",
                                queue_names_json(conn, connection->session, text_json),
                                "queue_paths",
                                queue_names_json(conn, connection->session, path_json), "jobs",
                                held_jobs_json(conn, connection->session)));
}
