/* SPDX-License-Identifier: MIT */
#include "proto_gearman/pace.h"

#include "core/base/macros.h"

#include "proto_gearman/body.h"
#include "proto_gearman/reply.h"

void gear_limits(const void *options, struct pace_limits *limits)
{
    const struct gear_options *ours = options;

    limits->idle_for = nsec_from_seconds((uint64_t)ours->idle_timeout);
    limits->body_for = nsec_from_seconds((uint64_t)ours->body_timeout);
}

static enum pace_kind kind_of(const struct gear_conn *conn)
{
    switch ((enum gear_state)conn->state) {
    case GEAR_MESSAGE:
        return session_is_idle(conn->session) ? PACE_NEXT : PACE_BUSY;
    case GEAR_BODY:
    case GEAR_SKIP:
        return PACE_BODY;
    case GEAR_UNSUBSCRIBING:
    case GEAR_ENDING_TIMEOUTS:
    case GEAR_LISTING:
    case GEAR_DROPPING:
    case GEAR_GRANTING:
    case GEAR_LATER:
        return PACE_BUSY;
    case GEAR_FINISHED:
    case GEAR_STATES:
        return PACE_FREE;
    }
    UNREACHABLE();
}

struct pace gear_pace(void *state)
{
    struct gear_conn *conn = state;
    struct pace pace = {.kind = kind_of(conn), .begun = conn->begun};

    conn->begun = false;
    return pace;
}

// Whether a packet has begun, the beginning of which the host keeps or which is being received.
static bool is_in_packet(const struct gear_conn *conn, struct slice kept)
{
    return conn->state != GEAR_MESSAGE || (kept.len > 0 && *kept.ptr == 0);
}

void gear_overdue(void *state, enum pace_verdict verdict, struct slice kept)
{
    struct gear_conn *conn = state;
    bool idle = verdict == PACE_IDLE_OVER;

    wire_log_closing(conn->wire, idle ? "no message for gearman.idle_timeout"
                                      : "slower than gearman.body_timeout");
    if (!idle && is_in_packet(conn, kept)) {
        gear_refuse(conn, GEAR_REFUSE_SLOW);
    }
    if (conn->state == GEAR_BODY) {
        gear_body_discard(conn);
    }
    conn->state = GEAR_FINISHED;
    wire_finish(conn->wire);
}
