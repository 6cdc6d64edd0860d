/* SPDX-License-Identifier: MIT */

// A session closes, and what it has is taken apart in slices.

#include "core/close.h"

#include "core/cleanup.h"
#include "core/match.h"
#include "core/outcome.h"
#include "core/broker_private.h"
#include "core/subscription.h"
#include "core/job_private.h"
#include "core/session_private.h"
#include "core/watch.h"

// Jobs that a session holds come back together. Their order in its leases means nothing to those
// who wait for them: what is best goes first, so that is deferred (match.h).
void session_dismantle(struct session *session, unsigned *budget)
{
    struct broker *broker = session->broker;

    for (; *budget > 0; --*budget) {
        struct list_node *watch = session->extra ? list_first(&session->extra->watches) : NULL;
        struct tree_node *lease = tree_first(&session->leases);
        struct list_node *subscription = list_first(&session->subscribed);

        // Watches first: what only this session wanted is not handed on to others.
        if (watch) {
            outcome_unwatched(list_item(watch, struct watch, in_session));
        } else if (lease) {
            outcome_lost(broker, job_in_tree(lease), CAUSE_LEFT);
        } else if (subscription) {
            subscription_end(list_item(subscription, struct subscription, in_session));
        } else {
            session_free(session);
            return;
        }
    }
}

void broker_undelivered(struct session *session, uint64_t id)
{
    struct job *job = broker_held_job(session, id);

    if (job) {
        job->on_wall_or_undelivered = true;
    }
}

void *session_owner(const struct session *session, const struct session_ops *ops)
{
    // One that is closed may hold jobs for some ticks more, and its owner is gone.
    return session->ops == ops && !session->closed ? session->owner : NULL;
}

void broker_all_undelivered(struct session *session)
{
    session->undelivered = true;
}

void broker_session_close(struct session *session)
{
    unsigned budget = BROKER_SLICE;
    unsigned matches = BROKER_SLICE;

    struct broker *broker;

    if (!session) {
        return;
    }
    broker = session->broker;
    ENSURE(!broker->settling);
    broker->store.position = 0;
    // It leaves the lists of its queues as its subscriptions end, which may be very many.
    broker->count.waiting -= session->wait_state != WAITING_NOT;
    session->wait_state = WAITING_NOT;
    waiting_leave(session);
    match_pass_nudge_on(session, NULL);
    subscription_walks_stop(session);
    session->closed = true;
    broker->count.sessions--;
    broker->count.producers -= session->producer;
    broker->count.workers -= session->worker;
    timer_set(&broker->timers.sessions, &session->alarm, NSEC_NEVER, 0);
    list_remove(&session->notice);
    list_append(&broker->closing, &session->notice);
    broker->matching.deferred = true;
    session_dismantle(session, &budget);
    broker->matching.deferred = false;
    match_backlog(broker, &matches);
}
