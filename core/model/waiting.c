/* SPDX-License-Identifier: MIT */
#include "core/model/waiting.h"

#include "core/model/charge.h"
#include "core/model/job.h"
#include "core/model/queue.h"
#include "core/model/subscription.h"

static void link_subscriptions(struct session *session)
{
    bool waits = session->wait_state == WAITING_FOR_JOB;

    list_each (node, &session->subscribed) {
        struct subscription *subscription = list_item(node, struct subscription, in_session);
        struct queue *queue = subscription_queue(subscription);

        list_append(waits ? &queue->job_waits : &queue->nudge_waits, &subscription->waiting);
        queue->waiting++;
    }
    session->broker->count.waiting++;
}

void session_begin_waiting(struct session *session, enum wait_state wait_state)
{
    session->wait_state = (uint8_t)wait_state;
    link_subscriptions(session);
    charge_links(session->broker, session->subscriptions);
    session_rearm(session);
}

void session_stop_waiting(struct session *session)
{
    if (session->wait_state == WAITING_NOT) {
        return;
    }
    list_each (node, &session->subscribed) {
        struct subscription *subscription = list_item(node, struct subscription, in_session);

        if (list_linked(&subscription->waiting)) {
            list_remove(&subscription->waiting);
            subscription_queue(subscription)->waiting--;
        }
    }
    session->wait_state = WAITING_NOT;
    session->broker->count.waiting--;
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
