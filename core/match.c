/* SPDX-License-Identifier: MIT */

// Who gets a ready job: a session that takes one, or the one that has waited for it longest; and
// who is nudged because nobody waited.

#include "core/broker_private.h"

// How many subscriptions cost as much to get up from as anything else that a slice does.
#define LINKS_AT_ONCE 16

void match_pay(struct broker *broker, unsigned *budget)
{
    size_t cost = 1 + broker_bill(broker) / LINKS_AT_ONCE;

    *budget -= cost < *budget ? (unsigned)cost : *budget;
}

// The room was made by whoever asked for the job: in the job, or in the session.
static struct job_extra *room_for_limit(struct session *session, struct job *job)
{
    if (!job->extra) {
        ENSURE(session->extra && session->extra->spare);
        job->extra = session->extra->spare;
        job->extra->job = job;
        session->extra->spare = NULL;
    }
    return job->extra;
}

nsec_t match_lease_end(const struct broker *broker, const struct job *job, nsec_t limit_at)
{
    nsec_t end = job->ttr ? nsec_add(broker->now.mono, nsec_from_seconds(job->ttr)) : NSEC_NEVER;

    return limit_at && limit_at < end ? limit_at : end;
}

// What an attempt said that was left open, in case its holder is only late, counts for nothing now.
static void begin_attempt(struct job *job)
{
    if (!job->extra) {
        return;
    }
    job->extra->spoken = false;
    job->extra->lacking = false;
    if (job->extra->interest && job_expired(job)) {
        interest_retried(job->extra->interest);
    }
}

void match_lease(struct session *session, struct job *job, const struct subscription *by)
{
    struct broker *broker = session->broker;
    bool limited = by && by->limit_ms > 0;
    bool fresh = job->state == JOB_GONE;
    nsec_t limit_at =
        limited ? nsec_add(broker->now.mono, (nsec_t)by->limit_ms * NSEC_PER_MSEC) : 0;
    const struct job_place held = {
        .state = JOB_RESERVED,
        .pri = job->pri,
        .to_back = fresh,
        .due_at = match_lease_end(broker, job, limit_at),
        .holder = session,
    };

    job_count_reserve(broker, job);
    job->by_id_taken = !by;
    begin_attempt(job);
    if (fresh) {
        job_begin(broker, job, &held);
    } else {
        job_move(broker, job, &held);
    }
    if (limited) {
        struct job_extra *extra = room_for_limit(session, job);

        extra->limit_at = limit_at;
        extra->fail_on_limit = by->fail_on_limit;
    }
}

void match_renew(struct session *session, struct job *job)
{
    const struct job_place place = {
        .state = JOB_RESERVED,
        .pri = job->pri,
        .holder = session,
        .due_at = match_lease_end(session->broker, job, job->extra ? job->extra->limit_at : 0),
    };

    if (place.due_at != job->due_at) {
        job_move(session->broker, job, &place);
    }
}

static void serve(struct subscription *by, struct job *job)
{
    rota_to_back(by);
    match_pass_on(by->session, subscription_queue(by));
    match_lease(by->session, job, by);
}

void match_assign(struct subscription *by, struct job *job)
{
    struct session *session = by->session;

    session_wake(session);
    session->assigned = job;
    session_notify(session);
    serve(by, job);
}

// So many more of those who nap on the queue are to be nudged; 0: all.
static void owe_nudges(struct broker *broker, struct queue *queue, uint32_t naps)
{
    if (list_empty(&queue->naps)) {
        return;
    }
    queue->nudges =
        naps == 0 || queue->nudges > UINT32_MAX - naps ? UINT32_MAX : queue->nudges + naps;
    if (!list_linked(&queue->nudging)) {
        list_append(&broker->nudging, &queue->nudging);
    }
}

void match_pass_on(struct session *session, const struct queue *took)
{
    struct broker *broker = session->broker;
    struct queue *queue;

    if (!session->roused) {
        return;
    }
    session->roused = false;
    queue = table_get(&broker->queues, session->roused_by);
    if (queue && queue != took && queue_open(queue)) {
        owe_nudges(broker, queue, 1);
    }
}

// The first of the list, which is a queue's `waits` or `naps`. Sessions that have closed, and are
// not taken apart yet, leave it.
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
    return first_of(queue, &queue->waits);
}

void match_ready(struct broker *broker, struct job *job, const struct job_place *ready)
{
    struct queue *queue = queue_at(broker, job);
    struct subscription *by = longest_waiting(queue);
    bool others = !tree_empty(&queue->ready);

    if (job->state == JOB_GONE) {
        if (by && !others && !queue->paused && !broker->gathering) {
            // It need not stand in its queue for as long as that takes.
            match_assign(by, job);
            return;
        }
        job_begin(broker, job, ready);
    } else {
        job_move(broker, job, ready);
    }
    if (queue->paused || job->state != JOB_READY) {
        // Nobody may have it, or it went back to one who had not been told that it was lost.
        return;
    }
    if (by && broker->gathering) {
        if (!list_linked(&queue->matching)) {
            list_append(&broker->matching, &queue->matching);
        }
    } else if (by && !others) {
        match_assign(by, job);
    } else if (!by) {
        owe_nudges(broker, queue, broker->wakeup);
    }
}

enum status broker_take(struct session *session, const struct job **job)
{
    struct subscription *by = NULL;
    struct job *best = choice_best(session, &by);

    if (!best) {
        return STATUS_EMPTY;
    }
    if (by->limit_ms > 0 && !job_extra(session->broker, best)) {
        return STATUS_NO_MEMORY;
    }
    serve(by, best);
    *job = best;
    return STATUS_OK;
}

enum status broker_take_id(struct session *session, uint64_t id, const struct job **job)
{
    struct broker *broker = session->broker;
    struct job *found = broker_job(broker, id);
    bool buried = found && found->state == JOB_BURIED;

    broker->position = 0;
    if (!found || found->state == JOB_RESERVED) {
        return STATUS_NOT_FOUND;
    }
    if (buried) {
        if (!record_room(broker, RECORD_TAKE, found)) {
            return STATUS_NO_ROOM;
        }
        key_claim(broker, found);
    }
    match_lease(session, found, NULL);
    if (buried) {
        record_append(broker, RECORD_TAKE, found, true);
    }
    *job = found;
    return STATUS_OK;
}

void match_backlog(struct broker *broker, unsigned *budget)
{
    while (*budget > 0 && !list_empty(&broker->matching)) {
        struct queue *queue = list_item(list_first(&broker->matching), struct queue, matching);
        struct subscription *by = longest_waiting(queue);

        if (queue_open(queue) && by) {
            match_assign(by, job_in_tree(tree_first(&queue->ready)));
            match_pay(broker, budget);
            continue;
        }
        list_remove(&queue->matching);
        if (queue_open(queue)) {
            owe_nudges(broker, queue, broker->wakeup);
        }
    }
}

void match_nudge(struct broker *broker, unsigned *budget)
{
    while (*budget > 0 && !list_empty(&broker->nudging)) {
        struct queue *queue = list_item(list_first(&broker->nudging), struct queue, nudging);
        struct subscription *first = first_of(queue, &queue->naps);
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
        session_wake(session);
        session->nudged = true;
        session->roused = broker->wakeup != 0;
        session->roused_by = queue->place;
        session_notify(session);
        match_pay(broker, budget);
    }
}
