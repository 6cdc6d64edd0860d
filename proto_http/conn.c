/* SPDX-License-Identifier: MIT */
#include "proto_http/conn.h"

#include "core/base/macros.h"
#include "proto_common/http1/framing.h"
#include "proto_common/steps.h"
#include "proto_common/wrong_protocol.h"

#include "proto_http/accept.h"
#include "proto_http/answer.h"
#include "proto_http/body.h"
#include "proto_http/request.h"
#include "proto_http/submit.h"
#include "proto_http/wait.h"

// How long what a refused client still sends is thrown away, so that it gets to read the answer
// before the connection breaks.
#define LINGER_FOR (5 * NSEC_PER_SEC)

// Something is to arrive within that time; 0 for any time.
static void expect_within(struct web_conn *conn, nsec_t within)
{
    nsec_t at = nsec_add(broker_now(conn->shared->broker).mono, within);

    // Full seconds, so that a busy connection seldom has another deadline.
    conn->wire->deadline_at =
        within == 0 ? NSEC_NEVER : nsec_add(at - at % NSEC_PER_SEC, NSEC_PER_SEC);
}

static void expect_request(struct web_conn *conn)
{
    conn->state = WEB_HEAD;
    conn->begun = false;
    conn->scan = (struct http1_head_scan){0};
    expect_within(conn, nsec_from_seconds((uint64_t)conn->shared->options->idle_timeout));
}

void web_conn_begin(struct web_conn *conn)
{
    expect_request(conn);
}

static void free_request(struct web_conn *conn)
{
    web_request_free(conn->request);
    conn->request = NULL;
}

// The request is answered: the next one may come, or, where the connection is not to be kept, what
// still comes is thrown away.
static void end_request(struct web_conn *conn)
{
    bool keep_alive = conn->request && conn->request->keep_alive;

    free_request(conn);
    if (keep_alive) {
        expect_request(conn);
    } else if (conn->unread) {
        conn->state = WEB_LINGER;
        expect_within(conn, LINGER_FOR);
        wire_shut(conn->wire);
    } else {
        conn->state = WEB_FINISHED;
        conn->wire->deadline_at = NSEC_NEVER;
    }
}

static void submit(struct web_conn *conn, struct web_workload *workload)
{
    struct submission submission;
    enum web_next next;

    conn->wire->deadline_at = NSEC_NEVER;
    next = web_submit(conn, workload, &submission);
    blob_unref(workload->blob);
    if (next == WEB_NEXT_WAIT) {
        conn->state = WEB_WAITING;
        web_wait_begin(conn, &submission);
    } else {
        end_request(conn);
    }
}

static enum step go_on(struct web_conn *conn, enum web_next next, struct web_workload *workload)
{
    switch (next) {
    case WEB_NEXT_REQUEST:
        end_request(conn);
        return STEP_ON;
    case WEB_NEXT_BODY:
        return STEP_ON;
    case WEB_NEXT_MORE:
        expect_within(conn, nsec_from_seconds((uint64_t)conn->shared->options->body_timeout));
        return STEP_MORE;
    case WEB_NEXT_SUBMIT:
        submit(conn, workload);
        return STEP_ON;
    case WEB_NEXT_WAIT:
        break;
    }
    UNREACHABLE();
}

//
// States
//

static enum step refuse_head(struct web_conn *conn, unsigned status, const char *why)
{
    conn->unread = true;
    web_refuse_status(conn, status, why);
    end_request(conn);
    return STEP_ON;
}

static enum step head_incomplete(struct web_conn *conn)
{
    if (!conn->begun) {
        conn->begun = true;
        expect_within(conn, nsec_from_seconds((uint64_t)conn->shared->options->header_timeout));
    }
    return STEP_MORE;
}

// Some clients send an empty line behind the body of a request.
static void skip_empty_lines(struct feed_turn *turn)
{
    while (turn->input.len >= 2 && turn->input.ptr[0] == '\r' && turn->input.ptr[1] == '\n') {
        turn->input = slice_from(turn->input, 2);
    }
}

// Whether the input may become an empty line, with which no request begins.
static bool is_half_empty_line(const struct web_conn *conn, const struct feed_turn *turn)
{
    return conn->scan.checked == 0 && turn->input.len == 1 && *turn->input.ptr == '\r';
}

static enum step take_head(struct web_conn *conn, const struct http1_head *head)
{
    struct http1_framing framing;
    struct web_workload workload = {.blob = NULL};
    enum web_next next = web_accept(conn, head, &framing);

    if (next == WEB_NEXT_BODY) {
        conn->state = framing.chunked ? WEB_CHUNKS : WEB_BODY;
        next = web_body_begin(conn, &framing, &workload);
    }
    return go_on(conn, next, &workload);
}

// Whether TLS begins where a head should. Its bytes have no line of which a head could consist, so
// that an answer would have to wait for more than a client sends that waits for one itself.
static bool is_tls(const struct web_conn *conn, const struct feed_turn *turn)
{
    return conn->scan.checked == 0 && wrong_protocol_at_start(conn->wire, turn->input);
}

static enum step step_head(struct web_conn *conn, struct feed_turn *turn)
{
    size_t most = (size_t)conn->shared->options->max_header_bytes;
    struct http1_head head;

    if (conn->scan.checked == 0) {
        skip_empty_lines(turn);
    }
    if (turn->input.len == 0 || is_half_empty_line(conn, turn)) {
        return STEP_MORE;
    }
    if (is_tls(conn, turn)) {
        conn->state = WEB_FINISHED;
        return STEP_ON;
    }
    if (feed_turn_is_over(turn, conn->wire)) {
        return STEP_AGAIN;
    }
    switch (http1_head_check(&conn->scan, turn->input, most, &head)) {
    case HTTP1_HEAD_MORE:
        return head_incomplete(conn);
    case HTTP1_HEAD_BAD:
        return refuse_head(conn, 400, "the head of the request is malformed");
    case HTTP1_HEAD_VERSION:
        return refuse_head(conn, 505, "this is HTTP/1.1");
    case HTTP1_HEAD_LONG:
        return refuse_head(conn, 431,
                           "the head is longer than http.max_header_bytes, "
                           "or has more than 100 headers");
    case HTTP1_HEAD_DONE:
        break;
    }
    turn->input = slice_from(turn->input, head.bytes.len);
    turn->budget--;
    conn->wire->deadline_at = NSEC_NEVER;
    return take_head(conn, &head);
}

static enum step step_body(struct web_conn *conn, struct feed_turn *turn)
{
    struct web_workload workload;

    return go_on(conn, web_body_take(conn, &turn->input, &workload), &workload);
}

static enum step step_chunks(struct web_conn *conn, struct feed_turn *turn)
{
    struct web_workload workload;

    return go_on(conn, web_chunks_take(conn, &turn->input, &workload), &workload);
}

static enum step step_waiting(struct web_conn *conn, struct feed_turn *turn)
{
    (void)conn;
    (void)turn;
    return STEP_BLOCKED;
}

static enum step step_linger(struct web_conn *conn, struct feed_turn *turn)
{
    (void)conn;
    turn->input = slice_from(turn->input, turn->input.len);
    return STEP_MORE;
}

static enum step step_finished(struct web_conn *conn, struct feed_turn *turn)
{
    (void)conn;
    (void)turn;
    return STEP_FINISHED;
}

typedef enum step (*step_fn)(struct web_conn *conn, struct feed_turn *turn);

static const step_fn steps_of_states[WEB_STATES] = {
    [WEB_HEAD] = step_head,       [WEB_BODY] = step_body,     [WEB_CHUNKS] = step_chunks,
    [WEB_WAITING] = step_waiting, [WEB_LINGER] = step_linger, [WEB_FINISHED] = step_finished,
};

static enum step make_step(void *state, struct feed_turn *turn)
{
    struct web_conn *conn = state;

    return steps_of_states[conn->state](conn, turn);
}

// A body of a known length may be received in its place.
static struct intake *intake_of(void *state)
{
    struct web_conn *conn = state;

    return conn->state == WEB_BODY ? &conn->request->body : NULL;
}

static const struct steps steps = {.make = make_step, .intake = intake_of};

struct feed web_feed(void *state, struct slice input, unsigned budget)
{
    struct web_conn *conn = state;

    return steps_feed(&steps, conn, conn->wire, conn->shared->broker, input, budget);
}

struct feed web_filled(void *state, size_t len, unsigned budget)
{
    struct web_conn *conn = state;

    return steps_filled(&steps, conn, conn->wire, conn->shared->broker, len, budget);
}

void web_expired(void *state)
{
    struct web_conn *conn = state;

    if (conn->state == WEB_WAITING) {
        if (web_wait_expired(conn)) {
            end_request(conn);
            wire_wake(conn->wire);
        }
        return;
    }
    if (conn->state != WEB_LINGER && (conn->state != WEB_HEAD || conn->begun)) {
        if (conn->request) {
            conn->request->keep_alive = false;
        }
        web_refuse_status(conn, 408,
                          conn->state == WEB_HEAD
                              ? "the head took longer than http.header_timeout to arrive"
                              : "nothing came of the body for as long as http.body_timeout");
    } else {
        wire_log_closing(conn->wire, conn->state == WEB_HEAD ? "no request for http.idle_timeout"
                                                             : "the refused client does not go");
    }
    free_request(conn);
    conn->state = WEB_FINISHED;
    wire_finish(conn->wire);
}

// The process stops: a client that has sent a request, or a part of one, is answered 503.
void web_stopping(void *state)
{
    struct web_conn *conn = state;

    if (conn->state == WEB_WAITING) {
        web_wait_stopped(conn);
    } else if (conn->state == WEB_BODY || conn->state == WEB_CHUNKS ||
               (conn->state == WEB_HEAD && conn->begun)) {
        if (conn->request) {
            conn->request->keep_alive = false;
        }
        web_refuse(conn, &(struct web_answer){.status = 503, .extra = WEB_RETRY}, WEB_STOPS);
    }
    free_request(conn);
    conn->state = WEB_FINISHED;
    conn->wire->deadline_at = NSEC_NEVER;
}

static void on_job_event(void *owner, struct watch *watch, const struct job_event *event)
{
    struct web_conn *conn = owner;

    if (web_wait_event(conn, watch, event)) {
        end_request(conn);
    }
    wire_wake(conn->wire);
}

static void on_leased(void *owner, const struct job *job)
{
    (void)owner;
    (void)job;
    UNREACHABLE(); // a request takes no job
}

static void on_wait_over(void *owner, enum wait_end why)
{
    (void)owner;
    (void)why;
    UNREACHABLE();
}

static void on_nudged(void *owner)
{
    (void)owner;
    UNREACHABLE();
}

const struct session_ops web_session_ops = {
    .leased = on_leased,
    .wait_over = on_wait_over,
    .nudged = on_nudged,
    .job_event = on_job_event,
};
