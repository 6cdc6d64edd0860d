/* SPDX-License-Identifier: MIT */
#include "admin/job_add.h"

#include "core/base/base64.h"
#include "core/broker.h"
#include "admin/context.h"
#include "admin/input.h"
#include "admin/reply.h"

#include <inttypes.h>

#define TTR_PRESET 60

// The body as text, or as base64, which is decoded where it stands.
static struct slice read_body(struct input *input)
{
    struct slice text = SLICE("");
    struct slice encoded;
    bool plain = input_text(input, "body", &text);
    size_t len;

    if (!input_text(input, "body_base64", &encoded)) {
        return text;
    }
    if (plain) {
        input_blame(input, 400, "give either body or body_base64, not both");
    } else if (!base64_decode(encoded, (char *)(uintptr_t)encoded.ptr, &len)) {
        input_blame(input, 400, "body_base64 is not valid base64");
    } else {
        text = slice_of(encoded.ptr, len);
    }
    return text;
}

static void read_key(struct input *input, struct job_spec *spec)
{
    if (!input_text(input, "key", &spec->key)) {
        return;
    }
    if (spec->key.len == 0 || spec->key.len > JOB_KEY_MAX) {
        input_blame(input, 400, "key must have 1 to %d bytes", JOB_KEY_MAX);
    }
    spec->key_kind = KEY_NAME;
}

static void read_spec(struct input *input, struct slice *queue, struct job_spec *spec)
{
    static const char *const members[] = {
        "queue",       "queue_path", "body",         "body_base64", "priority", "delay_seconds",
        "ttr_seconds", "key",        "max_attempts", "on_failure",  NULL};
    static const char *const failures[] = {"bury", "drop", NULL};
    uint64_t pri = PRI_NORMAL;
    uint64_t ttr = TTR_PRESET;
    uint64_t attempts = 0;
    size_t on_fail = 0;

    input_members(input, members);
    if (!input_queue(input, queue)) {
        input_blame(input, 400, "queue is missing");
    }
    (void)input_number(input, "priority", UINT32_MAX, &pri);
    (void)input_number(input, "ttr_seconds", UINT32_MAX, &ttr);
    (void)input_number(input, "max_attempts", JOB_ATTEMPTS_MAX, &attempts);
    (void)input_word(input, "on_failure", failures, &on_fail);
    *spec = (struct job_spec){
        .pri = (uint32_t)pri,
        .ttr_for = nsec_from_seconds((uint32_t)ttr),
        .max_attempts = (uint32_t)attempts,
        .on_fail = on_fail == 0 ? ON_FAIL_BURY : ON_FAIL_DROP,
        .durable = true,
    };
    if (input_seconds(input, "delay_seconds", &spec->start) && spec->start > 0) {
        spec->start_kind = START_AFTER;
    }
    read_key(input, spec);
    spec->body = read_body(input);
}

enum http1_next job_add_answer(struct http1_conn *conn, struct slice body, struct blob *blob)
{
    struct broker *broker = admin_broker(conn);
    struct submission submission;
    enum http1_next next;
    struct job_spec spec;
    struct slice queue;
    struct input input;
    enum status status;

    (void)blob;
    input_begin_job(&input, conn, body);
    read_spec(&input, &queue, &spec);
    if (!input_good(&input)) {
        next = input_refuse(&input);
        goto out;
    }
    status = broker_submit_to(broker, queue, &spec, conn->session, &submission);
    if (status != STATUS_OK) {
        next = admin_refuse_status(conn, status);
        goto out;
    }
    wire_submitted(conn->wire, broker_position(broker));
    next = admin_reply_json(
        conn, 201,
        json_pack("{s:I, s:b}", "id", (json_int_t)submission.id, "joined", (int)submission.joined));
out:
    input_end(&input);
    return next;
}
