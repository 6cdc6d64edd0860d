/* SPDX-License-Identifier: MIT */
#include "core/base/digits.h"
#include "core/base/memory.h"
#include "core/broker.h"
#include "proto_common/introspect.h"

#include "admin/api/api_input.h"
#include "admin/api/api_routes.h"
#include "admin/json/job_json.h"
#include "admin/json/json_values.h"
#include "admin/request/admin_context.h"
#include "admin/request/admin_reply.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

//
// The documents. Each function returns NULL if there is no memory.
//

// Maximum numbers in a document.
#define QUEUES_MAX 1000
#define JOBS_MAX 100

// The text may be NULL.
static struct slice optional_text(const char *text)
{
    return slice_of(text, text ? strlen(text) : 0);
}

// `Connection`.
static json_t *connection_json(const struct http1_conn *conn,
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

// `ConnectionDetail`: with the queues and jobs that the caller may observe. Delays the further
// output of the caller's connection until these jobs are durable.
static json_t *connection_detail_json(const struct http1_conn *conn,
                                      const struct introspect_connection *connection)
{
    return json_merge(connection_json(conn, connection),
                      json_pack("{s:o, s:o, s:o}", "queues",
                                queue_names_json(conn, connection->session, text_json),
                                "queue_paths",
                                queue_names_json(conn, connection->session, path_json), "jobs",
                                held_jobs_json(conn, connection->session)));
}

//
// The list of connections, or of workers. Its cursor is the number of the last connection.
//

#define CONNECTIONS_LIMIT_MAX 1000
#define CONNECTIONS_LIMIT_DEFAULT 100
// Maximum numbers per slice. Writing is slower, because it asks the kernel about each connection.
#define CONNECTIONS_VISITED_AT_ONCE BROKER_SLICE
#define CONNECTIONS_WRITTEN_AT_ONCE 16
#define PROTOCOL_MAX 32

struct connection_list {
    char protocol[PROTOCOL_MAX];    // only connections of this protocol; empty: of all protocols
    bool workers;                   // only workers
    char queue[QUEUE_NAME_MAX + 1]; // only workers of this queue; empty: of all queues
    size_t queue_len;
    uint64_t visited; // the number of the last visited connection
    uint64_t written; // the number of the last written connection
    uint64_t left;    // the number of further connections on the page
    uint64_t total;
    bool begun, over, more, wrote;
};

static bool is_listed_worker(const struct connection_list *list, const struct session *session)
{
    struct session_info info;

    if (!session) {
        return false;
    }
    if (list->queue_len > 0) {
        return session_subscribed(session, slice_of(list->queue, list->queue_len));
    }
    session_info(session, &info);
    return info.worker;
}

// The number of workers of the queue, of all workers, or of connections.
static uint64_t connection_list_total(struct http1_conn *conn, const struct connection_list *list)
{
    const struct introspect *introspect = admin_shared(conn)->introspect;
    struct broker *broker = admin_broker(conn);
    struct introspect_protocol protocol;
    struct queue_info queue_info = {0};
    struct broker_info info;
    const struct queue *queue;
    uint64_t count = 0;

    if (list->queue_len > 0) {
        queue = broker_queue_find(broker, slice_of(list->queue, list->queue_len));
        if (queue) {
            broker_queue_info(broker, queue, &queue_info);
        }
        return queue_info.subscriptions;
    }
    if (list->workers) {
        broker_info(broker, &info);
        return info.workers;
    }
    for (size_t i = 0; introspect && introspect->protocol(introspect->host, i, &protocol); i++) {
        if (!*list->protocol || strcmp(list->protocol, protocol.name) == 0) {
            count += protocol.open;
        }
    }
    return count;
}

// Writes a slice. When the page is full, it still looks for one more connection.
static void connection_list_write(struct http1_conn *conn, struct connection_list *list)
{
    const struct introspect *introspect = admin_shared(conn)->introspect;
    struct introspect_connection connection;
    int written = 0;

    for (int i = 0;
         i < CONNECTIONS_VISITED_AT_ONCE && written < CONNECTIONS_WRITTEN_AT_ONCE && !list->over;
         i++) {
        if (!introspect ||
            !introspect->connection_next(introspect->host, &list->visited, &connection)) {
            list->over = true;
        } else if ((*list->protocol && strcmp(list->protocol, connection.protocol) != 0) ||
                   (list->workers && !is_listed_worker(list, connection.session))) {
            continue;
        } else if (list->left == 0) {
            list->more = true;
            list->over = true;
        } else {
            admin_put(conn, list->wrote ? SLICE(",") : SLICE(""));
            admin_put_json(conn, connection_json(conn, &connection));
            list->wrote = true;
            list->written = connection.number;
            list->left--;
            written++;
        }
    }
}

static enum http1_progress connection_list_make(struct http1_conn *conn, void *making)
{
    struct connection_list *list = making;
    char text[100];
    int len;

    if (!list->begun) {
        list->begun = true;
        admin_put(conn, SLICE("{\"connections\":["));
    }
    if (!list->over) {
        connection_list_write(conn, list);
        return HTTP1_WROTE;
    }
    len = list->more
              ? snprintf(text, sizeof text, "],\"total\":%" PRIu64 ",\"next\":\"%" PRIu64 "\"}",
                         list->total, list->written)
              : snprintf(text, sizeof text, "],\"total\":%" PRIu64 ",\"next\":null}", list->total);
    admin_put(conn, slice_of(text, (size_t)len));
    return HTTP1_ENDED;
}

static void connection_list_forget(void *making)
{
    memory_free(making, sizeof(struct connection_list));
}

static size_t connection_list_holds(const void *making)
{
    (void)making;
    return sizeof(struct connection_list);
}

static void read_protocol(struct connection_list *list, struct input *input)
{
    const struct introspect *introspect = admin_shared(input->conn)->introspect;
    struct introspect_protocol protocol;
    size_t len;

    if (!input_query_text(input, "protocol", list->protocol, sizeof list->protocol, &len)) {
        return;
    }
    for (size_t i = 0; introspect && introspect->protocol(introspect->host, i, &protocol); i++) {
        if (strcmp(protocol.name, list->protocol) == 0) {
            return;
        }
    }
    input_blame(input, 400, "protocol is unknown");
}

static void read_connection_list(struct connection_list *list, struct input *input)
{
    static const char *const of_workers[] = {"queue", "limit", "cursor", NULL};
    static const char *const of_connections[] = {"protocol", "limit", "cursor", NULL};
    char text[DIGITS_MAX + 1];
    size_t len;

    input_parameters(input, list->workers ? of_workers : of_connections);
    if (!list->workers) {
        read_protocol(list, input);
    } else if (input_query_text(input, "queue", list->queue, sizeof list->queue,
                                &list->queue_len) &&
               list->queue_len == 0) {
        input_blame(input, 400, "queue is empty");
    }
    list->left = CONNECTIONS_LIMIT_DEFAULT;
    (void)input_query_number(input, "limit", 1, CONNECTIONS_LIMIT_MAX, &list->left);
    if (input_query_text(input, "cursor", text, sizeof text, &len) &&
        !digits_read(slice_of(text, len), &list->visited)) {
        input_blame_cursor(input);
    }
}

static enum http1_next reply_connection_list(struct http1_conn *conn, bool workers)
{
    static const struct admin_maker maker = {.make = connection_list_make,
                                             .forget = connection_list_forget,
                                             .holds = connection_list_holds};
    struct connection_list *list = memory_zeroed(sizeof *list);
    enum http1_next next;
    struct input input;
    bool may;

    if (!list) {
        return admin_refuse_status(conn, STATUS_NO_MEMORY);
    }
    list->workers = workers;
    input_begin_query(&input, conn);
    read_connection_list(list, &input);
    may = list->queue_len > 0 ? session_may_by_name(conn->session, MAY_OBSERVE,
                                                    slice_of(list->queue, list->queue_len))
                              : session_may_everywhere(conn->session, MAY_OBSERVE);
    if (!input_good(&input)) {
        next = input_refuse(&input);
    } else if (!may) {
        next = admin_refuse_status(conn, STATUS_FORBIDDEN);
    } else {
        list->total = connection_list_total(conn, list);
        return admin_make_json(conn, &maker, list);
    }
    connection_list_forget(list);
    return next;
}

static enum http1_next answer_connection_list(struct http1_conn *conn, struct slice body,
                                              struct blob *blob)
{
    (void)body;
    (void)blob;
    return reply_connection_list(conn, false);
}

static enum http1_next answer_worker_list(struct http1_conn *conn, struct slice body,
                                          struct blob *blob)
{
    (void)body;
    (void)blob;
    return reply_connection_list(conn, true);
}

//
// One connection
//

// Maximum number of queues of a connection that are checked for one that the caller may observe.
#define QUEUES_CHECKED_MAX 1000

// A caller who may not observe every queue sees the workers of the queues that it may observe.
static bool may_see_session(const struct session *caller, const struct session *session)
{
    const struct subscription *cursor = NULL;

    if (session_may_everywhere(caller, MAY_OBSERVE)) {
        return true;
    }
    for (int i = 0; session && i < QUEUES_CHECKED_MAX; i++) {
        const struct queue *queue = session_queue_next(session, &cursor);

        if (!queue) {
            return false;
        }
        if (session_may(caller, MAY_OBSERVE, queue)) {
            return true;
        }
    }
    return false;
}

static enum http1_next answer_connection(struct http1_conn *conn, struct slice body,
                                         struct blob *blob)
{
    const struct introspect *introspect = admin_shared(conn)->introspect;
    struct introspect_connection connection;
    struct input input;
    uint64_t number;

    (void)body;
    (void)blob;
    input_begin_plain(&input, conn);
    if (!input_path_number(&input, 0, &number)) {
        return input_refuse(&input);
    }
    if (!introspect || !introspect->connection(introspect->host, number, &connection) ||
        !may_see_session(conn->session, connection.session)) {
        return admin_refuse_status(conn, STATUS_NOT_FOUND);
    }
    return admin_reply_json(conn, 200, connection_detail_json(conn, &connection));
}

const struct admin_route connection_routes[] = {
    {.path = "/api/v1/connections",
     .method = HTTP1_GET,
     .right = MAY_OBSERVE,
     .answer = answer_connection_list},
    {.path = "/api/v1/connections/{id}",
     .method = HTTP1_GET,
     .right = MAY_OBSERVE,
     .answer = answer_connection},
    {.path = "/api/v1/workers",
     .method = HTTP1_GET,
     .right = MAY_OBSERVE,
     .answer = answer_worker_list},
    {.path = NULL},
};
