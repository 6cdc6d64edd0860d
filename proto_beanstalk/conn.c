/* SPDX-License-Identifier: MIT */
#include "proto_beanstalk/bean_conn.h"

#include "proto_common/wrong_protocol.h"

#include <string.h>

// The first CRLF, NULL if there is none; a CR or LF alone is a byte like any other.
static const char *bean_line_end(struct slice input)
{
    const char *at = input.ptr;
    const char *end = slice_end(input);

    while (at < end) {
        const char *cr = memchr(at, '\r', (size_t)(end - at));

        if (!cr || cr + 1 == end) {
            return NULL;
        }
        if (cr[1] == '\n') {
            return cr;
        }
        at = cr + 1;
    }
    return NULL;
}

// The end of a line that may be longer than BEAN_LINE_MAX, NULL if there is none; `*more` says
// whether more input may contain it.
static APART const char *bean_long_line_end(const struct bean_conn *conn, struct slice input,
                                            bool *more)
{
    bool longer = bean_extensions(conn->shared) && bean_is_put_unique(input);
    size_t most = longer ? BEAN_KEY_LINE_MAX : BEAN_LINE_MAX;

    *more = input.len < most;
    return bean_line_end(slice_of(input.ptr, *more ? input.len : most));
}

// Whether the first line is a command. It may be an HTTP request, which a browser was tricked into
// sending, so that no command in it may be carried out; or a head of the PROXY protocol. Then the
// connection is finished. Apart: this is worth 1 % of a put.
static APART bool bean_check_first_line(struct bean_conn *conn, struct slice line,
                                        const char *input_end)
{
    conn->first_line_done = true;
    if (wrong_protocol_in_line(conn->wire, line)) {
        conn->state = BEAN_FINISHED;
    } else if (wrong_protocol_is_proxy(conn->wire,
                                       slice_of(line.ptr, (size_t)(input_end - line.ptr)))) {
        bean_refuse(conn->wire, BEAN_BAD_FORMAT);
        conn->state = BEAN_FINISHED;
    }
    return conn->state != BEAN_FINISHED;
}

// Takes the line and its CRLF off the input. False: it is the first line and not a command.
static inline bool bean_take_line(struct bean_conn *conn, struct feed_turn *turn, struct slice line)
{
    turn->input = slice_from(turn->input, line.len + 2);
    return conn->first_line_done || bean_check_first_line(conn, line, slice_end(turn->input));
}

static enum step bean_run_line(struct bean_conn *conn, struct feed_turn *turn, struct slice line)
{
    turn->budget--;
    if (bean_take_line(conn, turn, line)) {
        bean_exec(conn, line, turn);
    }
    // Usually a line comes alone. This is worth 2 % of a put, by tests/budget.
    if (turn->input.len == 0 && conn->state == BEAN_LINE) {
        return STEP_MORE;
    }
    if (conn->state == BEAN_AUTH_LATER || conn->state == BEAN_PROGRESS_NEXT) {
        turn->input = slice_of(line.ptr, (size_t)(slice_end(turn->input) - line.ptr));
    }
    return STEP_ON;
}

static enum step bean_line_step(struct bean_conn *conn, struct feed_turn *turn)
{
    struct slice window = turn->input;
    bool more = false;
    const char *end;

    if (window.len == 0) {
        return STEP_MORE;
    }
    if (!conn->first_line_done && wrong_protocol_at_start(conn->wire, window)) {
        conn->state = BEAN_FINISHED;
        return STEP_ON;
    }
    if (feed_turn_is_over(turn, conn->wire)) {
        return STEP_AGAIN;
    }
    if (window.len > BEAN_LINE_MAX) {
        window.len = BEAN_LINE_MAX;
    }
    end = bean_line_end(window);
    if (!end) {
        end = bean_long_line_end(conn, turn->input, &more);
    }
    if (end) {
        return bean_run_line(conn, turn, slice_of(window.ptr, (size_t)(end - window.ptr)));
    }
    if (more) {
        return STEP_MORE;
    }
    conn->state = BEAN_DISCARD;
    conn->begun = true;
    return STEP_ON;
}

static enum step bean_discard_step(struct bean_conn *conn, struct feed_turn *turn)
{
    const char *start = turn->input.ptr;
    const char *end = bean_line_end(turn->input);

    if (end) {
        conn->state = BEAN_LINE;
        if (bean_take_line(conn, turn, slice_of(start, (size_t)(end - start)))) {
            bean_refuse(conn->wire, BEAN_BAD_FORMAT);
        }
        return STEP_ON;
    }
    if (turn->input.len > WRONG_PROTOCOL_TAIL) {
        turn->input = slice_from(turn->input, turn->input.len - WRONG_PROTOCOL_TAIL);
    }
    return STEP_MORE;
}

static enum step bean_blocked_step(struct bean_conn *conn, struct feed_turn *turn)
{
    (void)conn;
    (void)turn;
    return STEP_BLOCKED;
}

// In the next turn, the reports before this one have been sent.
static enum step bean_progress_step(struct bean_conn *conn, struct feed_turn *turn)
{
    (void)turn;
    conn->state = BEAN_LINE;
    return STEP_AGAIN;
}

static enum step bean_finished_step(struct bean_conn *conn, struct feed_turn *turn)
{
    (void)conn;
    (void)turn;
    return STEP_FINISHED;
}

typedef enum step (*bean_step_fn)(struct bean_conn *conn, struct feed_turn *turn);

static const bean_step_fn bean_steps_of_states[BEAN_STATES] = {
    [BEAN_LINE] = bean_line_step,
    [BEAN_DISCARD] = bean_discard_step,
    [BEAN_BODY] = bean_body_step,
    [BEAN_SKIP] = bean_skip_step,
    [BEAN_BLOCKED] = bean_blocked_step,
    [BEAN_BATCH_BLOCKED] = bean_blocked_step,
    [BEAN_BATCHING] = bean_batch_step,
    [BEAN_KICKING] = bean_kick_step,
    [BEAN_CLEARING] = bean_clear_step,
    [BEAN_LISTING] = bean_listing_step,
    [BEAN_GRANTING] = bean_grant_step,
    [BEAN_AUTH_LATER] = bean_blocked_step,
    [BEAN_PROGRESS_NEXT] = bean_progress_step,
    [BEAN_FINISHED] = bean_finished_step,
};

static enum step bean_make_step(void *state, struct feed_turn *turn)
{
    struct bean_conn *conn = state;

    return bean_steps_of_states[conn->state](conn, turn);
}

static struct intake *bean_intake(void *state)
{
    struct bean_conn *conn = state;

    return conn->state == BEAN_BODY ? bean_body_intake(conn) : NULL;
}

static const struct steps bean_steps = {.make = bean_make_step, .intake = bean_intake};

struct feed bean_feed(void *state, struct slice input, unsigned budget)
{
    struct bean_conn *conn = state;

    return steps_feed(&bean_steps, conn, conn->wire, conn->shared->broker, input, budget);
}

struct feed bean_filled(void *state, size_t len, unsigned budget)
{
    steps_take(&bean_steps, state, len);
    return bean_feed(state, SLICE(""), budget);
}
