/* SPDX-License-Identifier: MIT */
#include "proto_gearman/body.h"

#include "core/base/blob.h"
#include "core/base/memory.h"
#include "proto_common/contract.h"
#include "proto_common/intake.h"

#include "proto_gearman/caller.h"
#include "proto_gearman/exec.h"
#include "proto_gearman/reply.h"
#include "proto_gearman/worker.h"

#include <string.h>

struct gear_body {
    struct gear_packet packet; // its arguments are in `args`
    struct intake data;
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

static size_t body_size(const struct gear_packet *packet)
{
    return sizeof(struct gear_body) + args_len(packet);
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
static void refuse_rest(struct gear_conn *conn, const struct gear_packet *packet, size_t left,
                        enum gear_refusal why)
{
    gear_data_lost(conn, packet);
    gear_refuse(conn, why);
    conn->doing.skip = left;
    conn->state = GEAR_SKIP;
    conn->begun = true;
}

void gear_body_begin(struct gear_conn *conn, const struct gear_packet *packet, size_t len)
{
    struct gear_body *body;

    // Nothing is kept of a workload that may not be submitted. Of another, the broker asks again.
    if (!gear_may_submit(conn, packet)) {
        refuse_rest(conn, packet, len, GEAR_REFUSE_FORBIDDEN);
        return;
    }
    body = memory_alloc(body_size(packet));
    if (!body) {
        refuse_rest(conn, packet, len, GEAR_REFUSE_MEMORY);
        return;
    }
    copy_args(body, packet);
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

static void body_free(struct gear_body *body)
{
    intake_discard(&body->data);
    memory_free(body, body_size(&body->packet));
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

    refuse_rest(conn, &body->packet, intake_missing(&body->data), GEAR_REFUSE_MEMORY);
    body_free(body);
}

// The packet may move the connection on to another state: it is carried out when the body's own is
// over.
static void finish(struct gear_conn *conn)
{
    struct gear_body *body = conn->doing.body;
    struct blob *data = intake_finish(&body->data);

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
    memory_free(body, body_size(&body->packet));
}

enum step gear_body_step(struct gear_conn *conn, struct feed_turn *turn)
{
    switch (intake_take(&conn->doing.body->data, &turn->input)) {
    case INTAKE_MORE:
        return STEP_MORE;
    case INTAKE_NO_MEMORY:
        give_up(conn);
        return STEP_ON;
    case INTAKE_COMPLETE:
        break;
    }
    if (gear_report_waits(conn, &conn->doing.body->packet)) {
        return STEP_AGAIN;
    }
    finish(conn);
    return STEP_ON;
}

struct intake *gear_body_intake(struct gear_conn *conn)
{
    return &conn->doing.body->data;
}

size_t gear_body_holds(const struct gear_conn *conn)
{
    const struct gear_body *body = conn->doing.body;

    return body_size(&body->packet) + intake_holds(&body->data);
}
