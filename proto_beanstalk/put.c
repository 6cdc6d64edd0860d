/* SPDX-License-Identifier: MIT */
#include "proto_beanstalk/put.h"

#include "core/base/blob.h"
#include "core/base/log.h"

#include <stdlib.h>

// The CRLF behind a body.
#define TRAILER 2
// Where more than this is missing, the host is told to receive the body in its place.
#define DIRECT_MIN ((size_t)16384)
// A body longer than this is handed over as it was gathered; a shorter one is copied, so that the
// job is one piece of memory.
#define COPIED_MAX ((size_t)4096)

// A body on its way.
struct bean_put {
    struct blob_builder body;
    uint32_t pri, delay, ttr; // as in struct bean_command
};

static struct job_spec spec_of(const struct bean_conn *conn, uint32_t pri, uint32_t delay,
                               uint32_t ttr)
{
    return (struct job_spec){
        .queue = conn->used,
        .pri = pri,
        .start_kind = delay ? START_AFTER : START_NOW,
        .start = nsec_from_seconds(delay),
        .ttr_for = nsec_from_seconds(ttr ? ttr : 1),
        .on_fail = ON_FAIL_BURY,
        .on_loss = ON_LOSS_FRONT,
        .durable = true,
    };
}

static void submit(struct bean_conn *conn, const struct job_spec *spec)
{
    struct submission submission;
    enum status status = broker_submit(conn->shared->broker, spec, NULL, &submission);

    if (status == STATUS_OK) {
        wire_submitted(conn->wire, broker_position(conn->shared->broker));
        bean_reply_number(&conn->wire->out, SLICE("INSERTED "), submission.id);
        return;
    }
    if (status == STATUS_DRAINING) {
        log_debug("put_refused_draining", log_number("conn", (int64_t)conn->wire->number));
    }
    bean_reply_status(&conn->wire->out, status, BEAN_INTERNAL_ERROR);
}

// Takes the two bytes behind a body off the input. They are gone even where they are not CRLF:
// what follows them is the next command.
static bool take_trailer(struct bean_turn *turn)
{
    bool good = turn->input.ptr[0] == '\r' && turn->input.ptr[1] == '\n';

    turn->input = slice_from(turn->input, TRAILER);
    return good;
}

static void put_at_once(struct bean_conn *conn, const struct bean_command *command,
                        struct bean_turn *turn)
{
    struct job_spec spec = spec_of(conn, command->pri, command->delay, command->ttr);

    spec.body = slice_of(turn->input.ptr, command->bytes);
    turn->input = slice_from(turn->input, command->bytes);
    if (take_trailer(turn)) {
        submit(conn, &spec);
    } else {
        bean_reply(&conn->wire->out, BEAN_EXPECTED_CRLF);
    }
}

static void skip_body(struct bean_conn *conn, uint64_t left, enum bean_answer answer)
{
    conn->state = BEAN_SKIP;
    conn->doing.skip = (struct bean_skip){.left = left, .answer = answer};
}

static void gather_body(struct bean_conn *conn, const struct bean_command *command)
{
    struct bean_put *put = malloc(sizeof *put);

    if (!put) {
        skip_body(conn, (uint64_t)command->bytes + TRAILER, BEAN_OUT_OF_MEMORY);
        return;
    }
    blob_builder_init(&put->body, command->bytes);
    put->pri = command->pri;
    put->delay = command->delay;
    put->ttr = command->ttr;
    conn->doing.put = put;
    conn->state = BEAN_BODY;
}

void bean_put_begin(struct bean_conn *conn, const struct bean_command *command,
                    struct bean_turn *turn)
{
    if (command->bytes > conn->shared->options->max_job_size) {
        skip_body(conn, (uint64_t)command->bytes + TRAILER, BEAN_JOB_TOO_BIG);
        return;
    }
    if (command->verdict != BEAN_GOOD) {
        bean_reply(&conn->wire->out, BEAN_BAD_FORMAT);
        return;
    }
    if (!conn->producer) {
        conn->producer = true;
        conn->shared->producers++;
    }
    if (turn->input.len >= (size_t)command->bytes + TRAILER) {
        put_at_once(conn, command, turn);
    } else {
        gather_body(conn, command);
    }
}

// No memory for the rest of the body: it is received all the same, and then answered.
static void give_up_body(struct bean_conn *conn)
{
    size_t missing = blob_builder_missing(&conn->doing.put->body);

    bean_put_discard(conn);
    skip_body(conn, (uint64_t)missing + TRAILER, BEAN_OUT_OF_MEMORY);
}

static void submit_gathered(struct bean_conn *conn)
{
    struct bean_put *put = conn->doing.put;
    struct job_spec spec = spec_of(conn, put->pri, put->delay, put->ttr);
    struct blob *body = put->body.total ? blob_builder_finish(&put->body) : NULL;

    if (body && body->len > COPIED_MAX) {
        spec.body_blob = body;
    } else if (body) {
        spec.body = blob_slice(body);
    }
    submit(conn, &spec);
    blob_unref(body);
}

enum bean_step bean_put_step(struct bean_conn *conn, struct bean_turn *turn)
{
    struct blob_builder *body = &conn->doing.put->body;
    size_t missing = blob_builder_missing(body);
    bool room = blob_builder_take(body, turn->input) != (size_t)-1;

    // Without room, a part of the input may have been taken all the same.
    turn->input = slice_from(turn->input, missing - blob_builder_missing(body));
    if (!room) {
        give_up_body(conn);
        return BEAN_STEP_ON;
    }
    if (blob_builder_missing(body) > 0 || turn->input.len < TRAILER) {
        return BEAN_STEP_MORE;
    }
    if (take_trailer(turn)) {
        submit_gathered(conn);
    } else {
        bean_reply(&conn->wire->out, BEAN_EXPECTED_CRLF);
    }
    bean_put_discard(conn);
    return BEAN_STEP_ON;
}

enum bean_step bean_skip_step(struct bean_conn *conn, struct bean_turn *turn)
{
    struct bean_skip *skip = &conn->doing.skip;
    size_t taken = turn->input.len < skip->left ? turn->input.len : (size_t)skip->left;

    turn->input = slice_from(turn->input, taken);
    skip->left -= taken;
    if (skip->left > 0) {
        return BEAN_STEP_MORE;
    }
    bean_reply(&conn->wire->out, skip->answer);
    conn->state = BEAN_LINE;
    return BEAN_STEP_ON;
}

void bean_put_into(struct bean_conn *conn, struct feed *feed)
{
    struct blob_builder *body = &conn->doing.put->body;

    if (blob_builder_missing(body) < DIRECT_MIN) {
        return;
    }
    if (!blob_builder_room(body, &feed->into, &feed->into_len)) {
        feed->into = NULL;
        feed->into_len = 0;
        give_up_body(conn);
    }
}

void bean_put_filled(struct bean_conn *conn, size_t len)
{
    blob_builder_filled(&conn->doing.put->body, len);
}

void bean_put_discard(struct bean_conn *conn)
{
    blob_builder_discard(&conn->doing.put->body);
    free(conn->doing.put);
    conn->doing.put = NULL;
    conn->state = BEAN_LINE;
}
