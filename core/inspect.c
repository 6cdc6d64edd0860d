/* SPDX-License-Identifier: MIT */

// What the broker, its queues, jobs and sessions tell about themselves: facts, counters, and lists
// of jobs.

#include "core/job.h"

#include "core/gate.h"
#include "core/job_state.h"
#include "core/observe.h"
#include "core/statistics.h"
#include "core/watch.h"

//
// Facts
//

void broker_queue_info(const struct broker *broker, const struct queue *queue,
                       struct queue_info *info)
{
    *info = (struct queue_info){
        .total_jobs = queue->ever.submitted,
        .ended = queue->ever.completed + queue->ever.deleted - queue->ever.unwanted,
        .pauses = queue->pauses,
        .holders = queue->holders,
        .subscriptions = queue->subscriptions,
        .waiting = queue->waiting,
        .pause_for = queue->pause_for,
        .bytes = queue->bytes,
        .closed = queue->closed,
        .kept = queue->kept,
    };
    if (queue_paused(queue) && queue->pause_end.at > broker->now.mono) {
        info->pause_remaining_for = queue->pause_end.at - broker->now.mono;
    }
    if ((queue->closed & CLOSED_RATE) && gate_opens_at(queue) > broker->now.mono) {
        info->rate_remaining_for = gate_opens_at(queue) - broker->now.mono;
    }
    memcpy(info->jobs, queue->jobs, sizeof info->jobs);
    memcpy(info->ready, queue->ready_in, sizeof info->ready);
    memcpy(info->limits, queue->limits, sizeof info->limits);
}

const char *closed_reason_text(unsigned number)
{
    static const char *const reasons[CLOSED_REASONS] = {"paused", "rate", "running", "expiring"};

    ENSURE(number < CLOSED_REASONS);
    return reasons[number];
}

const struct queue *job_queue(const struct broker *broker, const struct job *job)
{
    return queue_at(broker, job);
}

bool job_held_by(const struct broker *broker, const struct job *job, const struct session *session)
{
    return session_holding(broker, job) == session;
}

const struct session *job_holder(const struct broker *broker, const struct job *job)
{
    return session_holding(broker, job);
}

void broker_job_info(const struct broker *broker, const struct job *job, struct job_info *info)
{
    const struct job_extra *extra = job->extra;
    const struct interest *interest = job_interest(job);

    *info = (struct job_info){
        .id = job->id,
        .state = (enum job_state)job->state,
        .queue = queue_at(broker, job),
        .pri = job->pri,
        .created_at = (nsec_t)calendar_to_wall_ms(broker, job->created_ms) * NSEC_PER_MSEC,
        .age_for = calendar_since(broker, job->created_ms),
        .ttr_for = nsec_from_seconds(job->ttr),
        .reserves = job->reserves,
        .attempts = job->attempts,
        .on_fail = (enum on_fail)job->on_fail,
        .on_loss = (enum on_loss)job->on_loss,
        .durable = job->durable,
    };
    if ((job->state == JOB_DELAYED || job->state == JOB_RESERVED) && job->due_at != NSEC_NEVER) {
        nsec_t now = job_due_on_wall(job) ? broker->now.wall : broker->now.mono;

        info->remaining_for = job->due_at > now ? job->due_at - now : 0;
    }
    if (extra) {
        info->delay_for = nsec_from_seconds(extra->delay);
        info->reserves += extra->reserves;
        info->timeouts = extra->timeouts;
        info->releases = extra->releases;
        info->buries = extra->buries;
        info->kicks = extra->kicks;
        info->max_attempts = extra->max_attempts;
        info->key_kind = (enum key_kind)extra->key_kind;
        info->key = slice_of(extra->names, extra->key_len);
        info->reducer = slice_of(extra->names + extra->key_len, extra->reducer_len);
        info->data_reported =
            (job->state == JOB_RESERVED || job_expired(job)) && extra->data_reported;
    }
    if (interest) {
        info->watches = interest->count;
        info->numerator = interest->numerator;
        info->denominator = interest->denominator;
    }
}

void broker_info(const struct broker *broker, struct broker_info *info)
{
    *info = (struct broker_info){
        .total_jobs = broker->count.ever.submitted,
        .timeouts = broker->count.ever.timeouts,
        .queues = broker->count.queues,
        .sessions = broker->count.sessions,
        .waiting = broker->count.waiting,
        .producers = broker->count.producers,
        .workers = broker->count.workers,
        .draining = broker->draining,
    };
    memcpy(info->jobs, broker->count.jobs, sizeof info->jobs);
    memcpy(info->ready, broker->count.ready_in, sizeof info->ready);
}

struct instant broker_now(const struct broker *broker)
{
    return broker->now;
}

void session_info(const struct session *session, struct session_info *info)
{
    *info = (struct session_info){
        .number = session->number,
        .held = session->lease_count,
        .watches = session->extra ? session->extra->watch_count : 0,
        .subscriptions = session->subscriptions,
        .waits_for_job = session->wait_state == WAITING_FOR_JOB,
        .waits_for_nudge = session->wait_state == WAITING_FOR_NUDGE,
        .producer = session->producer,
        .worker = session->worker,
    };
}

//
// Counters and times
//

void queue_counts(const struct queue *queue, struct counts *counts)
{
    *counts = queue->ever;
}

void broker_counts(const struct broker *broker, struct counts *counts)
{
    *counts = broker->count.ever;
}

void broker_observe(struct broker *broker, bool observe)
{
    broker->observing = observe;
}

const struct queue_times *queue_times(const struct queue *queue)
{
    return queue->times;
}

const struct queue_times *broker_times(const struct broker *broker)
{
    return &broker->times;
}

// The number of priorities that are examined at either end of the ready order.
#define OLDEST_PRIORITIES 32

static const struct job *job_older(const struct broker *broker, const struct job *a,
                                   const struct job *b)
{
    return !a || job_waited_for(broker, b) > job_waited_for(broker, a) ? b : a;
}

const struct job *queue_oldest_ready(const struct broker *broker, const struct queue *queue,
                                     nsec_t *age_for)
{
    const struct job *first = job_in_tree(tree_first(&queue->ready));
    const struct job *oldest = NULL;
    const struct job *last;
    uint32_t pri = 0;

    for (int i = 0; i < OLDEST_PRIORITIES && first; i++) {
        oldest = job_older(broker, oldest, first);
        pri = first->pri;
        first = queue_ready_after(queue, pri, JOB_SEQ_MAX);
    }
    last = first ? queue_ready_last(queue) : NULL;
    for (int i = 0; i < OLDEST_PRIORITIES && last && last->pri > pri; i++) {
        oldest = job_older(broker, oldest, queue_ready_after(queue, last->pri, 0));
        last = queue_ready_before(queue, last->pri);
    }
    *age_for = oldest ? job_waited_for(broker, oldest) : 0;
    return oldest;
}

bool job_state_for(const struct broker *broker, const struct job *job, nsec_t *state_for)
{
    if (job->state != JOB_READY) {
        return job_held_for(broker, job, state_for);
    }
    *state_for = job_waited_for(broker, job);
    return true;
}

//
// Lists of the jobs of a queue or a session. A cursor holds the keys that order the jobs, so that a
// list goes on from its place whatever has become of the job that it gave last.
//

static enum status cursor_found(const struct job *next, const struct job **job)
{
    *job = next;
    return next ? STATUS_OK : STATUS_EMPTY;
}

// at: pri, seq
static enum status cursor_next_ready(const struct queue *queue, struct job_cursor *cursor,
                                     const struct job **job)
{
    const struct job *next = queue_ready_after(queue, (uint32_t)cursor->at[0], cursor->at[1]);

    if (next) {
        cursor->at[0] = next->pri;
        cursor->at[1] = next->seq;
    }
    return cursor_found(next, job);
}

// part: the clock; at: due_at, order, seq
static enum status cursor_next_delayed(const struct queue *queue, struct job_cursor *cursor,
                                       const struct job **job)
{
    struct job *next = NULL;

    for (; cursor->part < CLOCKS; *cursor = (struct job_cursor){.part = cursor->part + 1}) {
        const struct delay_place place = {(nsec_t)cursor->at[0], (uint32_t)cursor->at[1],
                                          cursor->at[2]};

        next = queue_delayed_after(queue, (enum clock)cursor->part, &place);
        if (next) {
            cursor->at[0] = (uint64_t)next->due_at;
            cursor->at[1] = next->order;
            cursor->at[2] = next->seq;
            break;
        }
    }
    return cursor_found(next, job);
}

// at: burial of the last job, id of the last one that was passed. If that job has gone, its place
// is searched for from the start of the list: jobs that were buried first mostly go first.
static enum status cursor_next_buried(const struct broker *broker, const struct queue *queue,
                                      struct job_cursor *cursor, const struct job **job)
{
    const struct job *near = broker_job(broker, cursor->at[1]);
    const struct list_node *node;

    // A job that was buried again is further behind.
    if (near && (near->state != JOB_BURIED || near->queue != queue->place ||
                 near->burial > cursor->at[0])) {
        near = NULL;
    }
    node = near ? near->place.list.next : queue->buried.next;
    for (int i = 0; node != &queue->buried; i++, node = node->next) {
        const struct job *next = job_in_list(node);

        cursor->at[1] = next->id;
        if (next->burial > cursor->at[0]) {
            cursor->at[0] = next->burial;
            return cursor_found(next, job);
        }
        if (i == BROKER_SLICE) {
            return STATUS_MORE;
        }
    }
    return STATUS_EMPTY;
}

// at: due_at, seq
static enum status cursor_next_lease(const struct session *session, uint64_t at[2],
                                     const struct job **job)
{
    const struct job *next = session_lease_after(session, (nsec_t)at[0], at[1]);

    if (next) {
        at[0] = (uint64_t)next->due_at;
        at[1] = next->seq;
    }
    return cursor_found(next, job);
}

// The first session at `*place` or after it that holds jobs. If the budget runs out first, the
// session that was examined last; NULL if there are no more. `*place` becomes that of the last one
// examined.
static const struct session *cursor_next_holder(const struct broker *broker, uint32_t *place,
                                                unsigned *budget)
{
    const struct session *session;
    uint32_t after = *place;

    while ((session = table_next(&broker->index.sessions, &after))) {
        *place = session->place;
        if (session->lease_count > 0 || --*budget == 0) {
            break;
        }
    }
    return session;
}

// part: the place of the session; at: its number, due_at, seq
static enum status cursor_next_reserved(const struct broker *broker, const struct queue *queue,
                                        struct job_cursor *cursor, const struct job **job)
{
    unsigned budget = BROKER_SLICE;
    const struct session *session;

    while ((session = cursor_next_holder(broker, &cursor->part, &budget))) {
        if (cursor->at[0] != session->number) {
            *cursor = (struct job_cursor){.part = session->place, .at = {session->number}};
        }
        while (cursor_next_lease(session, cursor->at + 1, job) == STATUS_OK) {
            if ((*job)->queue == queue->place) {
                return STATUS_OK;
            }
            if (--budget == 0) {
                return STATUS_MORE;
            }
        }
        cursor->part++;
        if (budget == 0) {
            return STATUS_MORE;
        }
    }
    return STATUS_EMPTY;
}

enum status queue_jobs_next(const struct broker *broker, const struct queue *queue,
                            enum job_state state, struct job_cursor *cursor, const struct job **job)
{
    switch (state) {
    case JOB_DELAYED:
        return cursor_next_delayed(queue, cursor, job);
    case JOB_READY:
        return cursor_next_ready(queue, cursor, job);
    case JOB_RESERVED:
        return cursor_next_reserved(broker, queue, cursor, job);
    case JOB_BURIED:
        return cursor_next_buried(broker, queue, cursor, job);
    case JOB_GONE:
        break;
    }
    return STATUS_EMPTY;
}

enum status session_jobs_next(const struct session *session, struct job_cursor *cursor,
                              const struct job **job)
{
    return cursor_next_lease(session, cursor->at, job);
}
