/* SPDX-License-Identifier: MIT */

// Waiting for a job, and napping until there may be one.

#include "core/choice.h"
#include "core/match.h"
#include "core/waiting.h"

enum status broker_wait(struct session *session, nsec_t until, nsec_t margin_for)
{
    nsec_t now = session->broker->now.mono;

    ENSURE(session->pose != POSE_WAITING && !session->assigned && !session->broker->settling);
    match_pass_on(session, NULL);
    session->margin_ms = margin_for < 0 ? MARGIN_NONE : nsec_to_msec(margin_for);
    if (session_lease_ends_soon(session)) {
        return STATUS_LEASE_SOON;
    }
    if (until <= now) {
        return STATUS_TIMED_OUT;
    }
    if (!session_make_spare(session)) {
        return STATUS_NO_MEMORY;
    }
    session_wake(session);
    session->until = until;
    session_lie_down(session, POSE_WAITING);
    return STATUS_OK;
}

bool broker_nap(struct session *session)
{
    struct subscription *by;

    ENSURE(session->pose != POSE_WAITING && !session->assigned && !session->broker->settling);
    session_wake(session);
    if (choice_best(session, &by)) {
        session->nudged = true;
        session_notify(session);
        return false;
    }
    session_lie_down(session, POSE_NAPPING);
    return true;
}

bool broker_unwait(struct session *session)
{
    ENSURE(!session->broker->settling);
    session_wake(session);
    session->nudged = false;
    session->waited_enough = false;
    if (session->assigned) {
        // Should the job be gone before it is told of, the session does not wait on for long.
        session->until = session->broker->now.mono;
        return false;
    }
    list_remove(&session->notice);
    return true;
}
