/* SPDX-License-Identifier: MIT */
#include "proto_http/body.h"

#include "core/base/macros.h"

#include "proto_http/answer.h"
#include "proto_http/request.h"
#include "proto_http/submit.h"

// Where more than this is missing, the host is told to receive it in its place.
#define DIRECT_MIN ((size_t)16384)

static enum web_step refuse(struct web_conn *conn, unsigned status, const char *why)
{
    conn->request->keep_alive = false;
    web_refuse_status(conn, status, why);
    web_conn_next(conn);
    return WEB_STEP_ON;
}

static enum web_step refuse_memory(struct web_conn *conn)
{
    conn->request->keep_alive = false;
    web_refuse_later(conn, 503, "out of memory");
    web_conn_next(conn);
    return WEB_STEP_ON;
}

static enum web_step more(struct web_conn *conn)
{
    web_conn_expect(conn, nsec_from_seconds((uint64_t)conn->shared->options->body_timeout));
    return WEB_STEP_MORE;
}

static void received(struct web_conn *conn)
{
    conn->unread = false;
    conn->wire->deadline_at = NSEC_NEVER;
}

// All of it is there.
static enum web_step submit(struct web_conn *conn)
{
    struct blob_builder *builder = &conn->request->body;
    struct blob *body;

    received(conn);
    builder->total -= blob_builder_missing(builder);
    body = blob_builder_finish(builder);
    if (!body) {
        return refuse_memory(conn);
    }
    web_submit(conn, blob_slice(body), body);
    blob_unref(body);
    return WEB_STEP_ON;
}

// Takes bytes of the body off the input; false without memory.
static bool take(struct web_conn *conn, struct web_turn *turn, size_t len)
{
    bool good = blob_builder_take(&conn->request->body, slice_of(turn->input.ptr, len)) == len;

    turn->input = slice_from(turn->input, len);
    return good;
}

enum web_step web_body_step(struct web_conn *conn, struct web_turn *turn)
{
    size_t missing = blob_builder_missing(&conn->request->body);
    size_t len = turn->input.len < missing ? turn->input.len : missing;

    if (len == conn->request->body.total) {
        struct slice body = slice_of(turn->input.ptr, len);

        received(conn);
        turn->input = slice_from(turn->input, len);
        web_submit(conn, body, NULL);
        return WEB_STEP_ON;
    }
    if (!take(conn, turn, len)) {
        return refuse_memory(conn);
    }
    return len == missing ? submit(conn) : more(conn);
}

// The chunk that has begun must fit as a whole: its size is known.
static enum web_step take_chunk(struct web_conn *conn, struct web_turn *turn)
{
    struct http1_chunks *chunks = &conn->request->chunks;
    size_t len = turn->input.len < chunks->left ? turn->input.len : (size_t)chunks->left;

    if (chunks->left > blob_builder_missing(&conn->request->body)) {
        return refuse(conn, 413, "the body is larger than http.max_body");
    }
    if (!take(conn, turn, len)) {
        return refuse_memory(conn);
    }
    http1_chunk_taken(chunks, len);
    return WEB_STEP_ON;
}

enum web_step web_chunks_step(struct web_conn *conn, struct web_turn *turn)
{
    switch (http1_chunk_next(&conn->request->chunks, &turn->input)) {
    case HTTP1_CHUNK_MORE:
        return more(conn);
    case HTTP1_CHUNK_DATA_NEXT:
        return take_chunk(conn, turn);
    case HTTP1_CHUNK_DONE:
        return submit(conn);
    case HTTP1_CHUNK_BAD:
        return refuse(conn, 400, "the chunks of the body are malformed");
    }
    UNREACHABLE();
}

void web_body_into(struct web_conn *conn, struct feed *feed)
{
    struct blob_builder *body = &conn->request->body;

    if (blob_builder_missing(body) < DIRECT_MIN ||
        !blob_builder_room(body, &feed->into, &feed->into_len)) {
        // Without memory the next piece will fail, and say so.
        feed->into = NULL;
        feed->into_len = 0;
    }
}

void web_body_filled(struct web_conn *conn, size_t len)
{
    blob_builder_filled(&conn->request->body, len);
}
