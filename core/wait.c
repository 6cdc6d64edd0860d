/* SPDX-License-Identifier: MIT */

// Waiting for a job, and napping until there may be one.

#include "core/broker_private.h"

static void link_subscriptions(struct session *session)
{
    bool waits = session->pose == POSE_WAITING;

    list_each (node, &session->subscribed) {
        struct subscription *subscription = list_item(node, struct subscription, in_session);
        struct queue *queue = subscription_queue(subscription);

        list_append(waits ? &queue->waits : &queue->naps, &subscription->waiting);
        queue->waiting++;
    }
    session->broker->waiting++;
}

static void lie_down(struct session *session, enum pose pose)
{
    session->pose = (uint8_t)pose;
    link_subscriptions(session);
    session->broker->bill += session->subscriptions;
    session_rearm(session);
}

void session_wake(struct session *session)
{
    if (session->pose == POSE_AWAKE) {
        return;
    }
    list_each (node, &session->subscribed) {
        struct subscription *subscription = list_item(node, struct subscription, in_session);

        if (list_linked(&subscription->waiting)) {
            list_remove(&subscription->waiting);
            subscription_queue(subscription)->waiting--;
        }
    }
    session->pose = POSE_AWAKE;
    session->broker->waiting--;
    session->broker->bill += session->subscriptions;
    session_rearm(session);
}

// A lease may get a limit when it is assigned, which is no moment to ask for memory.
static bool make_spare(struct session *session)
{
    struct session_extra *extra;

    if (session->limited == 0) {
        return true;
    }
    extra = session_extra(session);
    if (extra && !extra->spare) {
        extra->spare = slab_calloc(&session->broker->slab, sizeof *extra->spare);
    }
    return extra && extra->spare;
}

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
    if (!make_spare(session)) {
        return STATUS_NO_MEMORY;
    }
    session_wake(session);
    session->until = until;
    lie_down(session, POSE_WAITING);
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
    lie_down(session, POSE_NAPPING);
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

void session_wait_on(struct session *session)
{
    struct subscription *by = NULL;
    struct job *best;

    list_remove(&session->notice);
    if (!make_spare(session)) {
        session->waited_enough = true;
        session->why = WAIT_TIMED_OUT;
        session_notify(session);
        return;
    }
    best = choice_best(session, &by);
    if (best) {
        match_assign(by, best);
    } else {
        lie_down(session, POSE_WAITING);
    }
}
