/* SPDX-License-Identifier: MIT */
#include "core/waiting.h"

#include "core/charge.h"
#include "core/job.h"
#include "core/queue.h"
#include "core/subscription.h"

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

void session_lie_down(struct session *session, enum pose pose)
{
    session->pose = (uint8_t)pose;
    link_subscriptions(session);
    charge_links(session->broker, session->subscriptions);
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
