/* SPDX-License-Identifier: MIT */
#include "proto_beanstalk/body.h"

#include "core/base/blob.h"
#include "core/base/memory.h"

#include <string.h>

static void skip(struct bean_conn *conn, uint64_t left, enum bean_answer answer)
{
    conn->state = BEAN_SKIP;
    conn->begun = true;
    conn->doing.skip = (struct bean_skip){.left = left, .answer = answer};
}

void bean_body_skip(struct bean_conn *conn, uint32_t bytes, enum bean_answer answer)
{
    skip(conn, (uint64_t)bytes + BEAN_TRAILER, answer);
}

// Only a `put-unique` has a key.
static size_t key_len(const struct bean_command *command)
{
    return command->verb == BEAN_PUT_UNIQUE ? command->key.len : 0;
}

static size_t size_of(const struct bean_body *body)
{
    return sizeof *body + key_len(&body->command);
}

struct bean_body *bean_body_gather(struct bean_conn *conn, const struct bean_command *command,
                                   bean_body_fn finish)
{
    size_t key = key_len(command);
    struct bean_body *body = memory_alloc(sizeof *body + key);

    if (!body) {
        bean_body_skip(conn, command->bytes, BEAN_OUT_OF_MEMORY);
        return NULL;
    }
    intake_begin(&body->intake, command->bytes);
    body->finish = finish;
    body->command = *command;
    if (key > 0) {
        memcpy(body->key, command->key.ptr, key);
        body->command.key = slice_of(body->key, key);
    }
    conn->doing.body = body;
    conn->state = BEAN_BODY;
    conn->begun = true;
    return body;
}

// No memory for the rest of the body: it is received all the same, and then answered.
static void give_up(struct bean_conn *conn)
{
    size_t missing = intake_missing(&conn->doing.body->intake);

    bean_body_discard(conn);
    skip(conn, (uint64_t)missing + BEAN_TRAILER, BEAN_OUT_OF_MEMORY);
}

static void finish(struct bean_conn *conn)
{
    struct bean_body *body = conn->doing.body;
    struct blob *blob = intake_len(&body->intake) ? intake_finish(&body->intake) : NULL;

    body->finish(conn, &body->command, blob ? blob_slice(blob) : SLICE(""), blob);
    blob_unref(blob);
}

enum step bean_body_step(struct bean_conn *conn, struct feed_turn *turn)
{
    enum intake_state state = intake_take(&conn->doing.body->intake, &turn->input);

    if (state == INTAKE_NO_MEMORY) {
        give_up(conn);
        return STEP_ON;
    }
    if (state == INTAKE_MORE || turn->input.len < BEAN_TRAILER) {
        return STEP_MORE;
    }
    if (bean_body_take_trailer(turn)) {
        finish(conn);
    } else {
        bean_refuse(conn->wire, BEAN_EXPECTED_CRLF);
    }
    bean_body_discard(conn);
    return STEP_ON;
}

enum step bean_skip_step(struct bean_conn *conn, struct feed_turn *turn)
{
    struct bean_skip *skipped = &conn->doing.skip;

    if (!intake_skip(&skipped->left, &turn->input)) {
        return STEP_MORE;
    }
    bean_refuse(conn->wire, skipped->answer);
    conn->state = BEAN_LINE;
    return STEP_ON;
}

struct intake *bean_body_intake(struct bean_conn *conn)
{
    return &conn->doing.body->intake;
}

size_t bean_body_holds(const struct bean_conn *conn)
{
    return size_of(conn->doing.body) + intake_holds(&conn->doing.body->intake);
}

void bean_body_discard(struct bean_conn *conn)
{
    struct bean_body *body = conn->doing.body;

    intake_discard(&body->intake);
    memory_free(body, size_of(body));
    conn->doing.body = NULL;
    conn->state = BEAN_LINE;
}
