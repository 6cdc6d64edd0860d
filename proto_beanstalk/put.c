/* SPDX-License-Identifier: MIT */

// Commands that a body follows: `put`, `put-unique` and `complete`. A body that is complete in the
// input is used there. Otherwise it is gathered as it arrives, so that an announced length needs no
// memory. A body that is refused is skipped, and the reply follows its end.

#include "proto_beanstalk/bean_conn.h"

#include "core/base/log.h"
#include "core/base/memory.h"
#include "proto_common/intake.h"

#include <string.h>

// The CRLF after a body.
#define BEAN_TRAILER 2

// A body that is being gathered.
struct bean_body {
    struct intake intake;
    struct bean_command command; // its name and token are not set
    char key[];                  // the key of the command
};

//
// Bodies
//

// Takes the two bytes after a body off the input. False: they are not CRLF; the next command still
// begins after them.
static inline bool bean_take_trailer(struct feed_turn *turn)
{
    bool good = turn->input.ptr[0] == '\r' && turn->input.ptr[1] == '\n';

    turn->input = slice_from(turn->input, BEAN_TRAILER);
    return good;
}

static inline bool bean_body_is_whole(const struct feed_turn *turn, uint32_t bytes)
{
    return turn->input.len >= (size_t)bytes + BEAN_TRAILER;
}

// Takes a body that is whole, and the two bytes after it, off the input. False: they are not CRLF.
static inline bool bean_take_body(struct feed_turn *turn, uint32_t bytes, struct slice *body)
{
    *body = slice_of(turn->input.ptr, bytes);
    turn->input = slice_from(turn->input, bytes);
    return bean_take_trailer(turn);
}

// Skips the next `bytes` of a body and its CRLF, and then replies.
static void bean_skip_body(struct bean_conn *conn, uint64_t bytes, enum bean_answer answer)
{
    conn->state = BEAN_SKIP;
    conn->begun = true;
    conn->doing.skip = (struct bean_skip){.left = bytes + BEAN_TRAILER, .answer = answer};
}

enum step bean_skip_step(struct bean_conn *conn, struct feed_turn *turn)
{
    struct bean_skip *skip = &conn->doing.skip;

    if (!intake_skip(&skip->left, &turn->input)) {
        return STEP_MORE;
    }
    bean_refuse(conn->wire, skip->answer);
    conn->state = BEAN_LINE;
    return STEP_ON;
}

// Only a `put-unique` has a key.
static size_t bean_key_len(const struct bean_command *command)
{
    return command->verb == BEAN_PUT_UNIQUE ? command->key.len : 0;
}

// Begins to gather the body of the command.
static void bean_gather_body(struct bean_conn *conn, const struct bean_command *command)
{
    size_t key = bean_key_len(command);
    struct bean_body *body = memory_alloc(sizeof *body + key);

    if (!body) {
        bean_skip_body(conn, command->bytes, BEAN_OUT_OF_MEMORY);
        return;
    }
    intake_begin(&body->intake, command->bytes);
    body->command = *command;
    if (key > 0) {
        memcpy(body->key, command->key.ptr, key);
        body->command.key = slice_of(body->key, key);
    }
    if (command->verb != BEAN_COMPLETE) {
        intake_give_way(&body->intake);
    }
    if (command->verb == BEAN_PUT && command->bytes > BLOB_DIGEST_ABOVE &&
        broker_keys_bodies(conn->shared->broker, queue_name(conn->used))) {
        intake_hash(&body->intake);
    }
    conn->doing.body = body;
    conn->state = BEAN_BODY;
    conn->begun = true;
}

struct intake *bean_body_intake(struct bean_conn *conn)
{
    return &conn->doing.body->intake;
}

static size_t bean_body_size(const struct bean_body *body)
{
    return sizeof *body + bean_key_len(&body->command);
}

size_t bean_body_holds(const struct bean_conn *conn)
{
    return bean_body_size(conn->doing.body) + intake_holds(&conn->doing.body->intake);
}

void bean_body_discard(struct bean_conn *conn)
{
    struct bean_body *body = conn->doing.body;

    intake_discard(&body->intake);
    memory_free(body, bean_body_size(body));
    conn->doing.body = NULL;
    conn->state = BEAN_LINE;
}

//
// put, put-unique
//

static struct job_spec bean_put_spec(const struct bean_conn *conn,
                                     const struct bean_command *command)
{
    struct job_spec spec = {
        .queue = conn->used,
        .pri = command->pri,
        .start_kind = command->delay ? START_AFTER : START_NOW,
        .start = nsec_from_seconds(command->delay),
        .ttr_for = nsec_from_seconds(command->ttr ? command->ttr : 1),
        .on_fail = ON_FAIL_BURY,
        .on_loss = ON_LOSS_FRONT,
        .durable = true,
    };

    if (command->verb == BEAN_PUT_UNIQUE) {
        spec.key_kind = KEY_NAME;
        spec.key = command->key;
    }
    return spec;
}

static void bean_submit(struct bean_conn *conn, const struct job_spec *spec)
{
    struct submission submission;
    enum status status = broker_submit(conn->shared->broker, spec, conn->session, &submission);

    if (status == STATUS_OK) {
        wire_submitted(conn->wire, broker_position(conn->shared->broker));
        bean_reply_number(&conn->wire->out, SLICE("INSERTED "), submission.id);
        return;
    }
    if (status == STATUS_DRAINING) {
        log_debug("put_refused_draining", log_number("conn", (int64_t)conn->wire->number));
    }
    bean_reply_status(conn->wire, status, BEAN_INTERNAL_ERROR);
}

// broker_submit() checks this too. It is checked here only if there is no submission, and before a
// body is gathered, so that the body of a forbidden put is not stored. Each call is worth 2 % of a
// pipelined put, by tests/budget.
static bool bean_may_put(const struct bean_conn *conn)
{
    return session_may(conn->session, MAY_SUBMIT, conn->used);
}

static void bean_put(struct bean_conn *conn, const struct bean_command *command,
                     struct feed_turn *turn)
{
    struct job_spec spec;

    if (command->validity != BEAN_GOOD && command->verb == BEAN_PUT_UNIQUE) {
        // The key may come from a user of the client, so the body after an invalid one must not be
        // carried out as commands.
        bean_skip_body(conn, command->bytes, BEAN_BAD_FORMAT);
        return;
    }
    if (command->validity != BEAN_GOOD) {
        // As in beanstalkd, the next command is expected right after the line.
        bean_refuse(conn->wire, BEAN_BAD_FORMAT);
        return;
    }
    if (!conn->producer) {
        conn->producer = true;
        conn->shared->producers++;
    }
    if (!bean_body_is_whole(turn, command->bytes)) {
        if (bean_may_put(conn)) {
            bean_gather_body(conn, command);
        } else {
            bean_skip_body(conn, command->bytes, BEAN_FORBIDDEN);
        }
        return;
    }
    spec = bean_put_spec(conn, command);
    if (bean_take_body(turn, command->bytes, &spec.body)) {
        bean_submit(conn, &spec);
    } else {
        bean_refuse(conn->wire, bean_may_put(conn) ? BEAN_EXPECTED_CRLF : BEAN_FORBIDDEN);
    }
}

//
// complete
//

// Completes a job that this connection holds, or held until its TTR ran out.
static void bean_complete(struct bean_conn *conn, const struct bean_command *command,
                          struct feed_turn *turn)
{
    struct slice body;
    struct blob *result = NULL;

    if (!bean_body_is_whole(turn, command->bytes)) {
        bean_gather_body(conn, command);
        return;
    }
    if (!bean_take_body(turn, command->bytes, &body)) {
        bean_refuse(conn->wire, BEAN_EXPECTED_CRLF);
        return;
    }
    if (body.len > 0) {
        result = blob_copy(body);
        if (!result) {
            bean_refuse(conn->wire, BEAN_OUT_OF_MEMORY);
            return;
        }
    }
    bean_reply_changed(conn, broker_complete(conn->session, command->id, result), BEAN_DELETED);
    blob_unref(result);
}

//
// All of them
//

void bean_exec_with_body(struct bean_conn *conn, const struct bean_command *command,
                         struct feed_turn *turn)
{
    bool completes = command->verb == BEAN_COMPLETE;

    if (command->bytes > conn->shared->options->max_job_size) {
        wire_log_too_large(conn->wire, completes ? "a result" : "a job", command->bytes,
                           BEAN_MAX_JOB_SIZE);
        bean_skip_body(conn, command->bytes, BEAN_JOB_TOO_BIG);
    } else if (completes) {
        bean_complete(conn, command, turn);
    } else {
        bean_put(conn, command, turn);
    }
}

enum step bean_body_step(struct bean_conn *conn, struct feed_turn *turn)
{
    struct bean_body *body = conn->doing.body;
    const struct bean_command *command = &body->command;
    enum intake_state state = intake_take(&body->intake, &turn->input);
    struct job_spec spec;
    struct blob *blob;

    if (state == INTAKE_NO_MEMORY) {
        size_t missing = intake_missing(&body->intake);

        bean_body_discard(conn);
        bean_skip_body(conn, missing, BEAN_OUT_OF_MEMORY);
        return STEP_ON;
    }
    if (state == INTAKE_MORE || turn->input.len < BEAN_TRAILER) {
        return STEP_MORE;
    }
    if (!bean_take_trailer(turn)) {
        bean_refuse(conn->wire, BEAN_EXPECTED_CRLF);
        bean_body_discard(conn);
        return STEP_ON;
    }
    blob = intake_len(&body->intake) ? intake_finish(&body->intake) : NULL;
    if (command->verb == BEAN_COMPLETE) {
        bean_reply_changed(conn, broker_complete(conn->session, command->id, blob), BEAN_DELETED);
    } else {
        spec = bean_put_spec(conn, command);
        if (blob) {
            intake_set_body(&spec, blob_slice(blob), blob);
        }
        bean_submit(conn, &spec);
    }
    blob_unref(blob);
    bean_body_discard(conn);
    return STEP_ON;
}
