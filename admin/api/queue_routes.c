/* SPDX-License-Identifier: MIT */
#include "core/base/memory.h"
#include "core/broker.h"

#include "admin/api/api_input.h"
#include "admin/api/api_routes.h"
#include "admin/api/queue_page.h"
#include "admin/json/queue_json.h"
#include "admin/request/admin_context.h"
#include "admin/request/admin_reply.h"

#include <inttypes.h>
#include <stdio.h>

//
// The list. It is made in two rounds of slices: the first finds the queues of the page
// (queue_page.h), the second writes them.
//

#define QUEUES_LIMIT_MAX 1000
#define QUEUES_LIMIT_DEFAULT 100
#define QUEUES_AT_ONCE 4

struct queue_list {
    struct queue_page page;
    bool begun; // the writing
    size_t at;  // the number of queues of the page that were written
    bool wrote;
};

static enum http1_progress queue_list_make(struct http1_conn *conn, void *making)
{
    struct queue_list *list = making;
    struct queue_page *page = &list->page;
    char text[120], cursor[QUEUE_CURSOR_MAX];
    int len;

    if (!page->complete) {
        queue_page_step(page, conn->session);
        return HTTP1_WROTE;
    }
    if (!list->begun) {
        list->begun = true;
        admin_put(conn, SLICE("{\"queues\":["));
    }
    if (list->at < page->top.count) {
        for (int i = 0; i < QUEUES_AT_ONCE && list->at < page->top.count; i++) {
            const struct queue *queue = queue_page_at(page, list->at++);

            if (queue) {
                admin_put(conn, list->wrote ? SLICE(",") : SLICE(""));
                admin_put_json(conn, queue_json(page->broker, queue));
                list->wrote = true;
            }
        }
        return HTTP1_WROTE;
    }
    len = snprintf(text, sizeof text,
                   "],\"total\":%" PRIu64 ",\"matched\":%" PRIu64 ",\"next\":", page->total,
                   page->matched);
    admin_put(conn, slice_of(text, (size_t)len));
    admin_put(conn, queue_page_next(page, cursor));
    admin_put(conn, SLICE("}"));
    return HTTP1_ENDED;
}

static void queue_list_forget(void *making)
{
    struct queue_list *list = making;

    queue_page_end(&list->page);
    memory_free(list, sizeof *list);
}

static size_t queue_list_holds(const void *making)
{
    const struct queue_list *list = making;

    return sizeof *list + queue_page_holds(&list->page);
}

static enum http1_next answer_queue_list(struct http1_conn *conn, struct slice body,
                                         struct blob *blob)
{
    static const struct admin_maker maker = {
        .make = queue_list_make, .forget = queue_list_forget, .holds = queue_list_holds};
    static const char *const names[] = {"search", "name", "with", "sort", "limit", "cursor", NULL};
    struct queue_list *list = memory_zeroed(sizeof *list);
    uint64_t limit = QUEUES_LIMIT_DEFAULT;
    struct input input;

    (void)body;
    (void)blob;
    if (!list) {
        return admin_refuse_status(conn, STATUS_NO_MEMORY);
    }
    input_begin_query(&input, conn);
    input_parameters(&input, names);
    queue_page_read(&list->page, &input, true);
    (void)input_query_number(&input, "limit", 1, QUEUES_LIMIT_MAX, &limit);
    if (!input_good(&input) || !queue_page_begin(&list->page, admin_broker(conn), (size_t)limit)) {
        memory_free(list, sizeof *list);
        return input_good(&input) ? admin_refuse_status(conn, STATUS_NO_MEMORY)
                                  : input_refuse(&input);
    }
    return admin_make_json(conn, &maker, list);
}

//
// One queue
//

// The queue that the path names, and the input of the request.
struct queue_request {
    struct input input;
    char text[QUEUE_NAME_MAX + 1];
    struct slice name;
};

// Reads the name, and the body if it may have members. The caller must call input_end() if there is
// a body.
static void read_queue_request(struct queue_request *request, struct http1_conn *conn,
                               struct slice body, const char *const *members)
{
    size_t len = 0;

    if (members) {
        input_begin(&request->input, conn, body, false);
        input_members(&request->input, members);
    } else {
        input_begin_plain(&request->input, conn);
    }
    (void)input_path_text(&request->input, 0, request->text, sizeof request->text, &len);
    request->name = slice_of(request->text, len);
}

static enum http1_next answer_queue(struct http1_conn *conn, struct slice body, struct blob *blob)
{
    struct broker *broker = admin_broker(conn);
    struct queue_request request;
    const struct queue *queue;

    (void)blob;
    read_queue_request(&request, conn, body, NULL);
    if (!input_good(&request.input)) {
        return input_refuse(&request.input);
    }
    if (!session_may_by_name(conn->session, MAY_OBSERVE, request.name)) {
        return admin_refuse_status(conn, STATUS_FORBIDDEN);
    }
    queue = broker_queue_find(broker, request.name);
    if (!queue) {
        return admin_refuse_status(conn, STATUS_NOT_FOUND);
    }
    return admin_reply_json(conn, 200,
                            queue_detail_json(broker, admin_shared(conn)->introspect, queue));
}

// Answers a change with the queue, or with 204 if it is gone or the caller may not observe it.
static enum http1_next reply_changed_queue(struct http1_conn *conn, enum status status,
                                           struct slice name)
{
    struct broker *broker = admin_broker(conn);
    const struct queue *queue;

    if (status != STATUS_OK) {
        return admin_refuse_status(conn, status);
    }
    admin_hold_change(conn);
    queue = broker_queue_find(broker, name);
    if (!queue || !session_may(conn->session, MAY_OBSERVE, queue)) {
        return admin_reply_nothing(conn);
    }
    return admin_reply_json(conn, 200,
                            queue_detail_json(broker, admin_shared(conn)->introspect, queue));
}

static enum http1_next answer_queue_put(struct http1_conn *conn, struct slice body,
                                        struct blob *blob)
{
    struct queue_request request;

    (void)blob;
    read_queue_request(&request, conn, body, NULL);
    if (!input_good(&request.input)) {
        return input_refuse(&request.input);
    }
    return reply_changed_queue(
        conn, broker_queue_create(admin_broker(conn), conn->session, request.name), request.name);
}

static enum http1_next answer_queue_delete(struct http1_conn *conn, struct slice body,
                                           struct blob *blob)
{
    struct queue_request request;
    enum status status;

    (void)blob;
    read_queue_request(&request, conn, body, NULL);
    if (!input_good(&request.input)) {
        return input_refuse(&request.input);
    }
    status = broker_queue_forget(admin_broker(conn), conn->session, request.name);
    return status == STATUS_OK ? admin_reply_nothing(conn) : admin_refuse_status(conn, status);
}

// A queue that does not exist can be paused, too: it exists until the pause is over.
static enum status pause_by_name(struct http1_conn *conn, struct slice name, nsec_t pause_for)
{
    struct broker *broker = admin_broker(conn);
    struct queue *queue = NULL;
    enum status status;

    if (!session_may_by_name(conn->session, MAY_OPERATE, name)) {
        return STATUS_FORBIDDEN;
    }
    if (pause_for == 0 && !broker_queue_find(broker, name)) {
        return STATUS_NOT_FOUND;
    }
    status = broker_queue_hold(broker, name, &queue);
    if (status == STATUS_OK) {
        status = broker_pause(broker, conn->session, queue, pause_for);
        broker_queue_drop(broker, queue);
    }
    return status;
}

static enum http1_next answer_queue_pause(struct http1_conn *conn, struct slice body,
                                          struct blob *blob)
{
    static const char *const members[] = {"seconds", NULL};
    struct queue_request request;
    nsec_t pause_for = 0;
    enum http1_next next;

    (void)blob;
    read_queue_request(&request, conn, body, members);
    if (!input_seconds(&request.input, "seconds", &pause_for)) {
        input_blame(&request.input, 400, "seconds is missing");
    }
    if (input_good(&request.input)) {
        next =
            reply_changed_queue(conn, pause_by_name(conn, request.name, pause_for), request.name);
    } else {
        next = input_refuse(&request.input);
    }
    input_end(&request.input);
    return next;
}

static enum http1_next answer_queue_resume(struct http1_conn *conn, struct slice body,
                                           struct blob *blob)
{
    struct queue_request request;

    (void)blob;
    read_queue_request(&request, conn, body, NULL);
    if (!input_good(&request.input)) {
        return input_refuse(&request.input);
    }
    return reply_changed_queue(conn, pause_by_name(conn, request.name, 0), request.name);
}

static enum status limit_by_name(struct http1_conn *conn, struct slice name,
                                 const uint32_t limits[BAND_COUNT])
{
    struct queue *queue;

    if (!session_may_by_name(conn->session, MAY_OPERATE, name)) {
        return STATUS_FORBIDDEN;
    }
    queue = broker_queue_find(admin_broker(conn), name);
    return queue ? broker_queue_limit(conn->session, queue, limits) : STATUS_NOT_FOUND;
}

static enum http1_next answer_queue_limits(struct http1_conn *conn, struct slice body,
                                           struct blob *blob)
{
    static const char *const members[] = {"high", "normal", "low", NULL};
    static const char *const bands[BAND_COUNT] = {
        [BAND_HIGH] = "high", [BAND_NORMAL] = "normal", [BAND_LOW] = "low"};
    uint32_t limits[BAND_COUNT];
    struct queue_request request;
    enum http1_next next;

    (void)blob;
    read_queue_request(&request, conn, body, members);
    for (size_t band = 0; band < BAND_COUNT; band++) {
        uint64_t limit = 0;

        if (!input_number(&request.input, bands[band], UINT32_MAX, &limit)) {
            input_blame(&request.input, 400, "%s is missing", bands[band]);
        }
        limits[band] = (uint32_t)limit;
    }
    if (input_good(&request.input)) {
        next = reply_changed_queue(conn, limit_by_name(conn, request.name, limits), request.name);
    } else {
        next = input_refuse(&request.input);
    }
    input_end(&request.input);
    return next;
}

const struct admin_route queue_routes[] = {
    {.path = "/api/v1/queues",
     .method = HTTP1_GET,
     .right = MAY_OBSERVE,
     .answer = answer_queue_list},
    {.path = "/api/v1/queues/{name}",
     .method = HTTP1_GET,
     .right = MAY_OBSERVE,
     .answer = answer_queue},
    {.path = "/api/v1/queues/{name}",
     .method = HTTP1_PUT,
     .right = MAY_OPERATE,
     .answer = answer_queue_put},
    {.path = "/api/v1/queues/{name}",
     .method = HTTP1_DELETE,
     .right = MAY_OPERATE,
     .answer = answer_queue_delete},
    {.path = "/api/v1/queues/{name}/pause",
     .method = HTTP1_POST,
     .right = MAY_OPERATE,
     .takes_body = true,
     .answer = answer_queue_pause},
    {.path = "/api/v1/queues/{name}/resume",
     .method = HTTP1_POST,
     .right = MAY_OPERATE,
     .answer = answer_queue_resume},
    {.path = "/api/v1/queues/{name}/limits",
     .method = HTTP1_PUT,
     .right = MAY_OPERATE,
     .takes_body = true,
     .answer = answer_queue_limits},
    {.path = NULL},
};
