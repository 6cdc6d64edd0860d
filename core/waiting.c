/* SPDX-License-Identifier: MIT */
#include "core/subscription.h"
#include "core/session_private.h"

#include "core/charge.h"
#include "core/job_private.h"
#include "core/queue_private.h"

//
// Where there are very many
//

// From the first of them on, in the ticks that follow.
static void begin_relinking(struct session *session)
{
    struct session_wide *wide = session->extra->wide;
    struct broker *broker = session->broker;
    bool kept;

    subscription_walk_end(&wide->linking);
    subscription_walk_begin(&wide->linking, session);
    kept = subscription_walk_keep(&wide->linking);
    ENSURE(kept); // it has its extra part
    list_remove(&wide->relinking);
    list_append(&broker->matching.relinking, &wide->relinking);
    broker->rare = true;
}

static void end_relinking(struct session *session)
{
    subscription_walk_end(&session->extra->wide->linking);
    list_remove(&session->extra->wide->relinking);
}

void subscription_wait_along(struct subscription *subscription)
{
    if (!subscription->session->unlinking && !list_linked(&subscription->waiting)) {
        subscription_wait(subscription);
    }
}

// Makes or undoes the next link. False where there is none: the session is as it is to be, or links
// of its last wait are gone and those of the present one are made from now on.
static bool relink_next(struct session *session)
{
    struct subscription *next = session->extra->wide->linking.next;

    if (!next) {
        return false;
    }
    (void)subscription_walk_next(&session->extra->wide->linking);
    if (session->unlinking) {
        subscription_stop_waiting(next);
    } else if (!next->barred) {
        subscription_wait_along(next);
    }
    return true;
}

static void relink_finished(struct session *session)
{
    bool waits = session->unlinking && session->wait_state != WAITING_NOT;

    session->unlinking = false;
    if (waits) {
        begin_relinking(session);
    } else {
        end_relinking(session);
    }
}

// As far as the budget reaches, in links; the others have their turn first.
static void relink_some(struct session *session, unsigned *links)
{
    struct session_wide *wide = session->extra->wide;

    list_remove(&wide->relinking);
    list_append(&session->broker->matching.relinking, &wide->relinking);
    for (; *links > 0 && session_relinks(session); --*links) {
        if (!relink_next(session)) {
            relink_finished(session);
        }
    }
}

void waiting_relink(struct broker *broker)
{
    unsigned links = LINKS_IN_SLICE;

    while (links > 0 && !list_empty(&broker->matching.relinking)) {
        struct session_wide *wide =
            list_item(list_first(&broker->matching.relinking), struct session_wide, relinking);

        relink_some(wide->session, &links);
    }
}

void waiting_review(struct session *session)
{
    while (session->subscriptions <= LINKS_IN_SLICE && session_relinks(session)) {
        unsigned links = LINKS_IN_SLICE;

        relink_some(session, &links);
    }
}

void waiting_leave(struct session *session)
{
    if (session_relinks(session)) {
        end_relinking(session);
    }
}

// Links of the wait before may still be there. They are undone first: they stand where that wait
// had its place, in front of sessions that have waited for longer than this one.
static APART void begin_wide(struct session *session)
{
    unsigned links = LINKS_IN_SLICE;

    if (!session->unlinking) {
        begin_relinking(session);
        relink_some(session, &links);
    }
    // What ticks will do, too.
    charge_links(session->broker, session->subscriptions);
    session_rearm(session);
}

static APART void stop_wide(struct session *session)
{
    if (!session->unlinking) {
        session->unlinking = true;
        begin_relinking(session);
    }
    session_rearm(session);
}

//
// All
//

void session_begin_waiting(struct session *session, enum wait_state wait_state)
{
    session->wait_state = (uint8_t)wait_state;
    session->broker->count.waiting++;
    if (session->subscriptions > LINKS_IN_SLICE) {
        begin_wide(session);
        return;
    }
    list_each (node, &session->subscribed) {
        struct subscription *subscription = list_item(node, struct subscription, in_session);

        if (!subscription->barred) {
            subscription_wait(subscription);
        }
    }
    charge_links(session->broker, session->subscriptions);
    session_rearm(session);
}

void session_stop_waiting(struct session *session)
{
    if (session->wait_state == WAITING_NOT) {
        return;
    }
    session->wait_state = WAITING_NOT;
    session->broker->count.waiting--;
    if (session->subscriptions > LINKS_IN_SLICE) {
        stop_wide(session);
        return;
    }
    list_each (node, &session->subscribed) {
        subscription_stop_waiting(list_item(node, struct subscription, in_session));
    }
    charge_links(session->broker, session->subscriptions);
    session_rearm(session);
}

bool session_make_spare(struct session *session)
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
