/* SPDX-License-Identifier: MIT */
#include "core/check_private.h"

#include "core/charge.h"
#include "core/job.h"
#include "core/lookup.h"
#include "core/queue.h"
#include "core/rota.h"
#include "core/subscription.h"

static void visit_lease(struct tally *tally, const struct tree_node *node, void *context)
{
    const struct job **before = context;
    const struct job *job = job_in_tree(node);

    check_job(tally, job, JOB_RESERVED);
    ENSURE(!*before || (*before)->due_at < job->due_at ||
           ((*before)->due_at == job->due_at && (*before)->seq < job->seq));
    *before = job;
}

// One that is passed over has no open queue, or is brought back before the session chooses.
static void check_idle(const struct subscription *subscription)
{
    const struct queue *queue = subscription_queue(subscription);

    ENSURE(subscription->idle);
    ENSURE(!queue_open(queue) || queue->opened > subscription->session->rota->seen);
}

static void check_rota(const struct session *session)
{
    const struct subscription *before = NULL;
    const struct subscription *next;
    size_t count = 0;

    if (session->choice != CHOICE_IN_TURN) {
        return;
    }
    for (; (next = rota_next(session, before)); before = next) {
        ENSURE(!next->idle && (!before || before->turn < next->turn));
        count++;
    }
    list_each (node, &session->rota->idle) {
        check_idle(list_item(node, struct subscription, in_rota));
    }
    ENSURE(check_list(&session->rota->idle) == session->rota->idle_count);
    ENSURE(count + session->rota->idle_count == session->subscriptions);
}

// Links are where they should be, but for those that a slice is still to make or undo.
static void check_link(const struct session *session, const struct subscription *subscription)
{
    bool linked = list_linked(&subscription->waiting);
    bool waits = session->wait_state != WAITING_NOT && !subscription->barred;

    if (!session->unlinking) {
        ENSURE(linked == waits || (!linked && session_relinks(session)));
    }
}

static void check_wide(const struct session *session)
{
    const struct session_wide *wide = session->wide ? session->extra->wide : NULL;

    ENSURE(wide || session->closed || session->subscriptions <= LINKS_IN_SLICE);
    ENSURE(!session->wide || (wide && wide->session == session));
    ENSURE(!session->unlinking || session->closed || session_relinks(session));
    ENSURE(!session_relinks(session) ||
           (!session->closed && session->subscriptions > LINKS_IN_SLICE));
    ENSURE(!session->judging || session->closed ||
           (wide && list_linked(&wide->judging.in_session)));
    ENSURE(!wide || session->judging || !(wide->lost || wide->judging.next));
    ENSURE(!wide || session_relinks(session) || !wide->linking.next);
}

static void check_subscriptions(struct tally *tally, const struct session *session)
{
    size_t limited = 0;
    size_t barred = 0;

    ENSURE(check_list(&session->subscribed) == session->subscriptions);
    list_each (node, &session->subscribed) {
        const struct subscription *subscription = list_item(node, struct subscription, in_session);

        ENSURE(subscription->session == session);
        ENSURE(session_find(session, subscription_queue(subscription)) == subscription);
        if (!session->closed) {
            check_link(session, subscription);
        }
        ENSURE(session->judging ||
               subscription->barred ==
                   !session_may(session, MAY_WORK, subscription_queue(subscription)));
        limited += subscription->limit_ms > 0;
        barred += subscription->barred;
    }
    ENSURE(limited == session->limited);
    ENSURE(!session->extra || barred == session->extra->barred);
    check_wide(session);
    check_rota(session);
    tally->subscriptions -= session->subscriptions;
}

void check_session(struct tally *tally, const struct session *session)
{
    const struct job *before = NULL;
    uint64_t held = tally->jobs[JOB_RESERVED];
    bool to_tell =
        session->assigned || session->nudged || session->waited_enough || session->emptied;

    check_tree(&session->leases, tally, visit_lease, &before);
    ENSURE(tally->jobs[JOB_RESERVED] - held == session->lease_count);
    ENSURE(!session->assigned || holder_of(tally->broker, session->assigned) == session);
    ENSURE(!session->assigned || session->wait_state == WAITING_NOT);
    ENSURE(session->closed || list_linked(&session->notice) == to_tell);
    ENSURE(!session->closed || session->wait_state == WAITING_NOT);
    ENSURE(!session->extra || check_list(&session->extra->watches) == session->extra->watch_count);
    check_subscriptions(tally, session);
    tally->open_sessions += !session->closed;
    tally->waiting += session->wait_state != WAITING_NOT;
    tally->relinking += session_relinks(session);
    tally->producers += !session->closed && session->producer;
    tally->workers += !session->closed && session->worker;
    tally->alarms += session->alarm.at != NSEC_NEVER;
}
