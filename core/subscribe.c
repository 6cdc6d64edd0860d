/* SPDX-License-Identifier: MIT */

// What a session has besides jobs: its subscriptions, its grants and its watches.

#include "core/base/memory.h"
#include "core/charge.h"
#include "core/lease.h"
#include "core/match.h"
#include "core/outcome.h"
#include "core/result.h"
#include "core/subscription.h"
#include "core/watch.h"

//
// Subscriptions
//

// A session may have this number of subscriptions although memory is short: a session that was let
// in may work.
enum { SUBSCRIPTIONS_ALWAYS = 16 };

static struct subscription *subscription_find_by_name(const struct session *session,
                                                      struct slice name)
{
    const struct queue *queue = broker_queue_find(session->broker, name);

    return queue ? session_find(session, queue) : NULL;
}

// The session already waits for a nudge: it may now get it from this queue, too.
static void subscription_await_nudge(struct subscription *subscription, struct queue *queue)
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
    // Workers are still let in where new jobs are refused.
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
            subscription_await_nudge(subscription, queue);
        }
    }
    if (subscription) {
        subscription_set_terms(subscription, terms);
    }
    broker_queue_drop(broker, queue);
    return subscription ? STATUS_OK : STATUS_NO_MEMORY;
}

// The session loses the job if it took it by that subscription.
static void subscription_give_back_lease(struct session *session, struct job *job,
                                         const struct subscription *subscription)
{
    if (job->queue == subscription->queue && !job_taken_by_id(job)) {
        outcome_lost(session->broker, job, CAUSE_LEFT);
        match_serve_lost(session->broker);
    }
}

// The lease now ends with the time to run, which starts again.
static void session_end_lease_limit(struct session *session, struct job *job,
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
    // A lease without an end has no limit, and comes last.
    return session_walk_leases(session, NSEC_NEVER - 1, session_end_lease_limit, NULL)
               ? STATUS_OK
               : STATUS_MORE;
}

enum status broker_unsubscribe(struct session *session, struct slice name, bool give_back)
{
    struct subscription *subscription = subscription_find_by_name(session, name);
    struct broker *broker = session->broker;

    ENSURE(!broker->settling);
    broker->store.position = 0;
    if (!subscription) {
        return STATUS_OK;
    }
    if (give_back) {
        unsigned matches = BROKER_SLICE;
        bool all;

        // The jobs come back together, so that the session that has waited longest gets the best of
        // them.
        broker->matching.deferred = true;
        all = session_walk_leases(session, NSEC_NEVER, subscription_give_back_lease, subscription);
        broker->matching.deferred = false;
        match_backlog(broker, &matches);
        if (!all) {
            return STATUS_MORE;
        }
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
    return subscription_find_by_name(session, name) != NULL;
}

size_t session_subscriptions(const struct session *session)
{
    return session->subscriptions;
}

//
// Grants
//

// Applies the session's new grants to the next subscriptions of the walk, until its end or until
// `links` links have been charged. True: the session may no longer work on the queue of one of
// them.
static bool grant_judge_some(struct broker *broker, struct subscription_walk *walk, size_t links)
{
    size_t before = broker->charge.links;
    bool lost = false;

    while (walk->next && broker->charge.links - before < links) {
        struct subscription *subscription = walk->next;
        struct session *session = subscription->session;
        bool may = session_may(session, MAY_WORK, subscription_queue(subscription));

        (void)subscription_walk_next(walk);
        charge_links(broker, 1);
        if (may && subscription->barred) {
            subscription_bar(subscription, false);
            if (session->wait_state != WAITING_NOT) {
                subscription_wait_along(subscription);
            }
        } else if (!may && !subscription->barred) {
            match_bar(subscription);
            lost = true;
        }
    }
    return lost;
}

// All subscriptions have been judged.
static enum grant_progress grant_finish(struct session *session, bool lost)
{
    if (session->judging) {
        lost = session->extra->wide->lost || lost;
        session->extra->wide->lost = false;
        subscription_walk_end(&session->extra->wide->judging);
        session->judging = false;
    }
    match_session(session);
    return lost ? GRANT_LOST : GRANT_DONE;
}

// The walk has not come to its end. Without memory for its place, all are judged at once: a session
// that is not wide has no more links than one slice, though these may be compared with many globs.
static enum grant_progress grant_continue_later(struct session *session,
                                                struct subscription_walk *walk, bool lost)
{
    struct session_wide *wide = session_wide(session);
    bool kept;

    if (!wide) {
        lost = grant_judge_some(session->broker, walk, SIZE_MAX) || lost;
        return grant_finish(session, lost);
    }
    wide->judging.next = walk->next;
    wide->lost = wide->lost || lost;
    kept = subscription_walk_keep(&wide->judging);
    ENSURE(kept); // it has its extra part
    session->judging = true;
    return GRANT_MORE;
}

enum grant_progress broker_session_grant(struct session *session, struct grants *grants)
{
    bool same = grants_same(session->grants, grants);
    struct grants *before = session->grants;
    struct subscription_walk walk;
    bool lost;

    ENSURE(!session->broker->settling);
    session->grants = grants_ref(grants);
    grants_unref(before);
    if (same && !session->judging) {
        return GRANT_DONE;
    }
    subscription_walk_begin(&walk, session);
    if (same) {
        walk.next = session->extra->wide->judging.next;
    }
    lost = grant_judge_some(session->broker, &walk, LINKS_IN_SLICE);
    return walk.next ? grant_continue_later(session, &walk, lost) : grant_finish(session, lost);
}

//
// Watches
//

enum status broker_follow(struct session *session, uint64_t id, struct watch **watch)
{
    struct job *job = broker_job(session->broker, id);
    enum status status = session_check_job(session, MAY_OBSERVE, job);

    ENSURE(!session->broker->settling);
    if (status != STATUS_OK) {
        return status;
    }
    if (job->state == JOB_BURIED) {
        return STATUS_WRONG_STATE;
    }
    *watch = watch_add(session, job, true);
    return *watch ? STATUS_OK : STATUS_NO_MEMORY;
}

void broker_unwatch(struct watch *watch)
{
    ENSURE(!watch->interest->broker->settling);
    outcome_unwatched(watch);
}
