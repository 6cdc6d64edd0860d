/* SPDX-License-Identifier: MIT */
#include "http1/http1_conn.h"

#include "core/base/macros.h"
#include "core/base/memory.h"
#include "proto_common/steps.h"
#include "proto_common/wrong_protocol.h"

#include "http1/caller.h"
#include "http1/reply.h"
#include "http1/user.h"

#include <stdlib.h>
#include <string.h>

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

//
// Requests
//

// Frees the request, if there is one.
static void request_end(struct http1_conn *conn)
{
    const struct http1_user *user = conn->shared->user;
    struct http1_request *request = conn->request;

    conn->request = NULL;
    if (!request) {
        return;
    }
    if (user->forget) {
        user->forget(request);
    }
    intake_discard(&request->body);
    free(request->origin);
    memory_free(request, user->request_size);
}

// If the connection is not kept and a part of the request has not arrived, input is discarded.
void http1_answered(struct http1_conn *conn)
{
    bool keep_alive = conn->request && conn->request->keep_alive;

    request_end(conn);
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

// The body is complete. Takes ownership of the blob.
static enum step request_complete(struct http1_conn *conn, struct slice body, struct blob *blob)
{
    enum http1_next next;

    conn->unread = false;
    conn->wire->deadline_at = NSEC_NEVER;
    next = conn->shared->user->complete(conn, body, blob);
    blob_unref(blob);
    if (next == HTTP1_NEXT_WAIT) {
        conn->state = HTTP1_STATE_WAITING;
    } else {
        http1_answered(conn);
    }
    return STEP_ON;
}

//
// The head
//

// Answers the request. Always false.
static bool refuse_request(struct http1_conn *conn, unsigned status, const char *why)
{
    http1_refuse_status(conn, status, why);
    return false;
}

static bool body_fits(struct http1_conn *conn, const struct http1_framing *framing)
{
    if (framing->len <= conn->request->max_body) {
        return true;
    }
    wire_log_too_large(conn->wire, "a request's body", framing->len,
                       conn->shared->user->texts.body_setting);
    return refuse_request(conn, 413, conn->shared->user->texts.long_body);
}

// Logs the command without its query, which may contain a client's secrets.
static APART void trace_request(const struct http1_conn *conn, const struct http1_fields *fields)
{
    static const char *const methods[] = {
        [HTTP1_GET] = "GET",
        [HTTP1_POST] = "POST",
        [HTTP1_PUT] = "PUT",
        [HTTP1_DELETE] = "DELETE",
        [HTTP1_HEAD_METHOD] = "HEAD",
        [HTTP1_OPTIONS] = "OPTIONS",
        [HTTP1_OTHER_METHOD] = "another method",
    };
    const char *method = methods[fields->method];
    const char *query = memchr(fields->target.ptr, '?', fields->target.len);
    struct slice path = fields->target;

    path.len = query ? (size_t)(query - path.ptr) : path.len;
    wire_log_command(conn->wire, slice_str(method), path, fields->length);
}

// Begins a new request from a complete head. True: the request is accepted, and its body arrives
// with this framing. False: it has been answered, or will be later (request->slowed).
static bool http1_accept(struct http1_conn *conn, const struct http1_fields *fields, bool refused,
                         struct http1_framing *framing)
{
    const struct http1_user *user = conn->shared->user;
    struct http1_request *request;
    struct http1_refusal refusal;

    conn->unread = true;
    request = conn->request = memory_alloc(user->request_size);
    if (!request) {
        http1_refuse_memory(conn);
        return false;
    }
    memset(request, 0, user->request_cleared);
    request->max_body = conn->shared->options->max_body;
    request->method = fields->method;
    request->version_1_0 = fields->version_1_0;
    if (refused) {
        return refuse_request(conn, 400, "the request is malformed");
    }
    if (conn->wire->traced) {
        trace_request(conn, fields);
    }
    if (fields->method == HTTP1_OTHER_METHOD) {
        user->other_method(conn, fields->target);
        return false;
    }
    if (!http1_framing_read(fields, framing, &refusal)) {
        return refuse_request(conn, refusal.status, refusal.why);
    }
    if (!body_fits(conn, framing)) {
        return false;
    }
    // A refused request's body is not read, so the connection closes after the answer.
    conn->unread = http1_has_body(framing);
    request->keep_alive = fields->keep_alive && !conn->unread;
    if (user->accept(conn, fields, framing) != HTTP1_NEXT_BODY || !body_fits(conn, framing)) {
        return false;
    }
    request->keep_alive = fields->keep_alive && !request->last;
    return true;
}

static enum step take_head(struct http1_conn *conn, const struct http1_fields *fields, bool refused)
{
    struct http1_framing framing;
    struct http1_request *request;

    if (!http1_accept(conn, fields, refused, &framing)) {
        if (conn->request && conn->request->slowed) {
            conn->state = HTTP1_STATE_SLOWED;
        } else {
            http1_answered(conn);
        }
        return STEP_ON;
    }
    if (!http1_has_body(&framing)) {
        return request_complete(conn, SLICE(""), NULL);
    }
    conn->state = framing.chunked ? HTTP1_STATE_CHUNKS : HTTP1_STATE_BODY;
    conn->body_begun = true;
    request = conn->request;
    intake_begin(&request->body, framing.chunked ? (size_t)request->max_body : (size_t)framing.len);
    intake_give_way(&request->body);
    if (request->body_is_key) {
        intake_hash(&request->body);
    }
    if (framing.expects) {
        output_write(&conn->wire->out, SLICE("HTTP/1.1 100 Continue\r\n\r\n"));
    }
    return STEP_ON;
}

static enum step refuse_head(struct http1_conn *conn, unsigned status, const char *why)
{
    conn->unread = true;
    http1_refuse_status(conn, status, why);
    http1_answered(conn);
    return STEP_ON;
}

static enum step refuse_bad_head(struct http1_conn *conn, struct slice input)
{
    return refuse_head(conn, 400,
                       wrong_protocol_is_proxy(conn->wire, input)
                           ? WRONG_PROTOCOL_PROXY
                           : "the head of the request is malformed");
}

// Before the first line of a head. STEP_ON: a head follows.
static enum step step_before_head(struct http1_conn *conn, struct feed_turn *turn)
{
    // Some clients send an empty line after the body of a request.
    while (turn->input.len >= 2 && turn->input.ptr[0] == '\r' && turn->input.ptr[1] == '\n') {
        turn->input = slice_from(turn->input, 2);
    }
    // A CR alone may become an empty line, which does not begin a request.
    if (turn->input.len == 0 || (turn->input.len == 1 && *turn->input.ptr == '\r')) {
        return STEP_MORE;
    }
    // TLS must be detected early: its bytes do not form a line, and a TLS client waits for an
    // answer before it sends more.
    if (wrong_protocol_at_start(conn->wire, turn->input)) {
        conn->state = HTTP1_STATE_FINISHED;
        return STEP_FINISHED;
    }
    return STEP_ON;
}

static enum step step_head(struct http1_conn *conn, struct feed_turn *turn)
{
    size_t most = (size_t)conn->shared->options->max_header_bytes;
    enum http1_head_result result;
    struct http1_fields fields;

    if (conn->scan.checked == 0) {
        enum step step = step_before_head(conn, turn);

        if (step != STEP_ON) {
            return step;
        }
    }
    if (turn->input.len == 0) {
        return STEP_MORE;
    }
    if (feed_turn_is_over(turn, conn->wire)) {
        return STEP_AGAIN;
    }
    result = http1_head_read(&conn->scan, turn->input, most, &conn->shared->names, &fields);
    switch (result) {
    case HTTP1_HEAD_MORE:
        if (!conn->begun) {
            conn->begun = true;
            expect_within(conn, nsec_from_seconds((uint64_t)conn->shared->options->header_timeout));
        }
        return STEP_MORE;
    case HTTP1_HEAD_BAD:
        return refuse_bad_head(conn, turn->input);
    case HTTP1_HEAD_VERSION:
        return refuse_head(conn, 505, "only HTTP/1.0 and HTTP/1.1 are supported");
    case HTTP1_HEAD_LONG:
        return refuse_head(conn, 431, conn->shared->user->texts.long_head);
    case HTTP1_HEAD_DONE:
    case HTTP1_HEAD_REFUSED:
        break;
    }
    turn->input = slice_from(turn->input, fields.head_len);
    turn->budget--;
    conn->shared->requests++;
    conn->wire->deadline_at = NSEC_NEVER;
    return take_head(conn, &fields, result == HTTP1_HEAD_REFUSED);
}

//
// The body. If it is invalid, the request is answered, and the rest of the body is discarded.
//

static enum step refuse_body(struct http1_conn *conn, unsigned status, const char *why)
{
    conn->request->keep_alive = false;
    http1_refuse_status(conn, status, why);
    http1_answered(conn);
    return STEP_ON;
}

static enum step refuse_body_memory(struct http1_conn *conn)
{
    conn->request->keep_alive = false;
    http1_refuse_memory(conn);
    http1_answered(conn);
    return STEP_ON;
}

static enum step body_complete(struct http1_conn *conn)
{
    struct blob *blob = intake_finish(&conn->request->body);

    conn->unread = false;
    return blob ? request_complete(conn, blob_slice(blob), blob) : refuse_body_memory(conn);
}

static enum step step_body(struct http1_conn *conn, struct feed_turn *turn)
{
    struct intake *intake = &conn->request->body;
    size_t len = intake_len(intake);

    // A body that arrives in one piece is not copied.
    if (turn->input.len >= len && intake_missing(intake) == len) {
        struct slice body = slice_of(turn->input.ptr, len);

        turn->input = slice_from(turn->input, len);
        return request_complete(conn, body, NULL);
    }
    switch (intake_take(intake, &turn->input)) {
    case INTAKE_MORE:
        return STEP_MORE;
    case INTAKE_COMPLETE:
        return body_complete(conn);
    case INTAKE_NO_MEMORY:
        return refuse_body_memory(conn);
    }
    UNREACHABLE();
}

// A chunk that would exceed the limit is refused when it begins, because its size is known.
static enum step take_chunk(struct http1_conn *conn, struct slice *input)
{
    struct http1_chunks *chunks = &conn->request->chunks;
    size_t len = input->len < chunks->left ? input->len : (size_t)chunks->left;
    struct slice data = slice_of(input->ptr, len);

    if (chunks->left > intake_missing(&conn->request->body)) {
        wire_log_too_large(conn->wire, "a request's body", 0,
                           conn->shared->user->texts.body_setting);
        return refuse_body(conn, 413, conn->shared->user->texts.long_body);
    }
    if (intake_take(&conn->request->body, &data) == INTAKE_NO_MEMORY) {
        return refuse_body_memory(conn);
    }
    *input = slice_from(*input, len);
    http1_chunk_taken(chunks, len);
    return STEP_ON;
}

static enum step step_chunks(struct http1_conn *conn, struct feed_turn *turn)
{
    switch (http1_chunk_next(&conn->request->chunks, &turn->input)) {
    case HTTP1_CHUNK_MORE:
        return STEP_MORE;
    case HTTP1_CHUNK_DATA_NEXT:
        return take_chunk(conn, &turn->input);
    case HTTP1_CHUNK_DONE:
        intake_end(&conn->request->body);
        return body_complete(conn);
    case HTTP1_CHUNK_BAD:
        return refuse_body(conn, 400, "the chunks of the body are malformed");
    }
    UNREACHABLE();
}

//
// The other states
//

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

typedef enum step (*http1_step_fn)(struct http1_conn *conn, struct feed_turn *turn);

static const http1_step_fn http1_state_steps[HTTP1_STATES] = {
    [HTTP1_STATE_HEAD] = step_head,         [HTTP1_STATE_BODY] = step_body,
    [HTTP1_STATE_CHUNKS] = step_chunks,     [HTTP1_STATE_WAITING] = step_waiting,
    [HTTP1_STATE_SLOWED] = step_slowed,     [HTTP1_STATE_LINGER] = step_linger,
    [HTTP1_STATE_FINISHED] = step_finished,
};

static enum step http1_step(void *state, struct feed_turn *turn)
{
    struct http1_conn *conn = state;

    return http1_state_steps[conn->state](conn, turn);
}

// A body of a known length is received directly into its buffer.
static struct intake *http1_intake(void *state)
{
    struct http1_conn *conn = state;

    return conn->state == HTTP1_STATE_BODY ? &conn->request->body : NULL;
}

static const struct steps http1_steps = {.make = http1_step, .intake = http1_intake};

struct feed http1_feed(void *state, struct slice input, unsigned budget)
{
    struct http1_conn *conn = state;

    return steps_feed(&http1_steps, conn, conn->wire, conn->shared->broker, input, budget);
}

struct feed http1_filled(void *state, size_t len, unsigned budget)
{
    steps_take(&http1_steps, state, len);
    return http1_feed(state, SLICE(""), budget);
}

//
// The other functions of a front-end
//

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
    const struct http1_conn *conn = state;
    const struct http1_user *user = conn->shared->user;
    const struct http1_request *request = conn->request;

    return request ? user->request_size + intake_holds(&request->body) +
                         (user->holds ? user->holds(request) : 0)
                   : 0;
}

uint64_t http1_commands(const void *state)
{
    const struct http1_shared *shared = state;

    return shared->requests;
}

struct frontend_facts http1_facts(const void *state)
{
    const struct http1_conn *conn = state;

    return (struct frontend_facts){.session = conn->session};
}

void http1_close(void *state)
{
    struct http1_conn *conn = state;

    if (conn->shared->user->closing) {
        conn->shared->user->closing(conn);
    }
    broker_session_close(conn->session);
    request_end(conn);
}

//
// Timeouts, and the stop of the process
//

static void finish_conn(struct http1_conn *conn)
{
    request_end(conn);
    conn->state = HTTP1_STATE_FINISHED;
    wire_finish(conn->wire);
}

void http1_expired(void *state)
{
    struct http1_conn *conn = state;
    const struct http1_texts *texts = &conn->shared->user->texts;

    if (conn->state == HTTP1_STATE_WAITING || conn->state == HTTP1_STATE_SLOWED) {
        if (conn->state == HTTP1_STATE_SLOWED) {
            http1_caller_refuse_slowed(conn);
        } else if (!conn->shared->user->expired(conn)) {
            return;
        }
        http1_answered(conn);
        wire_wake(conn->wire);
        return;
    }
    if (conn->state == HTTP1_STATE_HEAD && conn->begun) {
        http1_refuse_status(conn, 408, texts->slow_head);
    } else {
        wire_log_closing(conn->wire, conn->state == HTTP1_STATE_HEAD
                                         ? texts->idle
                                         : "the refused client stays connected");
    }
    finish_conn(conn);
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
void http1_overdue(void *state, enum pace_result result, struct slice kept)
{
    struct http1_conn *conn = state;

    (void)result;
    (void)kept;
    conn->request->keep_alive = false;
    http1_refuse_status(conn, 408, conn->shared->user->texts.slow_body);
    finish_conn(conn);
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
        http1_refuse_later(conn, HTTP1_STOPS);
    }
    request_end(conn);
    conn->state = HTTP1_STATE_FINISHED;
    conn->wire->deadline_at = NSEC_NEVER;
}
