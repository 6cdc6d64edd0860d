/* SPDX-License-Identifier: MIT */
#include "proto_beanstalk/put.h"

#include "core/base/blob.h"
#include "core/base/log.h"
#include "proto_common/intake.h"

#include <stdlib.h>

// The CRLF behind a body.
#define TRAILER 2

// A body on its way.
struct bean_put {
    struct intake body;
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
static bool take_trailer(struct feed_turn *turn)
{
    bool good = turn->input.ptr[0] == '\r' && turn->input.ptr[1] == '\n';

    turn->input = slice_from(turn->input, TRAILER);
    return good;
}

static void put_at_once(struct bean_conn *conn, const struct bean_command *command,
                        struct feed_turn *turn)
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
    intake_begin(&put->body, command->bytes);
    put->pri = command->pri;
    put->delay = command->delay;
    put->ttr = command->ttr;
    conn->doing.put = put;
    conn->state = BEAN_BODY;
}

void bean_put_begin(struct bean_conn *conn, const struct bean_command *command,
                    struct feed_turn *turn)
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
    size_t missing = intake_missing(&conn->doing.put->body);

    bean_put_discard(conn);
    skip_body(conn, (uint64_t)missing + TRAILER, BEAN_OUT_OF_MEMORY);
}

static void submit_gathered(struct bean_conn *conn)
{
    struct bean_put *put = conn->doing.put;
    struct job_spec spec = spec_of(conn, put->pri, put->delay, put->ttr);
    struct blob *body = intake_len(&put->body) ? intake_finish(&put->body) : NULL;

    if (body) {
        intake_set_body(&spec, blob_slice(body), body);
    }
    submit(conn, &spec);
    blob_unref(body);
}

enum step bean_put_step(struct bean_conn *conn, struct feed_turn *turn)
{
    enum intake_state body = intake_take(&conn->doing.put->body, &turn->input);

    if (body == INTAKE_NO_MEMORY) {
        give_up_body(conn);
        return STEP_ON;
    }
    if (body == INTAKE_MORE || turn->input.len < TRAILER) {
        return STEP_MORE;
    }
    if (take_trailer(turn)) {
        submit_gathered(conn);
    } else {
        bean_reply(&conn->wire->out, BEAN_EXPECTED_CRLF);
    }
    bean_put_discard(conn);
    return STEP_ON;
}

enum step bean_skip_step(struct bean_conn *conn, struct feed_turn *turn)
{
    struct bean_skip *skip = &conn->doing.skip;

    if (!intake_skip(&skip->left, &turn->input)) {
        return STEP_MORE;
    }
    bean_reply(&conn->wire->out, skip->answer);
    conn->state = BEAN_LINE;
    return STEP_ON;
}

struct intake *bean_put_intake(struct bean_conn *conn)
{
    return &conn->doing.put->body;
}

void bean_put_discard(struct bean_conn *conn)
{
    intake_discard(&conn->doing.put->body);
    free(conn->doing.put);
    conn->doing.put = NULL;
    conn->state = BEAN_LINE;
}
