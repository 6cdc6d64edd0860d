/* SPDX-License-Identifier: MIT */

// The caller of a session may do other things than before.

#include "core/matching/match.h"
#include "core/model/broker_private.h"
#include "core/model/charge.h"
#include "core/model/queue.h"
#include "core/model/session.h"
#include "core/model/subscription.h"

static void bar(struct subscription *subscription)
{
    struct session *session = subscription->session;

    subscription->barred = true;
    subscription_stop_waiting(subscription);
    if (session->holds_nudge && session->nudged_by == subscription->queue) {
        match_pass_nudge_on(session, NULL);
    }
}

static void unbar(struct subscription *subscription)
{
    subscription->barred = false;
    if (subscription->session->wait_state != WAITING_NOT) {
        subscription_wait(subscription);
    }
}

bool broker_session_grant(struct session *session, struct grants *grants)
{
    struct grants *before = session->grants;
    bool lost = false;

    ENSURE(!session->broker->settling);
    session->grants = grants_ref(grants);
    grants_unref(before);
    if (before == grants) {
        return false;
    }
    list_each (node, &session->subscribed) {
        struct subscription *subscription = list_item(node, struct subscription, in_session);
        bool may = session_may(session, MAY_WORK, subscription_queue(subscription));

        if (may && subscription->barred) {
            unbar(subscription);
        } else if (!may && !subscription->barred) {
            bar(subscription);
            lost = true;
        }
    }
    match_session(session);
    charge_links(session->broker, session->subscriptions);
    return lost;
}
