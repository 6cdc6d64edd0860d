/* SPDX-License-Identifier: MIT */
#include "proto_http/submit.h"

#include "http1/request_target.h"

#include "proto_http/answer.h"
#include "proto_http/once.h"
#include "proto_http/request.h"
#include "proto_http/submission.h"
#include "proto_http/wait.h"

static enum http1_next submit(struct http1_conn *conn, struct slice workload, struct blob *blob)
{
    struct submission submission;
    enum status status;

    if (web_request(conn)->once) {
        return web_once_submit(conn, workload, blob);
    }
    status = web_submit_job(conn, workload, blob, &submission);
    if (status != STATUS_OK) {
        web_submit_refuse(conn, status);
        return HTTP1_NEXT_REQUEST;
    }
    if (!web_request(conn)->background) {
        web_wait_begin(conn, &submission);
        return HTTP1_NEXT_WAIT;
    }
    web_submit_answer(conn, submission.id);
    return HTTP1_NEXT_REQUEST;
}

// The workload of a GET is its query.
static enum http1_next submit_query(struct http1_conn *conn, struct slice query)
{
    struct blob *blob = blob_new(query.len);
    enum http1_next next = HTTP1_NEXT_REQUEST;

    if (!blob) {
        web_refuse_memory(conn);
    } else if (!http1_decode(query, blob->bytes, &blob->len)) {
        web_refuse_error(conn, 400, "the query has an escape that is not complete");
    } else {
        next = submit(conn, blob_slice(blob), blob);
    }
    blob_unref(blob);
    return next;
}

enum http1_next web_submit(struct http1_conn *conn, struct slice body, struct blob *blob)
{
    return conn->request->method == HTTP1_GET ? submit_query(conn, web_request(conn)->target.query)
                                              : submit(conn, body, blob);
}
