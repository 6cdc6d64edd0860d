/* SPDX-License-Identifier: MIT */

// Finds the messages in the input of a connection, packets and lines, in any order. A packet with
// much data is received in pieces: its data is gathered in memory that grows with the bytes that
// arrive. A packet that is refused is skipped, and the next message begins after it.

#include "proto_gearman/gear_conn.h"

#include "core/base/macros.h"
#include "core/base/memory.h"
#include "proto_common/intake.h"
#include "proto_common/wrong_protocol.h"

#include "proto_gearman/gear_admin.h"
#include "proto_gearman/gear_reply.h"

#include <string.h>

// The longest line of text, including its end.
#define LINE_MAX ((size_t)8192)
// A packet with data of at most this length stays with the host until it is complete.
#define WHOLE_MAX ((size_t)16384)
// What the search for the next moment of a schedule costs of a turn's budget.
#define SCHEDULE_COST 32

static void gear_count_message(const struct gear_conn *conn, struct feed_turn *turn)
{
    turn->budget--;
    conn->shared->commands++;
}

//
// Lines
//

static enum step gear_line_step(struct gear_conn *conn, struct feed_turn *turn, bool first)
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
    gear_count_message(conn, turn);
    conn->first_message_seen = true;
    if (line.len > 0 && line.ptr[line.len - 1] == '\r') {
        line.len--;
    }
    if (!end) {
        wire_log_closing(conn->wire, "its line is too long");
        conn->state = GEAR_FINISHED;
    } else if (first && wrong_protocol_in_line(conn->wire, line)) {
        conn->state = GEAR_FINISHED;
    } else if (first &&
               wrong_protocol_is_proxy(
                   conn->wire, slice_of(line.ptr, (size_t)(slice_end(turn->input) - line.ptr)))) {
        gear_refuse_proxy(conn);
        conn->state = GEAR_FINISHED;
    } else {
        gear_admin(conn, line);
    }
    return STEP_ON;
}

//
// Data that arrives in pieces
//

struct gear_body {
    struct gear_packet packet; // its arguments are in `args`
    struct intake data;
    char args[];
};

static size_t gear_body_size(const struct gear_packet *packet)
{
    size_t size = sizeof(struct gear_body);

    for (unsigned i = 0; i < gear_type_args(packet->type); i++) {
        size += packet->args[i].len;
    }
    return size;
}

static void gear_copy_args(struct gear_body *body, const struct gear_packet *packet)
{
    char *at = body->args;

    body->packet = *packet;
    for (unsigned i = 0; i < gear_type_args(packet->type); i++) {
        struct slice *arg = &body->packet.args[i];

        if (arg->len > 0) {
            memcpy(at, arg->ptr, arg->len);
        }
        arg->ptr = at;
        at += arg->len;
    }
}

static void gear_skip(struct gear_conn *conn, size_t bytes)
{
    conn->doing.skip = bytes;
    conn->state = bytes > 0 ? GEAR_SKIP : GEAR_MESSAGE;
    conn->begun = true;
}

static void gear_refuse_data(struct gear_conn *conn, const struct gear_packet *packet,
                             size_t missing, enum gear_refusal why)
{
    gear_data_lost(conn, packet);
    gear_refuse(conn, why);
    gear_skip(conn, missing);
}

// Begins to gather the data, of which `len` bytes are still to come, of a packet whose arguments
// are complete.
static void gear_body_begin(struct gear_conn *conn, const struct gear_packet *packet, size_t len)
{
    struct gear_body *body;

    // Data of a forbidden submission is not stored. Other submissions are checked by the broker.
    if (gear_type_submits(packet->type) &&
        !session_may_by_name(conn->session, MAY_SUBMIT, packet->args[0])) {
        gear_refuse_data(conn, packet, len, GEAR_REFUSE_FORBIDDEN);
        return;
    }
    body = memory_alloc(gear_body_size(packet));
    if (!body) {
        gear_refuse_data(conn, packet, len, GEAR_REFUSE_MEMORY);
        return;
    }
    gear_copy_args(body, packet);
    intake_begin(&body->data, len);
    if (gear_type_submits(packet->type)) {
        intake_give_way(&body->data);
        if (contract_keys_body(conn->shared->broker, packet->args[0], packet->args[1], len)) {
            intake_hash(&body->data);
        }
    }
    conn->doing.body = body;
    conn->state = GEAR_BODY;
    conn->begun = true;
}

static void gear_body_free(struct gear_body *body)
{
    intake_discard(&body->data);
    memory_free(body, gear_body_size(&body->packet));
}

void gear_body_discard(struct gear_conn *conn)
{
    gear_body_free(conn->doing.body);
    conn->doing.body = NULL;
    conn->state = GEAR_MESSAGE;
}

size_t gear_body_holds(const struct gear_conn *conn)
{
    const struct gear_body *body = conn->doing.body;

    return gear_body_size(&body->packet) + intake_holds(&body->data);
}

// Whether the packet is a report that must wait until the reports before it have been sent. This is
// asked for every packet.
static inline bool gear_report_waits(const struct gear_conn *conn, const struct gear_packet *packet)
{
    bool report = packet->type == GEAR_WORK_STATUS || packet->type == GEAR_WORK_DATA ||
                  packet->type == GEAR_WORK_WARNING;

    return report && gear_report_is_early(conn, packet);
}

static enum step gear_body_step(struct gear_conn *conn, struct feed_turn *turn)
{
    struct gear_body *body = conn->doing.body;
    struct blob *data;

    switch (intake_take(&body->data, &turn->input)) {
    case INTAKE_MORE:
        return STEP_MORE;
    case INTAKE_NO_MEMORY:
        gear_refuse_data(conn, &body->packet, intake_missing(&body->data), GEAR_REFUSE_MEMORY);
        gear_body_free(body);
        return STEP_ON;
    case INTAKE_COMPLETE:
        break;
    }
    if (gear_report_waits(conn, &body->packet)) {
        return STEP_AGAIN;
    }
    // The packet is carried out after this state has ended, because it may set another one.
    conn->doing.body = NULL;
    conn->state = GEAR_MESSAGE;
    data = intake_finish(&body->data);
    if (data) {
        body->packet.data = blob_slice(data);
        body->packet.blob = data;
        gear_exec(conn, &body->packet);
    } else {
        gear_data_lost(conn, &body->packet);
        gear_refuse(conn, GEAR_REFUSE_MEMORY);
    }
    blob_unref(data);
    memory_free(body, gear_body_size(&body->packet));
    return STEP_ON;
}

static enum step gear_skip_step(struct gear_conn *conn, struct feed_turn *turn)
{
    if (!intake_skip(&conn->doing.skip, &turn->input)) {
        return STEP_MORE;
    }
    conn->state = GEAR_MESSAGE;
    return STEP_ON;
}

//
// Packets
//

// Replies with an ERROR, and skips the whole packet.
static enum step gear_refuse_packet(struct gear_conn *conn, struct feed_turn *turn,
                                    const struct gear_head *head, enum gear_refusal refusal)
{
    turn->input = slice_from(turn->input, GEAR_HEADER);
    gear_count_message(conn, turn);
    gear_refuse(conn, refusal);
    gear_skip(conn, head->len);
    return STEP_ON;
}

// The data of the packet, `size` bytes, exceeds max_job_size.
static enum step gear_refuse_large(struct gear_conn *conn, struct feed_turn *turn,
                                   const struct gear_head *head, const struct gear_packet *packet,
                                   size_t size)
{
    if (!gear_type_reports_data(head->type)) {
        wire_log_too_large(conn->wire, gear_type_submits(head->type) ? "a job" : "an echo", size,
                           GEAR_MAX_JOB_SIZE);
        return gear_refuse_packet(conn, turn, head, GEAR_REFUSE_LARGE_WORKLOAD);
    }
    gear_count_message(conn, turn);
    gear_report_too_large(conn, packet, size);
    turn->input = slice_from(turn->input, GEAR_HEADER);
    gear_skip(conn, head->len);
    return STEP_ON;
}

// The arguments are complete. If `missing` bytes of the data have not arrived, all remaining input
// is data.
static enum step gear_take_packet(struct gear_conn *conn, struct feed_turn *turn,
                                  const struct gear_packet *packet, size_t missing)
{
    const char *end = slice_end(packet->data);

    if (gear_report_waits(conn, packet)) {
        return STEP_AGAIN;
    }
    gear_count_message(conn, turn);
    if (missing > 0) {
        turn->input = packet->data;
        gear_body_begin(conn, packet, packet->data.len + missing);
        return STEP_ON;
    }
    turn->input = slice_from(turn->input, (size_t)(end - turn->input.ptr));
    gear_exec(conn, packet);
    if (conn->state == GEAR_AUTH_LATER) {
        // The packet, an OPTION_REQ, stays in the input.
        const char *start = packet->args[0].ptr - GEAR_HEADER;

        turn->input = slice_of(start, (size_t)(slice_end(turn->input) - start));
    }
    if (packet->type == GEAR_SUBMIT_JOB_SCHED) {
        turn->budget -= turn->budget < SCHEDULE_COST ? turn->budget : SCHEDULE_COST;
    }
    return STEP_ON;
}

static enum step gear_known_packet_step(struct gear_conn *conn, struct feed_turn *turn,
                                        const struct gear_head *head)
{
    struct slice body = slice_from(turn->input, GEAR_HEADER);
    size_t missing = body.len < head->len ? head->len - body.len : 0;
    struct gear_packet packet;

    if (!gear_type_has_data(head->type) && head->len > GEAR_FIXED_MAX) {
        return gear_refuse_packet(conn, turn, head, GEAR_REFUSE_LONG_ARGUMENT);
    }
    if (missing > 0 && head->len <= WHOLE_MAX) {
        return STEP_MORE;
    }
    body.len = head->len - missing;
    if (!gear_packet_split((enum gear_type)head->type, body, missing == 0, &packet)) {
        if (body.len >= GEAR_FIXED_MAX) {
            return gear_refuse_packet(conn, turn, head, GEAR_REFUSE_LONG_ARGUMENT);
        }
        return missing > 0 ? STEP_MORE
                           : gear_refuse_packet(conn, turn, head, GEAR_REFUSE_TOO_FEW_ARGUMENTS);
    }
    if (body.len - packet.data.len > GEAR_FIXED_MAX) {
        return gear_refuse_packet(conn, turn, head, GEAR_REFUSE_LONG_ARGUMENT);
    }
    if (packet.data.len + missing > conn->shared->options->max_job_size) {
        return gear_refuse_large(conn, turn, head, &packet, packet.data.len + missing);
    }
    return gear_take_packet(conn, turn, &packet, missing);
}

// The peer does not speak the protocol, or is about to send too much: the connection is closed.
static enum step gear_give_up(struct gear_conn *conn, enum gear_refusal refusal)
{
    gear_refuse(conn, refusal);
    conn->state = GEAR_FINISHED;
    return STEP_ON;
}

static enum step gear_packet_step(struct gear_conn *conn, struct feed_turn *turn)
{
    struct gear_head head;

    conn->first_message_seen = true;
    if (turn->input.len < GEAR_HEADER) {
        return gear_magic_good(turn->input) ? STEP_MORE : gear_give_up(conn, GEAR_REFUSE_MAGIC);
    }
    head = gear_head_read(turn->input.ptr);
    if (head.magic == GEAR_MAGIC_BAD) {
        return gear_give_up(conn, GEAR_REFUSE_MAGIC);
    }
    if (head.len > conn->shared->options->max_job_size + GEAR_FIXED_MAX &&
        !(head.magic == GEAR_MAGIC_REQ && gear_type_reports_data(head.type))) {
        wire_log_too_large(conn->wire, "a packet", head.len, GEAR_MAX_JOB_SIZE);
        return gear_give_up(conn, GEAR_REFUSE_LARGE_WORKLOAD);
    }
    if (head.magic == GEAR_MAGIC_RES) {
        return gear_refuse_packet(conn, turn, &head, GEAR_REFUSE_MAGIC);
    }
    if (!gear_type_known(head.type)) {
        return gear_refuse_packet(conn, turn, &head, GEAR_REFUSE_COMMAND);
    }
    return gear_known_packet_step(conn, turn, &head);
}

//
// States
//

// Handles all messages in the input: a step for each would make a submission 2 % slower.
static enum step gear_messages_step(struct gear_conn *conn, struct feed_turn *turn)
{
    while (turn->input.len > 0) {
        enum step step;

        if (feed_turn_is_over(turn, conn->wire)) {
            return STEP_AGAIN;
        }
        step = *turn->input.ptr == 0 ? gear_packet_step(conn, turn)
                                     : gear_line_step(conn, turn, !conn->first_message_seen);
        if (step != STEP_ON || conn->state != GEAR_MESSAGE) {
            return step;
        }
        if (turn->input.len > 0) {
            feed_turn_charge(turn, conn->shared->broker);
        }
    }
    return STEP_MORE;
}

static enum step gear_blocked_step(struct gear_conn *conn, struct feed_turn *turn)
{
    (void)conn;
    (void)turn;
    return STEP_BLOCKED;
}

static enum step gear_finished_step(struct gear_conn *conn, struct feed_turn *turn)
{
    (void)conn;
    (void)turn;
    return STEP_FINISHED;
}

typedef enum step (*gear_step_fn)(struct gear_conn *conn, struct feed_turn *turn);

static const gear_step_fn gear_steps_of_states[GEAR_STATES] = {
    [GEAR_MESSAGE] = gear_messages_step,
    [GEAR_BODY] = gear_body_step,
    [GEAR_SKIP] = gear_skip_step,
    [GEAR_UNSUBSCRIBING] = gear_unsubscribe_step,
    [GEAR_ENDING_TIMEOUTS] = gear_end_timeouts_step,
    [GEAR_LISTING] = gear_listing_step,
    [GEAR_DROPPING] = gear_drop_step,
    [GEAR_GRANTING] = gear_grant_step,
    [GEAR_AUTH_LATER] = gear_blocked_step,
    [GEAR_FINISHED] = gear_finished_step,
};

static enum step gear_make_step(void *state, struct feed_turn *turn)
{
    struct gear_conn *conn = state;

    return gear_steps_of_states[conn->state](conn, turn);
}

static struct intake *gear_intake(void *state)
{
    struct gear_conn *conn = state;

    return conn->state == GEAR_BODY ? &conn->doing.body->data : NULL;
}

static const struct steps gear_steps = {.make = gear_make_step, .intake = gear_intake};

struct feed gear_feed(void *state, struct slice input, unsigned budget)
{
    struct gear_conn *conn = state;

    return steps_feed(&gear_steps, conn, conn->wire, conn->shared->broker, input, budget);
}

struct feed gear_filled(void *state, size_t len, unsigned budget)
{
    steps_take(&gear_steps, state, len);
    return gear_feed(state, SLICE(""), budget);
}
