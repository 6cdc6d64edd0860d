/* SPDX-License-Identifier: MIT */
#include "proto_beanstalk/report.h"

#include "core/base/blob.h"

#include "proto_beanstalk/body.h"

// As `delete` of a job that this connection holds, or held until its TTR ran out.
static void complete(struct bean_conn *conn, uint64_t id, struct blob *result)
{
    enum status status = broker_complete(conn->session, id, result);

    if (status == STATUS_OK) {
        wire_hold(conn->wire, broker_position(conn->shared->broker));
    }
    bean_reply_status(conn->wire, status, BEAN_DELETED);
}

static void complete_gathered(struct bean_conn *conn, const struct bean_command *command,
                              struct slice body, struct blob *blob)
{
    (void)body;
    complete(conn, command->id, blob);
}

static void complete_at_once(struct bean_conn *conn, const struct bean_command *command,
                             struct feed_turn *turn)
{
    struct slice body;
    struct blob *result = NULL;

    if (!bean_body_take(turn, command->bytes, &body)) {
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
    complete(conn, command->id, result);
    blob_unref(result);
}

void bean_complete_begin(struct bean_conn *conn, const struct bean_command *command,
                         struct feed_turn *turn)
{
    if (command->bytes > conn->shared->options->max_job_size) {
        wire_log_too_large(conn->wire, "a result", command->bytes, BEAN_MAX_JOB_SIZE);
        bean_body_skip(conn, command->bytes, BEAN_JOB_TOO_BIG);
    } else if (bean_body_is_whole(turn, command->bytes)) {
        complete_at_once(conn, command, turn);
    } else {
        (void)bean_body_gather(conn, command, complete_gathered);
    }
}

void bean_progress(struct bean_conn *conn, const struct bean_command *command)
{
    const struct job_event event = {
        .kind = JOB_EVENT_PROGRESS, .numerator = command->done, .denominator = command->total};

    if (broker_report_waits(conn->session, command->id)) {
        // It is read again, and counted then.
        conn->shared->commands[BEAN_PROGRESS]--;
        conn->state = BEAN_EARLY;
        return;
    }
    bean_reply_status(conn->wire, broker_report(conn->session, command->id, &event), BEAN_REPORTED);
}
