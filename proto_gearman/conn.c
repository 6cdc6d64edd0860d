/* SPDX-License-Identifier: MIT */
#include "proto_gearman/conn.h"

#include "core/base/macros.h"
#include "proto_common/wrong_protocol.h"

#include "proto_gearman/ability.h"
#include "proto_gearman/admin.h"
#include "proto_gearman/body.h"
#include "proto_gearman/caller.h"
#include "proto_gearman/exec.h"
#include "proto_gearman/packet.h"
#include "proto_gearman/reply.h"
#include "proto_gearman/worker.h"

#include <string.h>

// The longest line of text, with its end.
#define LINE_MAX ((size_t)8192)
// A packet with data is left with the host until it is complete, if it is no longer than this.
#define WHOLE_MAX ((size_t)16384)

// A packet or a line.
static void begin(const struct gear_conn *conn, struct feed_turn *turn)
{
    turn->budget--;
    conn->shared->commands++;
}

//
// Lines
//

static enum step step_line(struct gear_conn *conn, struct feed_turn *turn, bool first)
{
    struct slice window = turn->input;
    const char *end;
    struct slice line;

    if (window.len > LINE_MAX) {
        window.len = LINE_MAX;
    }
    end = memchr(window.ptr, '\n', window.len);
    if (first && wrong_protocol_at_start(conn->wire, window)) {
        conn->state = GEAR_FINISHED;
        return STEP_ON;
    }
    if (!end && window.len < LINE_MAX) {
        return STEP_MORE;
    }
    line = slice_of(window.ptr, end ? (size_t)(end - window.ptr) : window.len);
    turn->input = slice_from(turn->input, end ? line.len + 1 : line.len);
    begin(conn, turn);
    conn->past_first = true;
    if (line.len > 0 && line.ptr[line.len - 1] == '\r') {
        line.len--;
    }
    if (!end) {
        wire_log_closing(conn->wire, "its line is too long");
        conn->state = GEAR_FINISHED;
    } else if (first && wrong_protocol_in_line(conn->wire, line)) {
        conn->state = GEAR_FINISHED;
    } else {
        gear_admin(conn, line);
    }
    return STEP_ON;
}

//
// Packets
//

static enum step skip(struct gear_conn *conn, size_t left)
{
    conn->doing.skip = left;
    conn->state = left > 0 ? GEAR_SKIP : GEAR_MESSAGE;
    conn->begun = true;
    return STEP_ON;
}

// Answers, and passes over the whole packet: what follows it is the next message.
static enum step refuse(struct gear_conn *conn, struct feed_turn *turn,
                        const struct gear_head *head, enum gear_refusal refusal)
{
    turn->input = slice_from(turn->input, GEAR_HEADER);
    begin(conn, turn);
    gear_refuse(conn, refusal);
    return skip(conn, head->len);
}

// The data of the packet is larger than a setting allows.
static enum step refuse_large(struct gear_conn *conn, struct feed_turn *turn,
                              const struct gear_head *head, const struct gear_packet *packet,
                              size_t size)
{
    if (!gear_type_reports_data(head->type)) {
        wire_log_too_large(conn->wire, gear_type_submits(head->type) ? "a job" : "an echo", size,
                           GEAR_MAX_JOB_SIZE);
        return refuse(conn, turn, head, GEAR_REFUSE_LARGE_WORKLOAD);
    }
    begin(conn, turn);
    gear_report_too_large(conn, packet, size);
    turn->input = slice_from(turn->input, GEAR_HEADER);
    return skip(conn, head->len);
}

// What a schedule that matches rarely costs to look up.
#define SCHEDULE_COST 32

// The packet, an OPTION_REQ, stays where it is.
static void leave_packet(struct feed_turn *turn, const struct gear_packet *packet)
{
    const char *start = packet->args[0].ptr - GEAR_HEADER;

    turn->input = slice_of(start, (size_t)(slice_end(turn->input) - start));
}

// The arguments are known. `missing` bytes of the data are not there, and then all the input that
// is left belongs to it.
static enum step take_packet(struct gear_conn *conn, struct feed_turn *turn,
                             const struct gear_packet *packet, size_t missing)
{
    const char *end = slice_end(packet->data);

    if (gear_report_waits(conn, packet)) {
        return STEP_AGAIN;
    }
    begin(conn, turn);
    if (missing > 0) {
        turn->input = packet->data;
        gear_body_begin(conn, packet, packet->data.len + missing);
        return STEP_ON;
    }
    turn->input = slice_from(turn->input, (size_t)(end - turn->input.ptr));
    gear_exec(conn, packet);
    if (conn->state == GEAR_LATER) {
        leave_packet(turn, packet);
    }
    if (packet->type == GEAR_SUBMIT_JOB_SCHED) {
        turn->budget -= turn->budget < SCHEDULE_COST ? turn->budget : SCHEDULE_COST;
    }
    return STEP_ON;
}

// The arguments are not all there, but may still come.
static enum step want_arguments(struct gear_conn *conn, struct feed_turn *turn,
                                const struct gear_head *head, size_t missing)
{
    if (head->len - missing >= GEAR_FIXED_MAX) {
        return refuse(conn, turn, head, GEAR_REFUSE_LONG_ARGUMENT);
    }
    return missing > 0 ? STEP_MORE : refuse(conn, turn, head, GEAR_REFUSE_TOO_FEW_ARGUMENTS);
}

static enum step step_known(struct gear_conn *conn, struct feed_turn *turn,
                            const struct gear_head *head)
{
    struct slice body = slice_from(turn->input, GEAR_HEADER);
    size_t missing = body.len < head->len ? head->len - body.len : 0;
    struct gear_packet packet;

    if (!gear_type_has_data(head->type) && head->len > GEAR_FIXED_MAX) {
        return refuse(conn, turn, head, GEAR_REFUSE_LONG_ARGUMENT);
    }
    if (missing > 0 && head->len <= WHOLE_MAX) {
        return STEP_MORE;
    }
    body.len = head->len - missing;
    if (!gear_packet_split((enum gear_type)head->type, body, missing == 0, &packet)) {
        return want_arguments(conn, turn, head, missing);
    }
    if (body.len - packet.data.len > GEAR_FIXED_MAX) {
        return refuse(conn, turn, head, GEAR_REFUSE_LONG_ARGUMENT);
    }
    if (packet.data.len + missing > conn->shared->options->max_job_size) {
        return refuse_large(conn, turn, head, &packet, packet.data.len + missing);
    }
    return take_packet(conn, turn, &packet, missing);
}

// Nothing that such a peer goes on to send can be trusted, or waited for.
static enum step give_up(struct gear_conn *conn, enum gear_refusal refusal)
{
    gear_refuse(conn, refusal);
    conn->state = GEAR_FINISHED;
    return STEP_ON;
}

static enum step step_packet(struct gear_conn *conn, struct feed_turn *turn)
{
    struct gear_head head;

    conn->past_first = true;
    if (turn->input.len < GEAR_HEADER) {
        return gear_magic_good(turn->input) ? STEP_MORE : give_up(conn, GEAR_REFUSE_MAGIC);
    }
    head = gear_head_read(turn->input.ptr);
    if (head.magic == GEAR_MAGIC_BAD) {
        return give_up(conn, GEAR_REFUSE_MAGIC);
    }
    if (head.len > conn->shared->options->max_job_size + GEAR_FIXED_MAX &&
        !(head.magic == GEAR_MAGIC_REQ && gear_type_reports_data(head.type))) {
        wire_log_too_large(conn->wire, "a packet", head.len, GEAR_MAX_JOB_SIZE);
        return give_up(conn, GEAR_REFUSE_LARGE_WORKLOAD);
    }
    if (head.magic == GEAR_MAGIC_RES) {
        return refuse(conn, turn, &head, GEAR_REFUSE_MAGIC);
    }
    if (!gear_type_known(head.type)) {
        return refuse(conn, turn, &head, GEAR_REFUSE_COMMAND);
    }
    return step_known(conn, turn, &head);
}

//
// States
//

// All that are there: a step for each would make a submission 2 % dearer.
static enum step step_messages(struct gear_conn *conn, struct feed_turn *turn)
{
    while (turn->input.len > 0) {
        enum step step;

        if (feed_turn_is_over(turn, conn->wire)) {
            return STEP_AGAIN;
        }
        step = *turn->input.ptr == 0 ? step_packet(conn, turn)
                                     : step_line(conn, turn, !conn->past_first);
        if (step != STEP_ON || conn->state != GEAR_MESSAGE) {
            return step;
        }
        if (turn->input.len > 0) {
            feed_turn_charge(turn, conn->shared->broker);
        }
    }
    return STEP_MORE;
}

static enum step step_skip(struct gear_conn *conn, struct feed_turn *turn)
{
    if (!intake_skip(&conn->doing.skip, &turn->input)) {
        return STEP_MORE;
    }
    conn->state = GEAR_MESSAGE;
    return STEP_ON;
}

static enum step step_unsubscribing(struct gear_conn *conn, struct feed_turn *turn)
{
    (void)turn;
    return gear_unsubscribe_step(conn);
}

static enum step step_ending_timeouts(struct gear_conn *conn, struct feed_turn *turn)
{
    (void)turn;
    return gear_end_timeouts_step(conn);
}

static enum step step_listing(struct gear_conn *conn, struct feed_turn *turn)
{
    (void)turn;
    return gear_listing_step(conn);
}

static enum step step_dropping(struct gear_conn *conn, struct feed_turn *turn)
{
    (void)turn;
    return gear_drop_step(conn);
}

static enum step step_granting(struct gear_conn *conn, struct feed_turn *turn)
{
    (void)turn;
    return gear_grant_step(conn);
}

// Until a moment comes.
static enum step step_later(struct gear_conn *conn, struct feed_turn *turn)
{
    (void)conn;
    (void)turn;
    return STEP_BLOCKED;
}

static enum step step_finished(struct gear_conn *conn, struct feed_turn *turn)
{
    (void)conn;
    (void)turn;
    return STEP_FINISHED;
}

typedef enum step (*step_fn)(struct gear_conn *conn, struct feed_turn *turn);

static const step_fn steps_of_states[GEAR_STATES] = {
    [GEAR_MESSAGE] = step_messages,
    [GEAR_BODY] = gear_body_step,
    [GEAR_SKIP] = step_skip,
    [GEAR_UNSUBSCRIBING] = step_unsubscribing,
    [GEAR_ENDING_TIMEOUTS] = step_ending_timeouts,
    [GEAR_LISTING] = step_listing,
    [GEAR_DROPPING] = step_dropping,
    [GEAR_GRANTING] = step_granting,
    [GEAR_LATER] = step_later,
    [GEAR_FINISHED] = step_finished,
};

static enum step make_step(void *state, struct feed_turn *turn)
{
    struct gear_conn *conn = state;

    return steps_of_states[conn->state](conn, turn);
}

static struct intake *intake_of(void *state)
{
    struct gear_conn *conn = state;

    return conn->state == GEAR_BODY ? gear_body_intake(conn) : NULL;
}

static const struct steps steps = {.make = make_step, .intake = intake_of};

struct feed gear_feed(void *state, struct slice input, unsigned budget)
{
    struct gear_conn *conn = state;

    return steps_feed(&steps, conn, conn->wire, conn->shared->broker, input, budget);
}

struct feed gear_filled(void *state, size_t len, unsigned budget)
{
    steps_take(&steps, state, len);
    return gear_feed(state, SLICE(""), budget);
}
