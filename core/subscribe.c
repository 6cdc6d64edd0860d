/* SPDX-License-Identifier: MIT */

// Subscribing, and what becomes of leases where a subscription ends.

#include "core/base/memory.h"
#include "core/cleanup.h"
#include "core/lease.h"
#include "core/match.h"
#include "core/outcome.h"
#include "core/broker_private.h"
#include "core/subscription.h"
#include "core/job_private.h"
#include "core/queue_private.h"
#include "core/session_private.h"

// So many a session may have although memory is crowded: a session that may be there may work.
enum { SUBSCRIPTIONS_ALWAYS = 16 };

static struct subscription *find_by_name(const struct session *session, struct slice name)
{
    const struct queue *queue = broker_queue_find(session->broker, name);

    return queue ? session_find(session, queue) : NULL;
}

// A session that waits for a nudge already gets it from this queue, too.
static void await_nudge_too(struct subscription *subscription, struct queue *queue)
{
    struct session *session = subscription->session;

    if (queue_open(queue)) {
        session_stop_waiting(session);
        session->nudged = true;
        session_notify(session);
    } else {
        subscription_wait_along(subscription);
    }
}

enum status broker_subscribe(struct session *session, struct slice name,
                             const struct subscription_terms *terms)
{
    struct broker *broker = session->broker;
    struct subscription *subscription;
    struct queue *queue;
    enum status status;

    ENSURE(session->wait_state != WAITING_FOR_JOB && !broker->settling);
    if (!session_may_by_name(session, MAY_WORK, name)) {
        return STATUS_FORBIDDEN;
    }
    // Whoever comes to do work may still come where new work may not.
    if (memory_is_crowded() && !session_subscribed(session, name) &&
        session->subscriptions >= SUBSCRIPTIONS_ALWAYS) {
        return STATUS_NO_MEMORY;
    }
    status = queue_hold(broker, name, &queue);
    if (status != STATUS_OK) {
        return status;
    }
    subscription = session_find(session, queue);
    if (!subscription) {
        subscription = subscription_new(session, queue);
        if (subscription && session->wait_state == WAITING_FOR_NUDGE) {
            await_nudge_too(subscription, queue);
        }
    }
    if (subscription) {
        subscription_set_terms(subscription, terms);
    }
    broker_queue_drop(broker, queue);
    return subscription ? STATUS_OK : STATUS_NO_MEMORY;
}

// The job is lost to the session, where that took it by its subscription.
static void give_back_one(struct session *session, struct job *job,
                          const struct subscription *subscription)
{
    if (job->queue == subscription->queue && !job_taken_by_id(job)) {
        outcome_lost(session->broker, job, CAUSE_LEFT);
        match_serve_lost(session->broker);
    }
}

// They come back together: of those who wait, the first gets the best.
static bool give_leases_back(struct session *session, const struct subscription *subscription)
{
    struct broker *broker = session->broker;
    unsigned matches = BROKER_SLICE;
    bool all;

    broker->matching.deferred = true;
    all = session_walk_leases(session, NSEC_NEVER, give_back_one, subscription);
    broker->matching.deferred = false;
    match_backlog(broker, &matches);
    return all;
}

// The time to run, which the limit may have hidden, starts anew.
static void end_limit(struct session *session, struct job *job,
                      const struct subscription *subscription)
{
    (void)subscription;
    if (job->extra && job->extra->limit_at) {
        job->extra->limit_at = 0;
        job->renewed = true; // its end, which was the limit's, does not tell when it began
        lease_renew(session, job);
    }
}

enum status broker_end_limits(struct session *session)
{
    ENSURE(!session->broker->settling);
    // A lease without an end has no limit, and stands behind those that have.
    return session_walk_leases(session, NSEC_NEVER - 1, end_limit, NULL) ? STATUS_OK : STATUS_MORE;
}

enum status broker_unsubscribe(struct session *session, struct slice name, bool give_back)
{
    struct subscription *subscription = find_by_name(session, name);

    ENSURE(!session->broker->settling);
    session->broker->store.position = 0;
    if (!subscription) {
        return STATUS_OK;
    }
    if (give_back && !give_leases_back(session, subscription)) {
        return STATUS_MORE;
    }
    subscription_end(subscription);
    return STATUS_OK;
}

enum status broker_unsubscribe_all(struct session *session)
{
    ENSURE(!session->broker->settling);
    session->broker->store.position = 0;
    for (int i = 0; i < BROKER_SLICE && session->subscriptions > 0; i++) {
        subscription_end(
            list_item(list_first(&session->subscribed), struct subscription, in_session));
    }
    return session->subscriptions > 0 ? STATUS_MORE : STATUS_OK;
}

bool session_subscribed(const struct session *session, struct slice name)
{
    return find_by_name(session, name) != NULL;
}

size_t session_subscriptions(const struct session *session)
{
    return session->subscriptions;
}

//
// Walks
//
