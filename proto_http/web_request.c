/* SPDX-License-Identifier: MIT */
#include "proto_http/web_request.h"

#include "http1/request_target.h"

#include "proto_http/lease_actions.h"
#include "proto_http/once.h"
#include "proto_http/submission.h"
#include "proto_http/wait.h"
#include "proto_http/web_answer.h"
#include "proto_http/web_job.h"
#include "proto_http/web_work.h"

#include <string.h>

static enum web_place request_place(const struct http1_conn *conn)
{
    return web_request(conn)->target.place;
}

static enum http1_next web_submit_workload(struct http1_conn *conn, struct slice workload,
                                           struct blob *blob)
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

// A request for a foreground job waits for its result; a request for a background job is answered.
static enum http1_next web_submit(struct http1_conn *conn, struct slice body, struct blob *blob)
{
    struct slice query = web_request(conn)->target.query;
    enum http1_next next = HTTP1_NEXT_REQUEST;
    struct blob *workload;

    if (conn->request->method != HTTP1_GET) {
        return web_submit_workload(conn, body, blob);
    }
    // The workload of a GET is its query.
    workload = blob_new(query.len);
    if (!workload) {
        web_refuse_memory(conn);
    } else if (!http1_decode(query, workload->bytes, &workload->len)) {
        web_refuse_error(conn, 400, "the query has an incomplete escape");
    } else {
        next = web_submit_workload(conn, blob_slice(workload), workload);
    }
    blob_unref(workload);
    return next;
}

enum http1_next web_complete(struct http1_conn *conn, struct slice body, struct blob *blob)
{
    switch (request_place(conn)) {
    case WEB_PLACE_WORK:
        return web_work_begin(conn);
    case WEB_PLACE_LEASE:
        return web_action_begin(conn, body, blob);
    case WEB_PLACE_JOB:
        return web_job_begin(conn);
    case WEB_PLACE_NONE:
    case WEB_PLACE_SERVER:
    case WEB_PLACE_ROOT:
    case WEB_PLACE_FUNCTION:
    case WEB_PLACE_UNKNOWN:
        break;
    }
    return web_submit(conn, body, blob);
}

enum http1_progress web_step(struct http1_conn *conn, struct feed_turn *turn)
{
    switch (request_place(conn)) {
    case WEB_PLACE_WORK:
        return web_work_step(conn, turn);
    case WEB_PLACE_LEASE:
        return web_action_step(conn);
    case WEB_PLACE_NONE:
    case WEB_PLACE_SERVER:
    case WEB_PLACE_ROOT:
    case WEB_PLACE_FUNCTION:
    case WEB_PLACE_JOB:
    case WEB_PLACE_UNKNOWN:
        break;
    }
    return web_request(conn)->once ? web_once_step(conn, turn) : web_wait_step(conn, turn);
}

void web_stopping(struct http1_conn *conn)
{
    switch (request_place(conn)) {
    case WEB_PLACE_WORK:
        web_work_stopped(conn);
        return;
    case WEB_PLACE_LEASE:
        web_action_stopped(conn);
        return;
    case WEB_PLACE_NONE:
    case WEB_PLACE_SERVER:
    case WEB_PLACE_ROOT:
    case WEB_PLACE_FUNCTION:
    case WEB_PLACE_JOB:
    case WEB_PLACE_UNKNOWN:
        break;
    }
    web_wait_stopped(conn);
}

void web_forget(struct http1_request *base)
{
    struct web_request *request = container_of(base, struct web_request, http1);

    if (request->target.place == WEB_PLACE_WORK) {
        web_work_forget(&request->work);
    } else if (request->target.place == WEB_PLACE_LEASE) {
        web_action_forget(&request->action);
    }
    web_once_free(request->once);
    output_clear(&request->parts);
    web_events_clear(&request->events);
}

size_t web_holds(const struct http1_request *base)
{
    const struct web_request *request = (const void *)base; // base is its first member
    size_t holds =
        output_pending(&request->parts) + request->events.waiting + web_once_holds(request->once);

    if (request->target.place == WEB_PLACE_WORK) {
        holds += web_work_holds(&request->work);
    } else if (request->target.place == WEB_PLACE_LEASE) {
        holds += web_action_holds(&request->action);
    }
    return holds;
}
