/* SPDX-License-Identifier: MIT */
#include "admin/queue_acts.h"

#include "core/broker.h"

#include "admin/change.h"
#include "admin/context.h"
#include "admin/input.h"
#include "admin/reply.h"

// A queue that a path names, and the request about it.
struct subject {
    struct input input;
    char text[QUEUE_NAME_MAX + 1];
    struct slice name;
};

// Reads the body, of those members, and the name; input_end() in any case.
static void subject_read(struct subject *subject, struct http1_conn *conn, struct slice body,
                         bool has_body, const char *const *members)
{
    size_t len = 0;

    if (has_body) {
        input_begin(&subject->input, conn, body, false);
        input_members(&subject->input, members);
    } else {
        input_begin_query(&subject->input, conn);
        input_parameters(&subject->input, members);
    }
    (void)input_path_text(&subject->input, 0, subject->text, sizeof subject->text, &len);
    subject->name = slice_of(subject->text, len);
}

static const char *const none[] = {NULL};

static enum http1_next answer_put(struct http1_conn *conn, struct slice body, struct blob *blob)
{
    struct subject subject;
    enum status status;

    (void)blob;
    subject_read(&subject, conn, body, false, none);
    if (!input_good(&subject.input)) {
        return input_refuse(&subject.input);
    }
    status = broker_queue_create(admin_broker(conn), conn->session, subject.name);
    if (status != STATUS_OK) {
        return admin_refuse_status(conn, status);
    }
    // Nothing is recorded of it before a job is.
    return change_show_queue(conn, subject.name);
}

static enum http1_next answer_delete(struct http1_conn *conn, struct slice body, struct blob *blob)
{
    struct subject subject;
    enum status status;

    (void)blob;
    subject_read(&subject, conn, body, false, none);
    if (!input_good(&subject.input)) {
        return input_refuse(&subject.input);
    }
    status = broker_queue_forget(admin_broker(conn), conn->session, subject.name);
    return status == STATUS_OK ? admin_reply_nothing(conn) : admin_refuse_status(conn, status);
}

// The queue, where the caller may operate it; NULL: refused.
static struct queue *find(struct http1_conn *conn, const struct subject *subject,
                          enum http1_next *next)
{
    struct queue *queue;

    if (!input_good(&subject->input)) {
        *next = input_refuse(&subject->input);
        return NULL;
    }
    if (!session_may_by_name(conn->session, MAY_OPERATE, subject->name)) {
        *next = admin_refuse_status(conn, STATUS_FORBIDDEN);
        return NULL;
    }
    queue = broker_queue_find(admin_broker(conn), subject->name);
    if (!queue) {
        *next = admin_refuse_status(conn, STATUS_NOT_FOUND);
    }
    return queue;
}

// Pauses a queue that may not be there yet: what is paused stays until the pause is over.
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

static enum http1_next pause(struct http1_conn *conn, const struct subject *subject,
                             nsec_t pause_for)
{
    enum status status;

    if (!input_good(&subject->input)) {
        return input_refuse(&subject->input);
    }
    status = pause_by_name(conn, subject->name, pause_for);
    return status == STATUS_OK ? change_show_queue(conn, subject->name)
                               : admin_refuse_status(conn, status);
}

static enum http1_next answer_pause(struct http1_conn *conn, struct slice body, struct blob *blob)
{
    static const char *const members[] = {"seconds", NULL};
    struct subject subject;
    nsec_t pause_for = 0;
    enum http1_next next;

    (void)blob;
    subject_read(&subject, conn, body, true, members);
    if (!input_seconds(&subject.input, "seconds", &pause_for)) {
        input_blame(&subject.input, 400, "seconds is missing");
    }
    next = pause(conn, &subject, pause_for);
    input_end(&subject.input);
    return next;
}

static enum http1_next answer_resume(struct http1_conn *conn, struct slice body, struct blob *blob)
{
    struct subject subject;

    (void)blob;
    subject_read(&subject, conn, body, false, none);
    return pause(conn, &subject, 0);
}

static void read_limits(struct input *input, uint32_t limits[BAND_COUNT])
{
    static const char *const words[BAND_COUNT] = {
        [BAND_HIGH] = "high", [BAND_NORMAL] = "normal", [BAND_LOW] = "low"};

    for (size_t band = 0; band < BAND_COUNT; band++) {
        uint64_t limit = 0;

        if (!input_number(input, words[band], UINT32_MAX, &limit)) {
            input_blame(input, 400, "%s is missing", words[band]);
        }
        limits[band] = (uint32_t)limit;
    }
}

static enum http1_next answer_limits(struct http1_conn *conn, struct slice body, struct blob *blob)
{
    static const char *const members[] = {"high", "normal", "low", NULL};
    uint32_t limits[BAND_COUNT];
    struct subject subject;
    enum http1_next next;
    struct queue *queue;

    (void)blob;
    subject_read(&subject, conn, body, true, members);
    read_limits(&subject.input, limits);
    queue = find(conn, &subject, &next);
    if (queue) {
        enum status status = broker_queue_limit(conn->session, queue, limits);

        next = status == STATUS_OK ? change_show_queue(conn, subject.name)
                                   : admin_refuse_status(conn, status);
    }
    input_end(&subject.input);
    return next;
}

const struct admin_route queue_act_routes[] = {
    {.path = "/api/v1/queues/{name}",
     .method = HTTP1_PUT,
     .right = MAY_OPERATE,
     .answer = answer_put},
    {.path = "/api/v1/queues/{name}",
     .method = HTTP1_DELETE,
     .right = MAY_OPERATE,
     .answer = answer_delete},
    {.path = "/api/v1/queues/{name}/pause",
     .method = HTTP1_POST,
     .right = MAY_OPERATE,
     .takes_body = true,
     .answer = answer_pause},
    {.path = "/api/v1/queues/{name}/resume",
     .method = HTTP1_POST,
     .right = MAY_OPERATE,
     .answer = answer_resume},
    {.path = "/api/v1/queues/{name}/limits",
     .method = HTTP1_PUT,
     .right = MAY_OPERATE,
     .takes_body = true,
     .answer = answer_limits},
    {.path = NULL},
};
