/* SPDX-License-Identifier: MIT */

// Waiting for a job, or for a nudge when there may be one.

#include "core/choice.h"
#include "core/match.h"
#include "core/session_private.h"

enum status broker_wait(struct session *session, nsec_t until, nsec_t margin_for)
{
    nsec_t now = session->broker->now.mono;

    ENSURE(session->wait_state != WAITING_FOR_JOB && !session->assigned &&
           !session->broker->settling);
    if (session_is_barred(session)) {
        return STATUS_FORBIDDEN;
    }
    session_works(session);
    match_pass_nudge_on(session, NULL);
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
    session_stop_waiting(session);
    session->until = until;
    session_begin_waiting(session, WAITING_FOR_JOB);
    return STATUS_OK;
}

bool broker_await_nudge(struct session *session)
{
    struct subscription *by;

    ENSURE(session->wait_state != WAITING_FOR_JOB && !session->assigned &&
           !session->broker->settling);
    session_works(session);
    session_stop_waiting(session);
    if (choice_best(session, &by)) {
        session->nudged = true;
        session_notify(session);
        return false;
    }
    session_begin_waiting(session, WAITING_FOR_NUDGE);
    return true;
}

bool broker_unwait(struct session *session)
{
    ENSURE(!session->broker->settling);
    session_stop_waiting(session);
    session->nudged = false;
    session->waited_enough = false;
    if (session->assigned) {
        // Should the job be gone before it is told of, the session does not wait on for long.
        session->until = session->broker->now.mono;
        return false;
    }
    if (!session->emptied) {
        list_remove(&session->notice);
    }
    return true;
}
