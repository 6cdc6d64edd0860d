/* SPDX-License-Identifier: MIT */
#include "proto_beanstalk/put.h"

#include "core/base/log.h"
#include "proto_common/intake.h"

#include "proto_beanstalk/body.h"

static struct job_spec spec_of(const struct bean_conn *conn, const struct bean_command *command)
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

static void submit(struct bean_conn *conn, const struct job_spec *spec)
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

// The broker asks that of each submission. It is asked here where there is none, and of a body that
// is not there yet, so that no byte of what may not be put is kept: each call is worth 2 % of a
// pipelined put, by tests/budget.
static bool may_put(const struct bean_conn *conn)
{
    return session_may(conn->session, MAY_SUBMIT, conn->used);
}

static void put_at_once(struct bean_conn *conn, const struct bean_command *command,
                        struct feed_turn *turn)
{
    struct job_spec spec = spec_of(conn, command);

    if (bean_body_take(turn, command->bytes, &spec.body)) {
        submit(conn, &spec);
    } else {
        bean_refuse(conn->wire, may_put(conn) ? BEAN_EXPECTED_CRLF : BEAN_FORBIDDEN);
    }
}

static void submit_gathered(struct bean_conn *conn, const struct bean_command *command,
                            struct slice body, struct blob *blob)
{
    struct job_spec spec = spec_of(conn, command);

    if (blob) {
        intake_set_body(&spec, body, blob);
    }
    submit(conn, &spec);
}

static void gather(struct bean_conn *conn, const struct bean_command *command)
{
    struct bean_body *body = bean_body_gather(conn, command, submit_gathered);

    if (!body) {
        return;
    }
    intake_give_way(&body->intake);
    if (command->bytes > BLOB_DIGEST_ABOVE && command->verb != BEAN_PUT_UNIQUE &&
        broker_keys_bodies(conn->shared->broker, queue_name(conn->used))) {
        intake_hash(&body->intake);
    }
}

// Where text that is too much follows the numbers of a put, what follows the line is obeyed, as by
// beanstalkd. A key may be made of anything that a client's user has written: the body behind one
// that is none is never obeyed.
static void refuse_line(struct bean_conn *conn, const struct bean_command *command)
{
    if (command->verb == BEAN_PUT_UNIQUE) {
        bean_body_skip(conn, command->bytes, BEAN_BAD_FORMAT);
    } else {
        bean_refuse(conn->wire, BEAN_BAD_FORMAT);
    }
}

void bean_put_begin(struct bean_conn *conn, const struct bean_command *command,
                    struct feed_turn *turn)
{
    if (command->bytes > conn->shared->options->max_job_size) {
        wire_log_too_large(conn->wire, "a job", command->bytes, BEAN_MAX_JOB_SIZE);
        bean_body_skip(conn, command->bytes, BEAN_JOB_TOO_BIG);
        return;
    }
    if (command->verdict != BEAN_GOOD) {
        refuse_line(conn, command);
        return;
    }
    if (!conn->producer) {
        conn->producer = true;
        conn->shared->producers++;
    }
    if (bean_body_is_whole(turn, command->bytes)) {
        put_at_once(conn, command, turn);
    } else if (!may_put(conn)) {
        bean_body_skip(conn, command->bytes, BEAN_FORBIDDEN);
    } else {
        gather(conn, command);
    }
}
