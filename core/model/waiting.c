/* SPDX-License-Identifier: MIT */
#include "core/model/waiting.h"

#include "core/model/charge.h"
#include "core/model/job.h"
#include "core/model/queue.h"
#include "core/model/subscription.h"

static void link_subscriptions(struct session *session)
{
    list_each (node, &session->subscribed) {
        struct subscription *subscription = list_item(node, struct subscription, in_session);

        if (!subscription->barred) {
            subscription_wait(subscription);
        }
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
        subscription_stop_waiting(list_item(node, struct subscription, in_session));
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
