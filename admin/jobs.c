/* SPDX-License-Identifier: MIT */
#include "admin/jobs.h"

#include "core/base/blob.h"
#include "core/broker.h"
#include "http1/reply.h"

#include "admin/context.h"
#include "admin/input.h"
#include "admin/job_body.h"
#include "admin/reply.h"
#include "admin/shown_job.h"
#include "admin/shown_result.h"

#define BODY_MOST ((uint64_t)1 << 20)
#define BODY_PRESET ((uint64_t)64 << 10)
// A browser that is sent bytes of a stranger keeps them, and makes nothing of them.
#define BODY_HEADERS                                                                               \
    "Content-Disposition: attachment\r\n"                                                          \
    "X-Content-Type-Options: nosniff\r\n"

// The document, with as much of the bytes as was asked for; takes both over.
static enum http1_next answer_with(struct http1_conn *conn, json_t *document, const char *name,
                                   struct blob *bytes, uint64_t most)
{
    if (most > 0) {
        return job_body_answer(conn, document, name, bytes, (size_t)most);
    }
    blob_unref(bytes);
    if (document && json_object_set_new(document, name, json_null()) != 0) {
        json_decref(document);
        document = NULL;
    }
    return admin_reply_json(conn, 200, document);
}

static enum http1_next answer_living(struct http1_conn *conn, const struct job *job, uint64_t most)
{
    json_t *document = shown_job_detail(conn, job);
    struct blob *blob = job_blob(job);

    shown_job_hold(conn, job);
    return answer_with(conn, document, "body", blob ? blob_ref(blob) : blob_copy(job_body(job)),
                       most);
}

// The job has gone, and what it ended with is kept.
static enum http1_next answer_ended(struct http1_conn *conn, const struct result *result,
                                    uint64_t most)
{
    bool whole = result->kept == RESULT_WHOLE;

    return answer_with(conn, shown_ended(result), "data", whole ? blob_copy(result->data) : NULL,
                       whole ? most : 0);
}

static enum http1_next answer_job(struct http1_conn *conn, struct slice body, struct blob *blob)
{
    static const char *const names[] = {"body", NULL};
    uint64_t most = BODY_PRESET;
    const struct job *job;
    struct result result;
    struct input input;
    uint64_t id;

    (void)body;
    (void)blob;
    input_begin_query(&input, conn);
    input_parameters(&input, names);
    (void)input_query_number(&input, "body", 0, BODY_MOST, &most);
    if (!input_path_number(&input, 0, &id)) {
        return input_refuse(&input);
    }
    job = shown_job_find(conn, id);
    if (job) {
        return answer_living(conn, job, most);
    }
    return shown_result_find(conn, id, &result) ? answer_ended(conn, &result, most)
                                                : admin_refuse_status(conn, STATUS_NOT_FOUND);
}

// The job that the path names; there is nothing in the query.
static bool read_id(struct input *input, struct http1_conn *conn, uint64_t *id)
{
    static const char *const names[] = {NULL};

    input_begin_query(input, conn);
    input_parameters(input, names);
    return input_path_number(input, 0, id);
}

static enum http1_next answer_body(struct http1_conn *conn, struct slice body, struct blob *blob)
{
    const struct http1_reply head = {.status = 200, .type = HTTP1_BYTES, .extra = BODY_HEADERS};
    const struct job *job;
    struct input input;
    uint64_t id;

    (void)body;
    (void)blob;
    if (!read_id(&input, conn, &id)) {
        return input_refuse(&input);
    }
    job = shown_job_find(conn, id);
    if (!job) {
        return admin_refuse_status(conn, STATUS_NOT_FOUND);
    }
    shown_job_hold(conn, job);
    if (job_blob(job)) {
        http1_reply_blob(conn, &head, job_blob(job));
    } else {
        http1_reply(conn, &head, job_body(job));
    }
    return HTTP1_NEXT_REQUEST;
}

static enum http1_next answer_result(struct http1_conn *conn, struct slice body, struct blob *blob)
{
    const struct http1_reply head = {.status = 200, .type = HTTP1_BYTES, .extra = BODY_HEADERS};
    struct result result;
    struct input input;
    uint64_t id;

    (void)body;
    (void)blob;
    if (!read_id(&input, conn, &id)) {
        return input_refuse(&input);
    }
    if (!shown_result_find(conn, id, &result)) {
        return admin_refuse_status(conn, STATUS_NOT_FOUND);
    }
    if (result.kept != RESULT_WHOLE) {
        return admin_refuse(conn, 410, "the data of the result was not kept");
    }
    http1_reply(conn, &head, result.data);
    return HTTP1_NEXT_REQUEST;
}

const struct admin_route job_routes[] = {
    {.path = "/api/v1/jobs/{id}", .method = HTTP1_GET, .right = MAY_OBSERVE, .answer = answer_job},
    {.path = "/api/v1/jobs/{id}/body",
     .method = HTTP1_GET,
     .right = MAY_OBSERVE,
     .answer = answer_body},
    {.path = "/api/v1/jobs/{id}/result",
     .method = HTTP1_GET,
     .right = MAY_OBSERVE,
     .answer = answer_result},
    {.path = NULL},
};
