/* SPDX-License-Identifier: MIT */

// Who gets a ready job: a session that takes one, or the one that has waited for it longest; and
// who is nudged because nobody waited.

#include "core/matching/match.h"

#include "core/matching/choice.h"
#include "core/matching/lease.h"
#include "core/model/charge.h"
#include "core/model/lookup.h"
#include "core/model/queue.h"
#include "core/model/rota.h"
#include "core/model/subscription.h"
#include "core/model/waiting.h"

void match_take(struct subscription *by, struct job *job)
{
    rota_to_back(by);
    match_pass_nudge_on(by->session, subscription_queue(by));
    lease_begin(by->session, job, by);
}

// The wait of that subscription's session is over: it will be told that it holds the job.
static void match_assign(struct subscription *by, struct job *job)
{
    struct session *session = by->session;

    session_stop_waiting(session);
    session->assigned = job;
    session_notify(session);
    match_take(by, job);
}

// So many more of the sessions that wait for a nudge of the queue are to get one; 0: all.
static void owe_nudges(struct broker *broker, struct queue *queue, uint32_t count)
{
    if (list_empty(&queue->nudge_waits)) {
        return;
    }
    queue->nudges =
        count == 0 || queue->nudges > UINT32_MAX - count ? UINT32_MAX : queue->nudges + count;
    if (!list_linked(&queue->nudging)) {
        list_append(&broker->matching.nudging, &queue->nudging);
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
        owe_nudges(broker, queue, 1);
    }
}

// The first of the list, which is a queue's `job_waits` or `nudge_waits`. Sessions that have
// closed, and are not taken apart yet, leave it.
static struct subscription *first_of(struct queue *queue, struct list_node *list)
{
    struct list_node *node;

    while ((node = list_first(list))) {
        struct subscription *first = list_item(node, struct subscription, waiting);

        if (!first->session->closed) {
            return first;
        }
        list_remove(node);
        queue->waiting--;
    }
    return NULL;
}

static struct subscription *longest_waiting(struct queue *queue)
{
    return first_of(queue, &queue->job_waits);
}

// The session waits on, in the last place, or gets another job.
static void serve_again(struct session *session)
{
    struct subscription *by = NULL;
    struct job *best;

    list_remove(&session->notice);
    if (!session_make_spare(session)) {
        session->waited_enough = true;
        session->why = WAIT_TIMED_OUT;
        session_notify(session);
        return;
    }
    best = choice_best(session, &by);
    if (best) {
        match_assign(by, best);
    } else {
        session_begin_waiting(session, WAITING_FOR_JOB);
    }
}

void match_serve_list(struct broker *broker)
{
    while (!list_empty(&broker->matching.to_serve)) {
        serve_again(list_item(list_first(&broker->matching.to_serve), struct session, notice));
    }
}

void match_ready(struct broker *broker, struct job *job, const struct job_place *ready)
{
    struct queue *queue = queue_at(broker, job);
    struct subscription *by = longest_waiting(queue);
    bool others = !tree_empty(&queue->ready);

    if (job->state == JOB_GONE) {
        if (by && !others && !queue->paused && !broker->matching.deferred) {
            // The job need not enter its queue for as long as the assignment takes.
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
    if (queue->paused || job->state != JOB_READY) {
        // Nobody may have it, or it went back to the session that had not been told of it.
        return;
    }
    if (by && broker->matching.deferred) {
        if (!list_linked(&queue->matching)) {
            list_append(&broker->matching.backlog, &queue->matching);
        }
    } else if (by && !others) {
        match_assign(by, job);
    } else if (!by) {
        owe_nudges(broker, queue, broker->matching.nudges_each);
    }
}

void match_backlog(struct broker *broker, unsigned *budget)
{
    while (*budget > 0 && !list_empty(&broker->matching.backlog)) {
        struct queue *queue =
            list_item(list_first(&broker->matching.backlog), struct queue, matching);
        struct subscription *by = longest_waiting(queue);

        if (queue_open(queue) && by) {
            match_assign(by, job_in_tree(tree_first(&queue->ready)));
            charge_pay_unit(broker, budget);
            continue;
        }
        list_remove(&queue->matching);
        if (queue_open(queue)) {
            owe_nudges(broker, queue, broker->matching.nudges_each);
        }
    }
}

void match_nudge(struct broker *broker, unsigned *budget)
{
    while (*budget > 0 && !list_empty(&broker->matching.nudging)) {
        struct queue *queue =
            list_item(list_first(&broker->matching.nudging), struct queue, nudging);
        struct subscription *first = first_of(queue, &queue->nudge_waits);
        struct session *session;

        if (!first || !queue_open(queue) || queue->nudges == 0) {
            queue->nudges = 0;
            list_remove(&queue->nudging);
            continue;
        }
        session = first->session;
        if (queue->nudges != UINT32_MAX) {
            queue->nudges--;
        }
        session_stop_waiting(session);
        session->nudged = true;
        session->holds_nudge = broker->matching.nudges_each != 0;
        session->nudged_by = queue->place;
        session_notify(session);
        charge_pay_unit(broker, budget);
    }
}
