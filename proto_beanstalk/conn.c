/* SPDX-License-Identifier: MIT */
#include "proto_beanstalk/conn.h"

#include "core/base/macros.h"
#include "proto_common/wrong_protocol.h"

#include "proto_beanstalk/batch.h"
#include "proto_beanstalk/body.h"
#include "proto_beanstalk/caller.h"
#include "proto_beanstalk/clear.h"
#include "proto_beanstalk/exec.h"
#include "proto_beanstalk/listing.h"

#include <string.h>

// The first CRLF, NULL for none; a lone CR or LF is a byte like any other.
static const char *line_end(struct slice input)
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

// Takes the line and its CRLF off the input. False where it is the first and comes from a browser
// that was tricked into speaking to this port: nothing of what follows may be obeyed.
static bool take_line(struct bean_conn *conn, struct feed_turn *turn, struct slice line)
{
    bool first = !conn->past_first;

    turn->input = slice_from(turn->input, line.len + 2);
    conn->past_first = true;
    if (first && wrong_protocol_in_line(conn->wire, line)) {
        conn->state = BEAN_FINISHED;
        return false;
    }
    return true;
}

// No line ends in the first BEAN_LINE_MAX bytes: the end of one that may be longer, NULL for none;
// `*more` says whether it may still come.
static APART const char *long_line_end(const struct bean_conn *conn, struct slice input, bool *more)
{
    bool longer = bean_extensions(conn->shared) && bean_is_put_unique(input);
    size_t most = longer ? BEAN_KEY_LINE_MAX : BEAN_LINE_MAX;

    *more = input.len < most;
    return line_end(slice_of(input.ptr, *more ? input.len : most));
}

static enum step run_line(struct bean_conn *conn, struct feed_turn *turn, struct slice line)
{
    turn->budget--;
    if (take_line(conn, turn, line)) {
        bean_exec(conn, line, turn);
    }
    // Mostly a line comes alone: worth 2 % of a put, by tests/budget.
    if (turn->input.len == 0 && conn->state == BEAN_LINE) {
        return STEP_MORE;
    }
    if (conn->state == BEAN_LATER || conn->state == BEAN_EARLY) {
        turn->input = slice_of(line.ptr, (size_t)(slice_end(turn->input) - line.ptr));
    }
    return STEP_ON;
}

static enum step step_line(struct bean_conn *conn, struct feed_turn *turn)
{
    struct slice window = turn->input;
    bool more = false;
    const char *end;

    if (window.len == 0) {
        return STEP_MORE;
    }
    if (!conn->past_first && wrong_protocol_at_start(conn->wire, window)) {
        conn->state = BEAN_FINISHED;
        return STEP_ON;
    }
    if (feed_turn_is_over(turn, conn->wire)) {
        return STEP_AGAIN;
    }
    if (window.len > BEAN_LINE_MAX) {
        window.len = BEAN_LINE_MAX;
    }
    end = line_end(window);
    if (!end) {
        end = long_line_end(conn, turn->input, &more);
    }
    if (end) {
        return run_line(conn, turn, slice_of(window.ptr, (size_t)(end - window.ptr)));
    }
    if (more) {
        return STEP_MORE;
    }
    conn->state = BEAN_DISCARD;
    conn->begun = true;
    return STEP_ON;
}

static enum step step_discard(struct bean_conn *conn, struct feed_turn *turn)
{
    const char *start = turn->input.ptr;
    const char *end = line_end(turn->input);

    if (end) {
        conn->state = BEAN_LINE;
        if (take_line(conn, turn, slice_of(start, (size_t)(end - start)))) {
            bean_refuse(conn->wire, BEAN_BAD_FORMAT);
        }
        return STEP_ON;
    }
    if (turn->input.len > WRONG_PROTOCOL_TAIL) {
        turn->input = slice_from(turn->input, turn->input.len - WRONG_PROTOCOL_TAIL);
    }
    return STEP_MORE;
}

static enum step step_kick(struct bean_conn *conn, struct feed_turn *turn)
{
    (void)turn;
    return bean_kick_step(conn);
}

static enum step step_clear(struct bean_conn *conn, struct feed_turn *turn)
{
    (void)turn;
    return bean_clear_step(conn);
}

static enum step step_listing(struct bean_conn *conn, struct feed_turn *turn)
{
    return bean_listing_step(conn, turn);
}

static enum step step_granting(struct bean_conn *conn, struct feed_turn *turn)
{
    (void)turn;
    return bean_grant_step(conn);
}

// Until a job, or a moment, comes.
static enum step step_blocked(struct bean_conn *conn, struct feed_turn *turn)
{
    (void)conn;
    (void)turn;
    return STEP_BLOCKED;
}

// In the next turn, what was to be told before has been told.
static enum step step_early(struct bean_conn *conn, struct feed_turn *turn)
{
    (void)turn;
    conn->state = BEAN_LINE;
    return STEP_AGAIN;
}

static enum step step_finished(struct bean_conn *conn, struct feed_turn *turn)
{
    (void)conn;
    (void)turn;
    return STEP_FINISHED;
}

typedef enum step (*step_fn)(struct bean_conn *conn, struct feed_turn *turn);

static const step_fn steps_of_states[BEAN_STATES] = {
    [BEAN_LINE] = step_line,           [BEAN_DISCARD] = step_discard,
    [BEAN_BODY] = bean_body_step,      [BEAN_SKIP] = bean_skip_step,
    [BEAN_BLOCKED] = step_blocked,     [BEAN_BATCH_BLOCKED] = step_blocked,
    [BEAN_BATCHING] = bean_batch_step, [BEAN_KICKING] = step_kick,
    [BEAN_CLEARING] = step_clear,      [BEAN_LISTING] = step_listing,
    [BEAN_GRANTING] = step_granting,   [BEAN_LATER] = step_blocked,
    [BEAN_EARLY] = step_early,         [BEAN_FINISHED] = step_finished,
};

static enum step make_step(void *state, struct feed_turn *turn)
{
    struct bean_conn *conn = state;

    return steps_of_states[conn->state](conn, turn);
}

static struct intake *intake_of(void *state)
{
    struct bean_conn *conn = state;

    return conn->state == BEAN_BODY ? bean_body_intake(conn) : NULL;
}

static const struct steps steps = {.make = make_step, .intake = intake_of};

struct feed bean_feed(void *state, struct slice input, unsigned budget)
{
    struct bean_conn *conn = state;

    return steps_feed(&steps, conn, conn->wire, conn->shared->broker, input, budget);
}

struct feed bean_filled(void *state, size_t len, unsigned budget)
{
    steps_take(&steps, state, len);
    return bean_feed(state, SLICE(""), budget);
}
