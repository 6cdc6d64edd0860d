/* SPDX-License-Identifier: MIT */
#include "proto_http/body.h"

#include "core/base/macros.h"
#include "proto_common/http1/target.h"

#include "proto_http/answer.h"
#include "proto_http/request.h"

static enum web_next refuse(struct web_conn *conn, unsigned status, const char *why)
{
    conn->request->keep_alive = false;
    web_refuse_status(conn, status, why);
    return WEB_NEXT_REQUEST;
}

static enum web_next refuse_memory(struct web_conn *conn)
{
    conn->request->keep_alive = false;
    web_refuse_memory(conn);
    return WEB_NEXT_REQUEST;
}

// A GET has its workload in the query.
static enum web_next take_query(struct web_conn *conn, struct web_workload *workload)
{
    struct slice query = conn->request->target.query;
    struct blob *blob = blob_new(query.len);

    if (!blob) {
        web_refuse_memory(conn);
        return WEB_NEXT_REQUEST;
    }
    if (!http1_decode(query, blob->bytes, &blob->len)) {
        web_refuse_error(conn, 400, "the query has an escape that is not complete");
        blob_unref(blob);
        return WEB_NEXT_REQUEST;
    }
    *workload = (struct web_workload){.bytes = blob_slice(blob), .blob = blob};
    return WEB_NEXT_SUBMIT;
}

enum web_next web_body_begin(struct web_conn *conn, const struct http1_framing *framing,
                             struct web_workload *workload)
{
    struct web_request *request = conn->request;
    size_t most = (size_t)conn->shared->options->max_body;

    if (!http1_has_body(framing)) {
        *workload = (struct web_workload){.bytes = SLICE("")};
        return request->method == HTTP1_GET ? take_query(conn, workload) : WEB_NEXT_SUBMIT;
    }
    intake_begin(&request->body, framing->chunked ? most : (size_t)framing->len);
    if (framing->expects) {
        output_write(&conn->wire->out, SLICE("HTTP/1.1 100 Continue\r\n\r\n"));
    }
    return WEB_NEXT_BODY;
}

// All of it is there.
static enum web_next complete(struct web_conn *conn, struct web_workload *workload)
{
    struct blob *blob = intake_finish(&conn->request->body);

    conn->unread = false;
    if (!blob) {
        return refuse_memory(conn);
    }
    *workload = (struct web_workload){.bytes = blob_slice(blob), .blob = blob};
    return WEB_NEXT_SUBMIT;
}

enum web_next web_body_take(struct web_conn *conn, struct slice *input,
                            struct web_workload *workload)
{
    struct intake *body = &conn->request->body;
    size_t len = intake_len(body);

    // A body that comes in one piece needs no copy of its own.
    if (input->len >= len && intake_missing(body) == len) {
        conn->unread = false;
        *workload = (struct web_workload){.bytes = slice_of(input->ptr, len)};
        *input = slice_from(*input, len);
        return WEB_NEXT_SUBMIT;
    }
    switch (intake_take(body, input)) {
    case INTAKE_MORE:
        return WEB_NEXT_MORE;
    case INTAKE_COMPLETE:
        return complete(conn, workload);
    case INTAKE_NO_MEMORY:
        return refuse_memory(conn);
    }
    UNREACHABLE();
}

// The chunk that has begun must fit as a whole: its size is known.
static enum web_next take_chunk(struct web_conn *conn, struct slice *input)
{
    struct http1_chunks *chunks = &conn->request->chunks;
    size_t len = input->len < chunks->left ? input->len : (size_t)chunks->left;
    struct slice data = slice_of(input->ptr, len);

    if (chunks->left > intake_missing(&conn->request->body)) {
        return refuse(conn, 413, "the body is larger than http.max_body");
    }
    if (intake_take(&conn->request->body, &data) == INTAKE_NO_MEMORY) {
        return refuse_memory(conn);
    }
    *input = slice_from(*input, len);
    http1_chunk_taken(chunks, len);
    return WEB_NEXT_BODY;
}

enum web_next web_chunks_take(struct web_conn *conn, struct slice *input,
                              struct web_workload *workload)
{
    switch (http1_chunk_next(&conn->request->chunks, input)) {
    case HTTP1_CHUNK_MORE:
        return WEB_NEXT_MORE;
    case HTTP1_CHUNK_DATA_NEXT:
        return take_chunk(conn, input);
    case HTTP1_CHUNK_DONE:
        intake_end(&conn->request->body);
        return complete(conn, workload);
    case HTTP1_CHUNK_BAD:
        return refuse(conn, 400, "the chunks of the body are malformed");
    }
    UNREACHABLE();
}
