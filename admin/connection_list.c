/* SPDX-License-Identifier: MIT */
#include "admin/connection_list.h"

#include "core/base/digits.h"
#include "core/base/memory.h"
#include "core/broker.h"

#include "admin/context.h"
#include "admin/input.h"
#include "admin/reply.h"
#include "admin/shown_connection.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LIMIT_MAX 1000
#define LIMIT_PRESET 100
// What a slice looks at, for each of which the kernel is asked; and what it writes.
#define LOOKED_AT_ONCE BROKER_SLICE
#define WRITTEN_AT_ONCE 16
#define PROTOCOL_MAX 32

struct connection_list {
    char protocol[PROTOCOL_MAX];    // of which only these are shown; empty: of all
    bool workers;                   // only those who take jobs
    char queue[QUEUE_NAME_MAX + 1]; // from that queue, where it is not empty
    size_t queue_len;
    uint64_t looked; // the number of the one that was looked at last
    uint64_t shown;  // of the one that was shown last
    uint64_t left;   // for how many there is room
    uint64_t total;
    bool begun, over, more, wrote;
};

//
// Which are shown
//

static bool takes_jobs(const struct connection_list *list, const struct session *session)
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

static bool fits(const struct connection_list *list, const struct sight_connection *connection)
{
    return (!*list->protocol || strcmp(list->protocol, connection->protocol) == 0) &&
           (!list->workers || takes_jobs(list, connection->session));
}

// Connections of a protocol, or of all; workers of a queue, or all who are such.
static uint64_t total_of(struct http1_conn *conn, const struct connection_list *list)
{
    const struct sight *sight = admin_shared(conn)->sight;
    struct broker *broker = admin_broker(conn);
    struct sight_protocol protocol;
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
    for (size_t i = 0; sight && sight->protocol(sight->host, i, &protocol); i++) {
        bool counts = !*list->protocol || strcmp(list->protocol, protocol.name) == 0;

        count += counts ? protocol.open : 0;
    }
    return count;
}

//
// The list
//

static void write_one(struct http1_conn *conn, struct connection_list *list,
                      const struct sight_connection *connection)
{
    admin_put(conn, list->wrote ? SLICE(",") : SLICE(""));
    admin_put_json(conn, shown_connection(conn, connection));
    list->wrote = true;
    list->shown = connection->number;
    list->left--;
}

// A slice. Where the page is full, it is looked whether there is another.
static void write_some(struct http1_conn *conn, struct connection_list *list)
{
    const struct sight *sight = admin_shared(conn)->sight;
    struct sight_connection connection;
    int written = 0;

    for (int i = 0; i < LOOKED_AT_ONCE && written < WRITTEN_AT_ONCE && !list->over; i++) {
        if (!sight || !sight->connection_next(sight->host, &list->looked, &connection)) {
            list->over = true;
        } else if (!fits(list, &connection)) {
            continue;
        } else if (list->left == 0) {
            list->more = true;
            list->over = true;
        } else {
            write_one(conn, list, &connection);
            written++;
        }
    }
}

static void write_end(struct http1_conn *conn, const struct connection_list *list)
{
    char text[100];
    int len =
        list->more
            ? snprintf(text, sizeof text, "],\"total\":%" PRIu64 ",\"next\":\"%" PRIu64 "\"}",
                       list->total, list->shown)
            : snprintf(text, sizeof text, "],\"total\":%" PRIu64 ",\"next\":null}", list->total);

    admin_put(conn, slice_of(text, (size_t)len));
}

static enum http1_progress list_make(struct http1_conn *conn, void *making)
{
    struct connection_list *list = making;

    if (!list->begun) {
        list->begun = true;
        admin_put(conn, SLICE("{\"connections\":["));
    }
    if (!list->over) {
        write_some(conn, list);
        return HTTP1_WROTE;
    }
    write_end(conn, list);
    return HTTP1_ENDED;
}

static void list_forget(void *making)
{
    memory_free(making, sizeof(struct connection_list));
}

static size_t list_holds(const void *making)
{
    (void)making;
    return sizeof(struct connection_list);
}

static const struct admin_maker maker = {
    .make = list_make,
    .forget = list_forget,
    .holds = list_holds,
};

//
// What is asked for
//

static void read_page(struct connection_list *list, struct input *input)
{
    char text[DIGITS_MAX + 1];
    size_t len;

    list->left = LIMIT_PRESET;
    (void)input_query_number(input, "limit", 1, LIMIT_MAX, &list->left);
    if (input_query_text(input, "cursor", text, sizeof text, &len) &&
        !digits_read(slice_of(text, len), &list->looked)) {
        input_blame(input, 400, "cursor is not valid: use the `next` of the previous page");
    }
}

static void read_protocol(struct connection_list *list, struct input *input)
{
    const struct sight *sight = admin_shared(input->conn)->sight;
    struct sight_protocol protocol;
    size_t len;

    if (!input_query_text(input, "protocol", list->protocol, sizeof list->protocol, &len)) {
        return;
    }
    for (size_t i = 0; sight && sight->protocol(sight->host, i, &protocol); i++) {
        if (strcmp(protocol.name, list->protocol) == 0) {
            return;
        }
    }
    input_blame(input, 400, "protocol is unknown");
}

static void read_queue(struct connection_list *list, struct input *input)
{
    if (input_query_text(input, "queue", list->queue, sizeof list->queue, &list->queue_len) &&
        list->queue_len == 0) {
        input_blame(input, 400, "queue is empty");
    }
}

// Who takes from a queue is shown to whoever may observe it; who else is there, to whoever may
// observe everything.
static bool may_see(const struct session *session, const struct connection_list *list)
{
    return list->queue_len > 0
               ? session_may_by_name(session, MAY_OBSERVE, slice_of(list->queue, list->queue_len))
               : session_may_everywhere(session, MAY_OBSERVE);
}

// Answers a request for connections, or for the workers of a queue.
static enum http1_next answer(struct http1_conn *conn, bool workers, const char *const *names)
{
    struct connection_list *list = memory_zeroed(sizeof *list);
    enum http1_next next;
    struct input input;

    if (!list) {
        return admin_refuse_status(conn, STATUS_NO_MEMORY);
    }
    list->workers = workers;
    input_begin_query(&input, conn);
    input_parameters(&input, names);
    if (workers) {
        read_queue(list, &input);
    } else {
        read_protocol(list, &input);
    }
    read_page(list, &input);
    if (!input_good(&input)) {
        next = input_refuse(&input);
    } else if (!may_see(conn->session, list)) {
        next = admin_refuse_status(conn, STATUS_FORBIDDEN);
    } else {
        list->total = total_of(conn, list);
        return admin_make(conn, &(struct http1_reply){.status = 200, .type = HTTP1_JSON}, &maker,
                          list);
    }
    list_forget(list);
    return next;
}

enum http1_next connection_list_answer(struct http1_conn *conn, struct slice body,
                                       struct blob *blob)
{
    static const char *const names[] = {"protocol", "limit", "cursor", NULL};

    (void)body;
    (void)blob;
    return answer(conn, false, names);
}

enum http1_next worker_list_answer(struct http1_conn *conn, struct slice body, struct blob *blob)
{
    static const char *const names[] = {"queue", "limit", "cursor", NULL};

    (void)body;
    (void)blob;
    return answer(conn, true, names);
}
