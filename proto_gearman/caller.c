/* SPDX-License-Identifier: MIT */
#include "proto_gearman/caller.h"

#include "core/base/macros.h"

#include "proto_gearman/reply.h"

// What it may not work any more gives it nothing: it has asked for that itself. A worker that can
// do very many functions is answered when all of them have been judged.
static void grant(struct gear_conn *conn, struct grants *grants)
{
    if (broker_session_grant(conn->session, grants) == GRANT_MORE) {
        conn->state = GEAR_GRANTING;
    } else {
        conn->state = GEAR_MESSAGE;
        gear_reply_data(conn, GEAR_OPTION_RES, SLICE("auth"), NULL);
    }
}

enum step gear_grant_step(struct gear_conn *conn)
{
    grant(conn, broker_session_grants(conn->session));
    return conn->state == GEAR_GRANTING ? STEP_AGAIN : STEP_ON;
}

void gear_auth(struct gear_conn *conn, struct slice token)
{
    const struct wire_claim claim = {.token = &token};
    struct wire_caller caller;

    if (!wire_token_valid(token)) {
        gear_refuse(conn, GEAR_REFUSE_TOKEN);
        return;
    }
    caller = wire_identify(conn->wire, &claim);
    switch (caller.kind) {
    case CALLER_ADDRESS:
    case CALLER_KNOWN:
        grant(conn, caller.grants);
        return;
    case CALLER_UNKNOWN:
        gear_refuse(conn, GEAR_REFUSE_FORBIDDEN);
        return;
    case CALLER_LATER:
        conn->wire->deadline_at = caller.again_at;
        conn->state = GEAR_LATER;
        return;
    }
    UNREACHABLE();
}

void gear_auth_expired(struct gear_conn *conn)
{
    if (conn->state == GEAR_LATER) {
        conn->state = GEAR_MESSAGE;
        wire_wake(conn->wire);
    }
}

bool gear_may_follow(const struct gear_conn *conn, const struct job *job)
{
    const struct queue *queue = job_queue(conn->shared->broker, job);

    return session_may(conn->session, MAY_OBSERVE, queue) ||
           session_may(conn->session, MAY_SUBMIT, queue);
}

bool gear_may_submit(const struct gear_conn *conn, const struct gear_packet *packet)
{
    return !gear_type_submits(packet->type) ||
           session_may_by_name(conn->session, MAY_SUBMIT, packet->args[0]);
}
