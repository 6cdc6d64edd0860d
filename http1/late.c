/* SPDX-License-Identifier: MIT */

// Timeouts of a connection, and the stop of the process.

#include "http1/conn.h"

#include "http1/caller.h"
#include "http1/reply.h"
#include "http1/request.h"

static void finish(struct http1_conn *conn)
{
    http1_request_end(conn);
    conn->state = HTTP1_STATE_FINISHED;
    wire_finish(conn->wire);
}

static void expired_waiting(struct http1_conn *conn)
{
    if (conn->shared->user->expired(conn)) {
        http1_answered(conn);
        wire_wake(conn->wire);
    }
}

static void expired_slowed(struct http1_conn *conn)
{
    http1_caller_refuse_slowed(conn);
    http1_answered(conn);
    wire_wake(conn->wire);
}

void http1_expired(void *state)
{
    struct http1_conn *conn = state;
    const struct http1_texts *texts = &conn->shared->user->texts;

    if (conn->state == HTTP1_STATE_WAITING) {
        expired_waiting(conn);
        return;
    }
    if (conn->state == HTTP1_STATE_SLOWED) {
        expired_slowed(conn);
        return;
    }
    if (conn->state == HTTP1_STATE_HEAD && conn->begun) {
        http1_refuse_status(conn, 408, texts->slow_head);
    } else {
        wire_log_closing(conn->wire, conn->state == HTTP1_STATE_HEAD
                                         ? texts->idle
                                         : "the refused client does not go");
    }
    finish(conn);
}

struct pace http1_pace(void *state)
{
    struct http1_conn *conn = state;
    bool in_body = conn->state == HTTP1_STATE_BODY || conn->state == HTTP1_STATE_CHUNKS;
    struct pace pace = {.kind = in_body ? PACE_BODY : PACE_FREE, .begun = conn->body_begun};

    conn->body_begun = false;
    return pace;
}

// Only bodies have a pace: other input has a deadline.
void http1_overdue(void *state, enum pace_verdict verdict, struct slice kept)
{
    struct http1_conn *conn = state;

    (void)verdict;
    (void)kept;
    conn->request->keep_alive = false;
    http1_refuse_status(conn, 408, conn->shared->user->texts.slow_body);
    finish(conn);
}

// A client that has sent a request, or a part of one, is answered 503.
void http1_stopping(void *state)
{
    struct http1_conn *conn = state;
    const struct http1_user *user = conn->shared->user;

    if (conn->state == HTTP1_STATE_WAITING) {
        if (user->stopping) {
            user->stopping(conn);
        }
    } else if (conn->state == HTTP1_STATE_BODY || conn->state == HTTP1_STATE_CHUNKS ||
               conn->state == HTTP1_STATE_SLOWED ||
               (conn->state == HTTP1_STATE_HEAD && conn->begun)) {
        if (conn->request) {
            conn->request->keep_alive = false;
        }
        http1_refuse(conn, &(struct http1_reply){.status = 503, .extra = HTTP1_RETRY}, HTTP1_STOPS);
    }
    http1_request_end(conn);
    conn->state = HTTP1_STATE_FINISHED;
    conn->wire->deadline_at = NSEC_NEVER;
}
