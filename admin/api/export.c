/* SPDX-License-Identifier: MIT */
#include "core/base/digits.h"
#include "core/base/glob.h"
#include "core/base/memory.h"
#include "core/broker.h"
#include "core/record.h"
#include "json/json_body.h"

#include "transfer/job_line.h"
#include "transfer/job_version.h"

#include "admin/api/api_input.h"
#include "admin/api/api_routes.h"
#include "admin/api/body_lines.h"
#include "admin/json/job_json.h"
#include "admin/request/admin_context.h"
#include "admin/request/admin_reply.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT_LIMIT_MAX 100000
#define EXPORT_LIMIT_DEFAULT 1000
// Maximum numbers per slice.
#define JOBS_AT_ONCE 4
#define VERSIONS_AT_ONCE 32
#define LINES_TYPE "application/x-ndjson"

struct export
{
    char queues[QUEUE_NAME_MAX + 1]; // a glob
    size_t queues_len;
    struct job_walk walk;
    uint64_t left;         // the number of further jobs on the page
    struct json_body body; // of the line that is being written
    bool in_line;
    bool versions;            // write a short line for each job, with its version
    bool named;               // write the jobs that `wanted` names
    struct body_lines wanted; // lines with ids
};

    //
    // The cursor: two numbers with a point between them
    //

#define EXPORT_CURSOR_MAX (2 * (DIGITS_MAX + 1))

static void read_export_cursor(struct job_walk *walk, struct input *input)
{
    char text[EXPORT_CURSOR_MAX];
    const char *point;
    size_t len;

    if (!input_query_text(input, "cursor", text, sizeof text, &len)) {
        return;
    }
    point = memchr(text, '.', len);
    if (!point || !digits_read(slice_of(text, (size_t)(point - text)), &walk->position) ||
        !digits_read(slice_of(point + 1, len - (size_t)(point + 1 - text)), &walk->id)) {
        input_blame_cursor(input);
    }
}

//
// Lines
//

// Writes a line up to the body. Returns false if there is no memory.
static bool export_begin_line(struct http1_conn *conn, struct export *export, const struct job *job)
{
    char version[JOB_VERSION_SIZE];
    struct job_image image;
    struct blob *body = job_blob(job);
    json_t *head;
    char *text;

    job_describe(admin_broker(conn), job, &image);
    body = body ? blob_ref(body) : blob_copy(job_body(job));
    if (!body) {
        return false;
    }
    json_body_begin(&export->body, body, SIZE_MAX);
    export->in_line = true;
    head = job_line_head(&image);
    if (export->named) {
        job_version_write(job_version(&image), version);
        (void)json_object_set_new(head, "version", json_string(version));
        (void)json_object_set_new(head, "held",
                                  json_boolean(job_holder(admin_broker(conn), job) != NULL));
    }
    text = admin_dump(head);
    json_decref(head);
    if (!text) {
        return false;
    }
    job_json_hold(conn, job);
    admin_put(conn, slice_of(text, strlen(text) - 1));
    admin_put(conn, SLICE(",\"body\":"));
    free(text);
    return true;
}

// Writes a slice of the body; returns whether the line is complete.
static bool export_continue_line(struct http1_conn *conn, struct export *export)
{
    char text[JSON_BODY_ROOM];
    bool ended;
    size_t len;

    if (!json_body_check(&export->body)) {
        return false;
    }
    len = json_body_write(&export->body, text, &ended);
    admin_put(conn, slice_of(text, len));
    if (ended) {
        admin_put(conn, SLICE("}\n"));
        json_body_end(&export->body);
        export->in_line = false;
    }
    return ended;
}

static void export_write_version(struct http1_conn *conn, const struct job *job)
{
    const bool held = job_holder(admin_broker(conn), job) != NULL;
    char version[JOB_VERSION_SIZE];
    char text[256];
    struct job_image image;
    int len;

    job_describe(admin_broker(conn), job, &image);
    job_version_write(job_version(&image), version);
    len = snprintf(text, sizeof text,
                   "{\"id\":%" PRIu64 ",\"state\":\"%s\",\"burial\":%" PRIu64
                   ",\"size\":%zu,\"held\":%s,\"durable\":%s,\"version\":\"%s\"}\n",
                   image.now.id, job_state_names[held ? JOB_RESERVED : image.now.state],
                   image.now.burial, image.body.len, held ? "true" : "false",
                   job_is_durable(job) ? "true" : "false", version);
    job_json_hold(conn, job);
    admin_put(conn, slice_of(text, (size_t)len));
}

// Jobs that do not survive a restart are not exported.
static bool is_exported(const struct http1_conn *conn, const struct export *export,
                        const struct job *job)
{
    const struct queue *queue = job_queue(admin_broker(conn), job);

    return (export->versions || job_is_durable(job)) &&
           glob_matches(slice_of(export->queues, export->queues_len), queue_name(queue)) &&
           session_may(conn->session, MAY_OBSERVE, queue);
}

// Gets the next job. STATUS_MORE: this step found none; STATUS_EMPTY: there are no more.
static enum status export_next_job(struct http1_conn *conn, struct export *export,
                                   const struct job **job)
{
    struct slice text;
    uint64_t id;

    if (!export->named) {
        return broker_job_next(admin_broker(conn), &export->walk, job);
    }
    if (!body_lines_next(&export->wanted, &text)) {
        export->walk.over = true;
        return STATUS_EMPTY;
    }
    *job = digits_read(text, &id) ? broker_find(admin_broker(conn), id) : NULL;
    return *job ? STATUS_OK : STATUS_MORE;
}

static enum status export_write_lines(struct http1_conn *conn, struct export *export)
{
    const unsigned most = export->versions ? VERSIONS_AT_ONCE : JOBS_AT_ONCE;
    unsigned written = 0;

    for (unsigned i = 0; i < BROKER_SLICE && written < most && export->left != 0; i++) {
        const struct job *job;
        enum status status = export_next_job(conn, export, &job);

        if (status == STATUS_EMPTY) {
            return status;
        }
        if (status != STATUS_OK || !is_exported(conn, export, job)) {
            continue;
        }
        if (!export->versions && !export_begin_line(conn, export, job)) {
            return STATUS_NO_MEMORY;
        }
        export->left--;
        written++;
        if (export->versions) {
            export_write_version(conn, job);
        } else if (!export_continue_line(conn, export)) {
            break;
        }
    }
    return STATUS_OK;
}

static enum http1_progress export_make(struct http1_conn *conn, void *making)
{
    char end[EXPORT_CURSOR_MAX + sizeof "{\"next\":\"\"}\n"] = "{\"next\":null}\n";
    struct export *export = making;
    enum status status = STATUS_OK;

    if (export->in_line) {
        (void)export_continue_line(conn, export);
        return HTTP1_WROTE;
    }
    if (export->left > 0) {
        status = export_write_lines(conn, export);
        if (status == STATUS_NO_MEMORY) {
            output_fail(&conn->wire->out);
        }
        if (status != STATUS_EMPTY) {
            return HTTP1_WROTE;
        }
    }
    if (!export->walk.over) {
        (void)snprintf(end, sizeof end, "{\"next\":\"%" PRIu64 ".%" PRIu64 "\"}\n",
                       export->walk.position, export->walk.id);
    }
    admin_put(conn, slice_str(end));
    return HTTP1_ENDED;
}

static void export_forget(void *making)
{
    struct export *export = making;

    json_body_end(&export->body);
    body_lines_end(&export->wanted);
    memory_free(export, sizeof *export);
}

static size_t export_holds(const void *making)
{
    const struct export *export = making;

    return sizeof *export + (export->in_line ? blob_slice(export->body.blob).len : 0) +
           (export->named ? blob_slice(export->wanted.blob).len : 0);
}

//
// Requests
//

// An export of all queues; NULL if there is no memory.
static struct export *export_new(uint64_t limit)
{
    struct export *export = memory_zeroed(sizeof *export);

    if (export) {
        export->queues[0] = '*';
        export->queues_len = 1;
        export->left = limit;
    }
    return export;
}

// Begins the reply, or refuses the request.
static enum http1_next reply_export(struct export *export, const struct input *input)
{
    static const struct admin_maker maker = {
        .make = export_make, .forget = export_forget, .holds = export_holds};
    enum http1_next next;

    if (input_good(input)) {
        return admin_make(input->conn, &(struct http1_reply){.status = 200, .type = LINES_TYPE},
                          &maker, export);
    }
    next = input_refuse(input);
    export_forget(export);
    return next;
}

static enum http1_next answer_export(struct http1_conn *conn, struct slice body, struct blob *blob)
{
    static const char *const names[] = {"queue", "limit", "cursor", "what", NULL};
    static const char *const whats[] = {"jobs", "versions", NULL};
    struct export *export = export_new(EXPORT_LIMIT_DEFAULT);
    struct input input;
    size_t what = 0;

    (void)body;
    (void)blob;
    if (!export) {
        return admin_refuse_status(conn, STATUS_NO_MEMORY);
    }
    input_begin_query(&input, conn);
    input_parameters(&input, names);
    if (input_query_text(&input, "queue", export->queues, sizeof export->queues,
                         &export->queues_len) &&
        !glob_valid(slice_of(export->queues, export->queues_len))) {
        input_blame(&input, 400, "queue is not a valid glob");
    }
    (void)input_query_number(&input, "limit", 1, EXPORT_LIMIT_MAX, &export->left);
    read_export_cursor(&export->walk, &input);
    (void)input_query_word(&input, "what", whats, &what);
    export->versions = what == 1;
    return reply_export(export, &input);
}

static enum http1_next answer_export_named(struct http1_conn *conn, struct slice body,
                                           struct blob *blob)
{
    struct export *export = export_new(UINT64_MAX);
    struct input input;

    if (!export || !body_lines_begin(&export->wanted, body, blob)) {
        memory_free(export, sizeof *export);
        return admin_refuse_status(conn, STATUS_NO_MEMORY);
    }
    export->named = true;
    input_begin_plain(&input, conn);
    return reply_export(export, &input);
}

const struct admin_route export_routes[] = {
    {.path = "/api/v1/export", .method = HTTP1_GET, .right = MAY_OBSERVE, .answer = answer_export},
    {.path = "/api/v1/export",
     .method = HTTP1_POST,
     .right = MAY_OBSERVE,
     .takes_body = true,
     .answer = answer_export_named},
    {.path = NULL},
};
