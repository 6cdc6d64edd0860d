/* SPDX-License-Identifier: MIT */
#include "proto_http/places.h"

#include "proto_http/jobs.h"
#include "proto_http/once.h"
#include "proto_http/request.h"
#include "proto_http/submit.h"
#include "proto_http/wait.h"
#include "proto_http/words.h"
#include "proto_http/work.h"

static enum web_place place_of(const struct http1_conn *conn)
{
    return web_request(conn)->target.place;
}

enum http1_next web_complete(struct http1_conn *conn, struct slice body, struct blob *blob)
{
    switch (place_of(conn)) {
    case WEB_PLACE_WORK:
        return web_work_begin(conn);
    case WEB_PLACE_LEASE:
        return web_word_say(conn, body, blob);
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
    switch (place_of(conn)) {
    case WEB_PLACE_WORK:
        return web_work_step(conn, turn);
    case WEB_PLACE_LEASE:
        return web_word_step(conn);
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
    switch (place_of(conn)) {
    case WEB_PLACE_WORK:
        web_work_stopped(conn);
        return;
    case WEB_PLACE_LEASE:
        web_word_stopped(conn);
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
        web_word_forget(&request->word);
    }
    web_once_free(request->once);
    web_request_forget(base);
}

size_t web_holds(const struct http1_request *base)
{
    const struct web_request *request = (const void *)base; // base is its first member
    size_t holds = web_request_holds(base) + web_once_holds(request->once);

    if (request->target.place == WEB_PLACE_WORK) {
        holds += web_work_holds(&request->work);
    } else if (request->target.place == WEB_PLACE_LEASE) {
        holds += web_word_holds(&request->word);
    }
    return holds;
}
