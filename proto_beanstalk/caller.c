/* SPDX-License-Identifier: MIT */
#include "proto_beanstalk/caller.h"

#include "core/base/macros.h"

// What it may not watch any more gives it nothing: it has asked for that itself. A connection that
// watches very many tubes is answered when all of them have been judged.
static void grant(struct bean_conn *conn, struct grants *grants)
{
    if (broker_session_grant(conn->session, grants) == GRANT_MORE) {
        conn->state = BEAN_GRANTING;
    } else {
        conn->state = BEAN_LINE;
        bean_reply(&conn->wire->out, BEAN_OK);
    }
}

enum step bean_grant_step(struct bean_conn *conn)
{
    grant(conn, broker_session_grants(conn->session));
    return conn->state == BEAN_GRANTING ? STEP_AGAIN : STEP_ON;
}

void bean_auth(struct bean_conn *conn, const struct bean_command *command)
{
    const struct wire_claim claim = {.token = &command->token};
    const struct wire_caller caller = wire_identify(conn->wire, &claim);

    switch (caller.kind) {
    case CALLER_ADDRESS:
    case CALLER_KNOWN:
        grant(conn, caller.grants);
        return;
    case CALLER_UNKNOWN:
        bean_reply(&conn->wire->out, BEAN_FORBIDDEN);
        return;
    case CALLER_LATER:
        conn->wire->deadline_at = caller.again_at;
        conn->state = BEAN_LATER;
        return;
    }
    UNREACHABLE();
}

void bean_auth_expired(struct bean_conn *conn)
{
    if (conn->state == BEAN_LATER) {
        conn->state = BEAN_LINE;
        wire_wake(conn->wire);
    }
}

const struct job *bean_look_up(const struct bean_conn *conn, uint64_t id)
{
    const struct broker *broker = conn->shared->broker;
    const struct job *job = broker_find(broker, id);
    bool may = job && (session_may(conn->session, MAY_OBSERVE, job_queue(broker, job)) ||
                       job_held_by(broker, job, conn->session));

    return may ? job : NULL;
}

bool bean_may_use(const struct bean_conn *conn, struct slice name)
{
    return session_may_by_name(conn->session, MAY_SUBMIT, name) ||
           session_may_by_name(conn->session, MAY_OBSERVE, name) ||
           session_may_by_name(conn->session, MAY_OPERATE, name);
}
