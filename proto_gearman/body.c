/* SPDX-License-Identifier: MIT */
#include "proto_gearman/body.h"

#include "core/base/blob.h"

#include "proto_gearman/exec.h"
#include "proto_gearman/reply.h"
#include "proto_gearman/worker.h"

#include <stdlib.h>
#include <string.h>

// Where more than this is missing, the host is told to receive it in its place.
#define DIRECT_MIN ((size_t)16384)

struct gear_body {
    struct gear_packet packet; // its arguments are in `args`
    struct blob_builder data;
    char args[];
};

static size_t args_len(const struct gear_packet *packet)
{
    size_t len = 0;

    for (unsigned i = 0; i < gear_type_args(packet->type); i++) {
        len += packet->args[i].len;
    }
    return len;
}

static void copy_args(struct gear_body *body, const struct gear_packet *packet)
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

// The rest is received all the same: what follows it is the next message.
static void refuse_rest(struct gear_conn *conn, const struct gear_packet *packet, size_t left)
{
    gear_data_lost(conn, packet);
    gear_refuse(conn, GEAR_REFUSE_MEMORY);
    conn->doing.skip = left;
    conn->state = GEAR_SKIP;
}

void gear_body_begin(struct gear_conn *conn, const struct gear_packet *packet, size_t len)
{
    struct gear_body *body = malloc(sizeof *body + args_len(packet));

    if (!body) {
        refuse_rest(conn, packet, len);
        return;
    }
    copy_args(body, packet);
    blob_builder_init(&body->data, len);
    conn->doing.body = body;
    conn->state = GEAR_BODY;
}

static void body_free(struct gear_body *body)
{
    blob_builder_discard(&body->data);
    free(body);
}

void gear_body_discard(struct gear_conn *conn)
{
    body_free(conn->doing.body);
    conn->doing.body = NULL;
    conn->state = GEAR_MESSAGE;
}

// No memory for the rest.
static void give_up(struct gear_conn *conn)
{
    struct gear_body *body = conn->doing.body;

    refuse_rest(conn, &body->packet, blob_builder_missing(&body->data));
    body_free(body);
}

// The packet may move the connection on to another state: it is carried out when the body's own is
// over.
static void finish(struct gear_conn *conn)
{
    struct gear_body *body = conn->doing.body;
    struct blob *data = blob_builder_finish(&body->data);

    conn->doing.body = NULL;
    conn->state = GEAR_MESSAGE;
    if (data) {
        body->packet.data = blob_slice(data);
        body->packet.blob = data;
        gear_exec(conn, &body->packet);
    } else {
        gear_data_lost(conn, &body->packet);
        gear_refuse(conn, GEAR_REFUSE_MEMORY);
    }
    blob_unref(data);
    free(body);
}

enum gear_step gear_body_step(struct gear_conn *conn, struct gear_turn *turn)
{
    struct blob_builder *data = &conn->doing.body->data;
    size_t missing = blob_builder_missing(data);
    bool room = blob_builder_take(data, turn->input) != (size_t)-1;

    // Without room, a part of the input may have been taken all the same.
    turn->input = slice_from(turn->input, missing - blob_builder_missing(data));
    if (!room) {
        give_up(conn);
    } else if (blob_builder_missing(data) > 0) {
        return GEAR_STEP_MORE;
    } else if (gear_report_waits(conn, &conn->doing.body->packet)) {
        return GEAR_STEP_AGAIN;
    } else {
        finish(conn);
    }
    return GEAR_STEP_ON;
}

void gear_body_into(struct gear_conn *conn, struct feed *feed)
{
    struct blob_builder *data = &conn->doing.body->data;

    if (blob_builder_missing(data) < DIRECT_MIN) {
        return;
    }
    if (!blob_builder_room(data, &feed->into, &feed->into_len)) {
        feed->into = NULL;
        feed->into_len = 0;
        give_up(conn);
    }
}

void gear_body_filled(struct gear_conn *conn, size_t len)
{
    blob_builder_filled(&conn->doing.body->data, len);
}
