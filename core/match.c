/* SPDX-License-Identifier: MIT */

// Which session gets a ready job: the one that takes it, or the one that has waited for it longest;
// and which sessions are nudged if no session waits for a job.

#include "core/match.h"

#include "core/charge.h"
#include "core/expiry.h"
#include "core/gate.h"
#include "core/lease.h"
#include "core/rate_memo.h"
#include "core/subscription.h"

void match_take(struct subscription *by, struct job *job)
{
    struct queue *queue = subscription_queue(by);

    round_robin_to_back(by);
    match_pass_nudge_on(by->session, queue);
    if (queue->gate) {
        gate_take(by->session->broker, queue);
        rate_memo_taken(by->session->broker, queue);
    }
    lease_begin(by->session, job, by);
}

// Ends the wait of that subscription's session, which will be told that it holds the job.
static void match_assign(struct subscription *by, struct job *job)
{
    struct session *session = by->session;

    session_stop_waiting(session);
    session->assigned = job;
    session_notify(session);
    match_take(by, job);
}

static void match_assign_chosen(struct subscription *by, struct job *job)
{
    match_assign(by, job);
    choice_taken(by, job);
}

// Has `count` more of the sessions that wait for a nudge of the queue get one, but no more than
// `most` in all; UINT32_MAX: all of them.
static void match_owe_nudges(struct broker *broker, struct queue *queue, uint64_t count,
                             uint64_t most)
{
    uint64_t owed = queue->nudges + count;

    if (list_empty(&queue->nudge_waits)) {
        return;
    }
    most = most < UINT32_MAX ? most : UINT32_MAX;
    queue->nudges = (uint32_t)(owed < most ? owed : most);
    if (!list_linked(&queue->nudging)) {
        list_append(&broker->matching.nudging, &queue->nudging);
    }
}

// The queue, which sessions wait on for a nudge, has `jobs` jobs that could not be taken before. If
// its policy will close it after a number of takes, there are nudges for these takes only, however
// many sessions wait for one.
static APART void match_owe_nudges_for(struct broker *broker, struct queue *queue, uint64_t jobs)
{
    uint64_t room = queue->gate ? gate_capacity(broker, queue) : GATE_ANY;
    uint64_t each = broker->matching.nudges_each;

    if (room == GATE_ANY) {
        jobs = jobs < UINT32_MAX ? jobs : UINT32_MAX;
        match_owe_nudges(broker, queue, each ? jobs * each : UINT32_MAX, UINT32_MAX);
        return;
    }
    each = each ? each : 1;
    room = room < queue->jobs[JOB_READY] ? room : queue->jobs[JOB_READY];
    match_owe_nudges(broker, queue, jobs * each,
                     room < UINT32_MAX / each ? room * each : UINT32_MAX);
}

static void match_nudge_for(struct broker *broker, struct queue *queue, uint64_t jobs)
{
    if (!list_empty(&queue->nudge_waits)) {
        match_owe_nudges_for(broker, queue, jobs);
    }
}

void match_pass_nudge_on(struct session *session, const struct queue *took)
{
    struct broker *broker = session->broker;
    struct queue *queue;

    if (!session->holds_nudge) {
        return;
    }
    session->holds_nudge = false;
    queue = table_get(&broker->index.queues, session->nudged_by);
    if (queue && queue != took && queue_open(queue)) {
        match_owe_nudges(broker, queue, 1, UINT32_MAX);
    }
}

void match_bar(struct subscription *subscription)
{
    struct session *session = subscription->session;

    subscription_bar(subscription, true);
    subscription_stop_waiting(subscription);
    if (session->holds_nudge && session->nudged_by == subscription->queue) {
        match_pass_nudge_on(session, NULL);
    }
}

// Whether the session of that link may be given a job or a nudge. If not, the link is undone: the
// session has closed, or no longer waits and its links are still to be undone, or its new grants
// forbid it.
static APART bool match_link_counts(struct subscription *subscription)
{
    struct session *session = subscription->session;

    charge_links(session->broker, 1);
    if (session->closed || session->unlinking) {
        subscription_stop_waiting(subscription);
        return false;
    }
    if (!session->judging || session_may(session, MAY_WORK, subscription_queue(subscription))) {
        return true;
    }
    session->extra->wide->lost = true;
    match_bar(subscription);
    return false;
}

static APART struct subscription *match_first_that_counts(const struct list_node *list)
{
    struct list_node *node;

    while ((node = list_first(list))) {
        struct subscription *first = list_item(node, struct subscription, waiting);

        if (match_link_counts(first)) {
            return first;
        }
    }
    return NULL;
}

// The subscription that has waited longest in the list, which is a queue's `job_waits` or
// `nudge_waits`.
static inline struct subscription *match_first_waiting(const struct list_node *list)
{
    struct list_node *node = list_first(list);
    struct subscription *first = node ? list_item(node, struct subscription, waiting) : NULL;
    const struct session *session = first ? first->session : NULL;

    return session && (session->closed || session->unlinking || session->judging)
               ? match_first_that_counts(list)
               : first;
}

void match_serve_list(struct broker *broker)
{
    while (!list_empty(&broker->matching.to_serve)) {
        struct session *session =
            list_item(list_first(&broker->matching.to_serve), struct session, notice);
        struct subscription *by = NULL;
        struct job *best;

        list_remove(&session->notice);
        session->emptied = false; // it was not told of the job that it lost
        if (!session_make_spare(session)) {
            session->waited_enough = true;
            session->why = WAIT_TIMED_OUT;
            session_notify(session);
            continue;
        }
        // While its grants are being checked, it meets ready jobs as its links are made.
        best = session->judging ? NULL : choice_best(session, &by);
        if (best) {
            match_assign_chosen(by, best);
        } else {
            session_begin_waiting(session, WAITING_FOR_JOB); // in the last place
        }
    }
}

// Whether a queue's only ready job may be assigned at once: a waiting session cannot get a better
// job of another queue.
static bool match_is_immediate(const struct broker *broker)
{
    return !broker->matching.deferred && tree_empty(&broker->matching.backlog);
}

// Assigns, offers or announces a job that is ready in its queue. `by`: the subscription that has
// waited longest there, or NULL; `alone`: the queue has no other ready job.
static inline void match_offer(struct broker *broker, struct queue *queue, struct job *job,
                               struct subscription *by, bool alone)
{
    if (by && alone && match_is_immediate(broker)) {
        match_assign(by, job);
    } else if (by) {
        queue_offer(broker, queue);
    } else {
        match_nudge_for(broker, queue, 1);
    }
}

void match_ready(struct broker *broker, struct job *job, const struct job_place *ready)
{
    struct queue *queue = queue_at(broker, job);
    struct subscription *by = match_first_waiting(&queue->job_waits);
    bool others = !tree_empty(&queue->ready);

    if (job->state == JOB_GONE) {
        if (by && !others && !queue->closed && match_is_immediate(broker)) {
            // The job need not enter its queue only to leave it.
            match_assign(by, job);
            return;
        }
        job_begin(broker, job, ready);
    } else {
        job_move(broker, job, ready);
        // A session that held the job without having been told takes its best job before all
        // others.
        match_serve_lost(broker);
    }
    if (queue->closed || job->state != JOB_READY) {
        // The queue is closed, or the job went back to the session that had not been told of it.
        return;
    }
    match_offer(broker, queue, job, by, !others);
}

void match_moved(struct broker *broker, struct job *job)
{
    struct queue *queue = queue_at(broker, job);
    struct subscription *by = match_first_waiting(&queue->job_waits);

    if (!queue->closed) {
        match_offer(broker, queue, job, by, queue->jobs[JOB_READY] == 1);
    }
}

void match_session(struct session *session)
{
    struct subscription *by = NULL;
    bool chooses = session->wait_state != WAITING_NOT && !session->judging;
    struct job *best = chooses ? choice_best(session, &by) : NULL;

    if (best && session->wait_state == WAITING_FOR_JOB) {
        match_assign_chosen(by, best);
    } else if (best) {
        session_stop_waiting(session);
        session->nudged = true;
        session_notify(session);
    }
}

void match_backlog(struct broker *broker, unsigned *budget)
{
    struct queue *queue;

    while (*budget > 0 && (queue = backlog_first(broker))) {
        struct subscription *by = match_first_waiting(&queue->job_waits);

        if (!by) {
            queue_unoffer(broker, queue);
            match_nudge_for(broker, queue, queue->jobs[JOB_READY]);
        } else if (!expiry_hold(broker, queue)) {
            match_assign(by, job_in_tree(tree_first(&queue->ready)));
        }
        charge_pay_unit(broker, budget);
    }
}

void match_nudge(struct broker *broker, unsigned *budget)
{
    while (*budget > 0 && !list_empty(&broker->matching.nudging)) {
        struct queue *queue =
            list_item(list_first(&broker->matching.nudging), struct queue, nudging);
        struct subscription *first = match_first_waiting(&queue->nudge_waits);
        struct session *session;
        bool all;

        if (!first || !queue_open(queue) || queue->nudges == 0) {
            queue->nudges = 0;
            list_remove(&queue->nudging);
            continue;
        }
        session = first->session;
        all = queue->nudges == UINT32_MAX;
        queue->nudges -= !all;
        session_stop_waiting(session);
        session->nudged = true;
        session->holds_nudge = !all;
        session->nudged_by = queue->place;
        session_notify(session);
        charge_pay_unit(broker, budget);
    }
}
