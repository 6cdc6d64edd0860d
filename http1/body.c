/* SPDX-License-Identifier: MIT */
#include "http1/body.h"

#include "core/base/macros.h"

#include "http1/reply.h"
#include "http1/user.h"

static enum http1_body_verdict refuse(struct http1_conn *conn, unsigned status, const char *why)
{
    conn->request->keep_alive = false;
    http1_refuse_status(conn, status, why);
    return HTTP1_BODY_REFUSED;
}

static enum http1_body_verdict refuse_memory(struct http1_conn *conn)
{
    conn->request->keep_alive = false;
    http1_refuse_memory(conn);
    return HTTP1_BODY_REFUSED;
}

void http1_body_begin(struct http1_conn *conn, const struct http1_framing *framing)
{
    struct http1_request *request = conn->request;

    conn->body_begun = true;
    intake_begin(&request->body,
                 framing->chunked ? (size_t)request->max_body : (size_t)framing->len);
    intake_give_way(&request->body);
    if (request->body_is_key) {
        intake_hash(&request->body);
    }
    if (framing->expects) {
        output_write(&conn->wire->out, SLICE("HTTP/1.1 100 Continue\r\n\r\n"));
    }
}

static enum http1_body_verdict complete(struct http1_conn *conn, struct http1_body *body)
{
    struct blob *blob = intake_finish(&conn->request->body);

    conn->unread = false;
    if (!blob) {
        return refuse_memory(conn);
    }
    *body = (struct http1_body){.bytes = blob_slice(blob), .blob = blob};
    return HTTP1_BODY_COMPLETE;
}

enum http1_body_verdict http1_body_take(struct http1_conn *conn, struct slice *input,
                                        struct http1_body *body)
{
    struct intake *intake = &conn->request->body;
    size_t len = intake_len(intake);

    // A body that arrives in one piece is not copied.
    if (input->len >= len && intake_missing(intake) == len) {
        conn->unread = false;
        *body = (struct http1_body){.bytes = slice_of(input->ptr, len)};
        *input = slice_from(*input, len);
        return HTTP1_BODY_COMPLETE;
    }
    switch (intake_take(intake, input)) {
    case INTAKE_MORE:
        return HTTP1_BODY_MORE;
    case INTAKE_COMPLETE:
        return complete(conn, body);
    case INTAKE_NO_MEMORY:
        return refuse_memory(conn);
    }
    UNREACHABLE();
}

// A chunk that would exceed the limit is refused when it begins, because its size is known.
static enum http1_body_verdict take_chunk(struct http1_conn *conn, struct slice *input)
{
    struct http1_chunks *chunks = &conn->request->chunks;
    size_t len = input->len < chunks->left ? input->len : (size_t)chunks->left;
    struct slice data = slice_of(input->ptr, len);

    if (chunks->left > intake_missing(&conn->request->body)) {
        wire_log_too_large(conn->wire, "a request's body", 0,
                           conn->shared->user->texts.body_setting);
        return refuse(conn, 413, conn->shared->user->texts.long_body);
    }
    if (intake_take(&conn->request->body, &data) == INTAKE_NO_MEMORY) {
        return refuse_memory(conn);
    }
    *input = slice_from(*input, len);
    http1_chunk_taken(chunks, len);
    return HTTP1_BODY_ON;
}

enum http1_body_verdict http1_chunks_take(struct http1_conn *conn, struct slice *input,
                                          struct http1_body *body)
{
    switch (http1_chunk_next(&conn->request->chunks, input)) {
    case HTTP1_CHUNK_MORE:
        return HTTP1_BODY_MORE;
    case HTTP1_CHUNK_DATA_NEXT:
        return take_chunk(conn, input);
    case HTTP1_CHUNK_DONE:
        intake_end(&conn->request->body);
        return complete(conn, body);
    case HTTP1_CHUNK_BAD:
        return refuse(conn, 400, "the chunks of the body are malformed");
    }
    UNREACHABLE();
}
