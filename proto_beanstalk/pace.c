/* SPDX-License-Identifier: MIT */
#include "proto_beanstalk/pace.h"

#include "core/base/macros.h"

#include "proto_beanstalk/work.h"

void bean_limits(const void *options, struct pace_limits *limits)
{
    const struct bean_options *ours = options;

    limits->idle_for = nsec_from_seconds((uint64_t)ours->idle_timeout);
    limits->body_for = nsec_from_seconds((uint64_t)ours->body_timeout);
}

static enum pace_kind kind_of(const struct bean_conn *conn)
{
    switch ((enum bean_state)conn->state) {
    case BEAN_LINE:
        return session_is_idle(conn->session) ? PACE_NEXT : PACE_BUSY;
    case BEAN_DISCARD:
    case BEAN_BODY:
    case BEAN_SKIP:
        return PACE_BODY;
    case BEAN_BLOCKED:
    case BEAN_BATCH_BLOCKED:
    case BEAN_BATCHING:
    case BEAN_KICKING:
    case BEAN_CLEARING:
    case BEAN_LISTING:
    case BEAN_GRANTING:
    case BEAN_LATER:
    case BEAN_EARLY:
        return PACE_BUSY;
    case BEAN_FINISHED:
    case BEAN_STATES:
        return PACE_FREE;
    }
    UNREACHABLE();
}

struct pace bean_pace(void *state)
{
    struct bean_conn *conn = state;
    struct pace pace = {.kind = kind_of(conn), .begun = conn->begun};

    conn->begun = false;
    return pace;
}

void bean_overdue(void *state, enum pace_verdict verdict, struct slice kept)
{
    struct bean_conn *conn = state;

    (void)kept;
    wire_log_closing(conn->wire, verdict == PACE_IDLE_OVER ? "no command for beanstalk.idle_timeout"
                                                           : "slower than beanstalk.body_timeout");
    bean_work_discard(conn);
    conn->state = BEAN_FINISHED;
    wire_finish(conn->wire);
}
