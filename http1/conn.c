/* SPDX-License-Identifier: MIT */
#include "http1/conn.h"

#include "core/base/macros.h"
#include "proto_common/steps.h"
#include "proto_common/wrong_protocol.h"

#include "http1/accept.h"
#include "http1/body.h"
#include "http1/framing.h"
#include "http1/reply.h"
#include "http1/request.h"

// How long input of a refused client is discarded, so that the client can read the answer before
// the connection is reset.
#define LINGER_FOR (5 * NSEC_PER_SEC)

void http1_shared_begin(struct http1_shared *shared, const struct http1_user *user,
                        struct broker *broker, const struct http1_options *options,
                        const struct process_facts *facts, const char *const *own, unsigned count)
{
    shared->user = user;
    shared->broker = broker;
    shared->options = options;
    shared->facts = facts;
    http1_names_begin(&shared->names, own, count);
}

// Sets the deadline for the next input; 0 for none.
static void expect_within(struct http1_conn *conn, nsec_t within)
{
    nsec_t at = nsec_add(broker_now(conn->shared->broker).mono, within);

    // Rounded to full seconds, so that a busy connection rarely changes its deadline.
    conn->wire->deadline_at =
        within == 0 ? NSEC_NEVER : nsec_add(at - at % NSEC_PER_SEC, NSEC_PER_SEC);
}

static void expect_request(struct http1_conn *conn)
{
    conn->state = HTTP1_STATE_HEAD;
    conn->begun = false;
    conn->scan = (struct http1_head_scan){0};
    expect_within(conn, nsec_from_seconds((uint64_t)conn->shared->options->idle_timeout));
}

// If the connection is not kept and a part of the request has not arrived, input is discarded.
void http1_answered(struct http1_conn *conn)
{
    bool keep_alive = conn->request && conn->request->keep_alive;

    http1_request_end(conn);
    if (keep_alive) {
        expect_request(conn);
    } else if (conn->unread) {
        conn->state = HTTP1_STATE_LINGER;
        expect_within(conn, LINGER_FOR);
        wire_shut(conn->wire);
    } else {
        conn->state = HTTP1_STATE_FINISHED;
        conn->wire->deadline_at = NSEC_NEVER;
    }
}

// Takes ownership of the body.
static enum step complete(struct http1_conn *conn, struct http1_body *body)
{
    enum http1_next next;

    conn->wire->deadline_at = NSEC_NEVER;
    next = conn->shared->user->complete(conn, body->bytes, body->blob);
    blob_unref(body->blob);
    if (next == HTTP1_NEXT_WAIT) {
        conn->state = HTTP1_STATE_WAITING;
    } else {
        http1_answered(conn);
    }
    return STEP_ON;
}

static enum step go_on(struct http1_conn *conn, enum http1_body_verdict verdict,
                       struct http1_body *body)
{
    switch (verdict) {
    case HTTP1_BODY_MORE:
        return STEP_MORE;
    case HTTP1_BODY_ON:
        return STEP_ON;
    case HTTP1_BODY_COMPLETE:
        return complete(conn, body);
    case HTTP1_BODY_REFUSED:
        http1_answered(conn);
        return STEP_ON;
    }
    UNREACHABLE();
}

enum status http1_open(void *state, void *shared, struct wire *wire)
{
    struct http1_conn *conn = state;
    enum status status;

    conn->shared = shared;
    conn->wire = wire;
    status = broker_session_open(conn->shared->broker, conn->shared->user->session, conn,
                                 CHOICE_OLDEST, &conn->session);
    if (status == STATUS_OK) {
        expect_request(conn);
    }
    return status;
}

enum grant_progress http1_granted(void *state, struct grants *grants)
{
    struct http1_conn *conn = state;

    conn->ruled = grants != NULL;
    return broker_session_grant(conn->session, grants);
}

// A client that has closed its side is treated as gone.
bool http1_eof(void *state)
{
    (void)state;
    return false;
}

size_t http1_holds(const void *state)
{
    return http1_request_holds(state);
}

uint64_t http1_commands(const void *state)
{
    const struct http1_shared *shared = state;

    return shared->requests;
}

struct frontend_about http1_about(const void *state)
{
    const struct http1_conn *conn = state;

    return (struct frontend_about){.session = conn->session};
}

void http1_close(void *state)
{
    struct http1_conn *conn = state;

    if (conn->shared->user->closing) {
        conn->shared->user->closing(conn);
    }
    broker_session_close(conn->session);
    http1_request_end(conn);
}

//
// States
//

static enum step refuse_head(struct http1_conn *conn, unsigned status, const char *why)
{
    conn->unread = true;
    http1_refuse_status(conn, status, why);
    http1_answered(conn);
    return STEP_ON;
}

static enum step head_incomplete(struct http1_conn *conn)
{
    if (!conn->begun) {
        conn->begun = true;
        expect_within(conn, nsec_from_seconds((uint64_t)conn->shared->options->header_timeout));
    }
    return STEP_MORE;
}

// Some clients send an empty line after the body of a request.
static void skip_empty_lines(struct feed_turn *turn)
{
    while (turn->input.len >= 2 && turn->input.ptr[0] == '\r' && turn->input.ptr[1] == '\n') {
        turn->input = slice_from(turn->input, 2);
    }
}

// Whether the input may become an empty line, which does not begin a request.
static bool is_half_empty_line(const struct http1_conn *conn, const struct feed_turn *turn)
{
    return conn->scan.checked == 0 && turn->input.len == 1 && *turn->input.ptr == '\r';
}

static enum step take_head(struct http1_conn *conn, const struct http1_head *head)
{
    struct http1_body none = {.bytes = SLICE("")};
    struct http1_framing framing;

    if (!http1_accept(conn, head, &framing)) {
        if (conn->request && conn->request->slowed) {
            conn->state = HTTP1_STATE_SLOWED;
        } else {
            http1_answered(conn);
        }
        return STEP_ON;
    }
    if (!http1_has_body(&framing)) {
        return complete(conn, &none);
    }
    conn->state = framing.chunked ? HTTP1_STATE_CHUNKS : HTTP1_STATE_BODY;
    http1_body_begin(conn, &framing);
    return STEP_ON;
}

// Whether TLS begins instead of a head. It must be detected early: its bytes do not form a line,
// and a TLS client waits for an answer before it sends more.
static bool is_tls(const struct http1_conn *conn, const struct feed_turn *turn)
{
    return conn->scan.checked == 0 && wrong_protocol_at_start(conn->wire, turn->input);
}

static enum step step_head(struct http1_conn *conn, struct feed_turn *turn)
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
        conn->state = HTTP1_STATE_FINISHED;
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
        return refuse_head(conn, 431, conn->shared->user->texts.long_head);
    case HTTP1_HEAD_DONE:
        break;
    }
    turn->input = slice_from(turn->input, head.bytes.len);
    turn->budget--;
    conn->shared->requests++;
    conn->wire->deadline_at = NSEC_NEVER;
    return take_head(conn, &head);
}

static enum step step_body(struct http1_conn *conn, struct feed_turn *turn)
{
    struct http1_body body;

    return go_on(conn, http1_body_take(conn, &turn->input, &body), &body);
}

static enum step step_chunks(struct http1_conn *conn, struct feed_turn *turn)
{
    struct http1_body body;

    return go_on(conn, http1_chunks_take(conn, &turn->input, &body), &body);
}

// Long answers are written in slices, in the connection's turns.
static enum step step_waiting(struct http1_conn *conn, struct feed_turn *turn)
{
    const struct http1_user *user = conn->shared->user;

    switch (user->step ? user->step(conn, turn) : HTTP1_BLOCKED) {
    case HTTP1_BLOCKED:
        return STEP_BLOCKED;
    case HTTP1_AGAIN:
        return STEP_AGAIN;
    case HTTP1_WROTE:
        return STEP_ON;
    case HTTP1_ENDED:
        http1_answered(conn);
        return STEP_ON;
    }
    UNREACHABLE();
}

static enum step step_slowed(struct http1_conn *conn, struct feed_turn *turn)
{
    (void)conn;
    (void)turn;
    return STEP_BLOCKED;
}

static enum step step_linger(struct http1_conn *conn, struct feed_turn *turn)
{
    (void)conn;
    turn->input = slice_from(turn->input, turn->input.len);
    return STEP_MORE;
}

static enum step step_finished(struct http1_conn *conn, struct feed_turn *turn)
{
    (void)conn;
    (void)turn;
    return STEP_FINISHED;
}

typedef enum step (*step_fn)(struct http1_conn *conn, struct feed_turn *turn);

static const step_fn steps_of_states[HTTP1_STATES] = {
    [HTTP1_STATE_HEAD] = step_head,         [HTTP1_STATE_BODY] = step_body,
    [HTTP1_STATE_CHUNKS] = step_chunks,     [HTTP1_STATE_WAITING] = step_waiting,
    [HTTP1_STATE_SLOWED] = step_slowed,     [HTTP1_STATE_LINGER] = step_linger,
    [HTTP1_STATE_FINISHED] = step_finished,
};

static enum step make_step(void *state, struct feed_turn *turn)
{
    struct http1_conn *conn = state;

    return steps_of_states[conn->state](conn, turn);
}

// A body of a known length is received directly into its buffer.
static struct intake *intake_of(void *state)
{
    struct http1_conn *conn = state;

    return conn->state == HTTP1_STATE_BODY ? &conn->request->body : NULL;
}

static const struct steps steps = {.make = make_step, .intake = intake_of};

struct feed http1_feed(void *state, struct slice input, unsigned budget)
{
    struct http1_conn *conn = state;

    return steps_feed(&steps, conn, conn->wire, conn->shared->broker, input, budget);
}

struct feed http1_filled(void *state, size_t len, unsigned budget)
{
    steps_take(&steps, state, len);
    return http1_feed(state, SLICE(""), budget);
}
