/* SPDX-License-Identifier: MIT */

// A turn of the broker: broker_tick() does what is due, and broker_settle() tells sessions of it. A
// session that closes is taken apart by the ticks that follow. Each kind of work has a slice of its
// own, so that a flood of one does not hold up the others.

#include "core/broker.h"

#include "core/charge.h"
#include "core/expiry.h"
#include "core/gate.h"
#include "core/match.h"
#include "core/outcome.h"
#include "core/subscription.h"
#include "core/watch.h"

//
// Settling
//

static void settle_session(struct session *session)
{
    struct job *assigned = session->assigned;

    list_remove(&session->notice);
    session->assigned = NULL;
    if (assigned) {
        session->ops->leased(session->owner, assigned);
    }
    if (session->waited_enough) {
        session->waited_enough = false;
        session->ops->wait_over(session->owner, (enum wait_end)session->why);
    }
    if (session->nudged) {
        session->nudged = false;
        session->ops->nudged(session->owner);
    }
    if (session->emptied) {
        session->emptied = false;
        // A renewal takes a lease out and puts it back, and the session may hold another job by
        // now.
        if (session->lease_count == 0) {
            session->ops->emptied(session->owner);
        }
    }
}

static bool settle_pending(const struct broker *broker)
{
    return !tree_empty(&broker->matching.backlog) || !list_empty(&broker->matching.nudging) ||
           !list_empty(&broker->telling.sessions) || !list_empty(&broker->telling.interests);
}

// APART is worth 0.8 % of a reserve and a delete, by tests/budget.
static APART void settle_slice(struct broker *broker)
{
    unsigned sessions = BROKER_SLICE;
    unsigned backlog = BROKER_SLICE;
    unsigned nudges = BROKER_SLICE;
    unsigned events = BROKER_SLICE;

    broker->charge.links = 0;
    match_backlog(broker, &backlog);
    match_nudge(broker, &nudges);
    broker->settling = true;
    for (; sessions > 0 && !list_empty(&broker->telling.sessions); sessions--) {
        settle_session(list_item(list_first(&broker->telling.sessions), struct session, notice));
    }
    interest_tell_all(broker, &events);
    broker->settling = false;
}

bool broker_settle(struct broker *broker)
{
    if (!settle_pending(broker)) {
        return false;
    }
    settle_slice(broker);
    return settle_pending(broker);
}

//
// Closing sessions
//

// The jobs of a session come back together, and the best of them is to be assigned first, whatever
// their order among the leases: the caller defers matching (match.h) meanwhile.
static void session_dismantle(struct session *session, unsigned *budget)
{
    struct broker *broker = session->broker;

    for (; *budget > 0; --*budget) {
        struct list_node *watch = session->extra ? list_first(&session->extra->watches) : NULL;
        struct tree_node *lease = tree_first(&session->leases);
        struct list_node *subscription = list_first(&session->subscribed);

        // Watches first: a job that only this session wanted is not given to another worker.
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

void broker_dismantle(struct broker *broker)
{
    while (!list_empty(&broker->closing)) {
        unsigned budget = BROKER_SLICE;

        session_dismantle(list_item(list_first(&broker->closing), struct session, notice), &budget);
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
    // A closed session may hold jobs for some more ticks, but its owner is gone.
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
    // It leaves the lists of its queues later, as its subscriptions end: there may be very many.
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

//
// Ticks
//

// The first moment of the tree, if it is due; otherwise NULL.
static struct timer *tick_first_due(const struct tree *tree, nsec_t now)
{
    struct timer *first = timer_first(tree);

    return first && first->at <= now ? first : NULL;
}

static void tick_end_delay(struct broker *broker, const struct queue *queue, enum clock clock)
{
    struct job *job = job_in_tree(tree_first(&queue->delayed[clock]));
    const struct job_place ready = job_ready_place(job);

    match_ready(broker, job, &ready);
}

static void tick_end_delay_mono(struct broker *broker, struct timer *timer)
{
    tick_end_delay(broker, container_of(timer, struct queue, due[CLOCK_MONO]), CLOCK_MONO);
}

static void tick_end_delay_wall(struct broker *broker, struct timer *timer)
{
    tick_end_delay(broker, container_of(timer, struct queue, due[CLOCK_WALL]), CLOCK_WALL);
}

static void tick_end_pause(struct broker *broker, struct timer *timer)
{
    struct queue *queue = container_of(timer, struct queue, pause_end);

    queue_resume(broker, queue);
    queue_vanish_if_idle(broker, queue);
}

static void tick_end_gate(struct broker *broker, struct timer *timer)
{
    struct gate *gate = container_of(timer, struct gate, wakes);
    struct queue *queue = gate->queue;

    gate_wake(broker, gate);
    queue_vanish_if_idle(broker, queue);
}

// Ends a lease of the session whose time to run or limit is over, or its wait. False if the slice
// of matches is used up: a session that may still get a job waits on until the next tick.
static bool tick_alarm(struct broker *broker, struct timer *timer, unsigned *matches)
{
    struct session *session = container_of(timer, struct session, alarm);
    struct job *lease = job_in_tree(tree_first(&session->leases));
    bool soon;

    if (lease && lease->due_at <= broker->now.mono) {
        nsec_t limit_at = lease->extra ? lease->extra->limit_at : 0;

        lease->on_wall_or_undelivered =
            session->ops->undelivered && session->ops->undelivered(session->owner, lease->id);
        outcome_lost(broker, lease,
                     limit_at && limit_at <= broker->now.mono ? CAUSE_LIMIT : CAUSE_TTR);
        match_serve_lost(broker);
        return true;
    }
    if (!tree_empty(&broker->matching.backlog)) {
        // A session that waits until this very moment still gets a job.
        match_backlog(broker, matches);
        return tree_empty(&broker->matching.backlog);
    }
    if (session_relinks(session)) {
        // A job may be ready in a queue that the session has no link to yet.
        match_session(session);
        if (session->wait_state != WAITING_FOR_JOB) {
            return true;
        }
    }
    soon = session_lease_ends_soon(session);
    session_stop_waiting(session);
    session->waited_enough = true;
    session->why = (soon ? WAIT_LEASE_SOON : WAIT_TIMED_OUT) & 1u;
    session_notify(session);
    return true;
}

static void tick_alarms(struct broker *broker, unsigned *matches)
{
    unsigned budget = BROKER_SLICE;
    struct timer *timer;

    while (budget > 0 && (timer = tick_first_due(&broker->timers.sessions, broker->now.mono)) &&
           tick_alarm(broker, timer, matches)) {
        charge_pay_unit(broker, &budget);
    }
}

// Ends the timers of the tree that are due, at most a slice of them.
static void tick_due(struct broker *broker, const struct tree *tree, nsec_t now,
                     void (*end)(struct broker *broker, struct timer *timer))
{
    struct timer *timer;

    for (unsigned budget = BROKER_SLICE; budget > 0 && (timer = tick_first_due(tree, now));) {
        end(broker, timer);
        charge_pay_unit(broker, &budget);
    }
}

// Work that most brokers never have, behind one branch: worth 1 % of a reserve and a delete, by
// tests/budget.
static APART void tick_rare(struct broker *broker)
{
    unsigned budget = BROKER_SLICE;
    struct queue *queue;

    if (broker->policies.changed && broker->policies.again_at <= broker->now.mono) {
        while ((queue = policies_walk(broker, &budget))) {
            queue_vanish_if_idle(broker, queue);
        }
    }
    if (broker->memos.over_limit) {
        memos_evict(broker);
    }
    if (broker->gates.dropped) {
        budget = BROKER_SLICE;
        expiry_free_dropped(broker, &budget);
    }
    if (!list_empty(&broker->matching.relinking)) {
        waiting_relink(broker);
    }
    tick_due(broker, &broker->timers.gates, broker->now.mono, tick_end_gate);
    tick_due(broker, &broker->timers.expiries, broker->now.mono, expire_step);
    tick_due(broker, &broker->memos.ends, broker->now.wall, memo_end);
}

// Jobs that become ready in one tick are assigned when all of them are ready, best first.
void broker_tick(struct broker *broker, struct instant now)
{
    unsigned matches = BROKER_SLICE;
    unsigned budget = BROKER_SLICE;

    ENSURE(now.mono >= broker->now.mono && !broker->settling);
    broker->now = now;
    calendar_review(broker);
    broker->charge.links = 0;
    broker->matching.deferred = true;
    while (budget > 0 && !list_empty(&broker->closing)) {
        session_dismantle(list_item(list_first(&broker->closing), struct session, notice), &budget);
    }
    if (!list_empty(&broker->snapshots.to_sort)) {
        queue_snapshots_sort(broker);
    }
    tick_due(broker, &broker->timers.delays[CLOCK_MONO], now.mono, tick_end_delay_mono);
    tick_due(broker, &broker->timers.delays[CLOCK_WALL], now.wall, tick_end_delay_wall);
    tick_due(broker, &broker->timers.pauses, now.mono, tick_end_pause);
    if (broker->rare) {
        tick_rare(broker);
    }
    tick_alarms(broker, &matches);
    broker->matching.deferred = false;
    if (!tree_empty(&broker->matching.backlog)) {
        match_backlog(broker, &matches);
    }
}

static nsec_t due_first_at(const struct tree *tree)
{
    const struct timer *first = timer_first(tree);

    return first ? first->at : NSEC_NEVER;
}

static nsec_t due_sooner(nsec_t a, nsec_t b)
{
    return a < b ? a : b;
}

// When to read the wall clock again for those moments: it may be set at any time.
static nsec_t due_wall_at(const struct broker *broker, const struct tree *tree)
{
    const struct timer *first = timer_first(tree);
    nsec_t left;

    if (!first) {
        return NSEC_NEVER;
    }
    left = first->at > broker->now.wall ? first->at - broker->now.wall : 0;
    return broker->now.mono + due_sooner(left, NSEC_PER_SEC);
}

static APART nsec_t due_rare_at(const struct broker *broker)
{
    nsec_t at =
        due_sooner(due_first_at(&broker->timers.gates), due_first_at(&broker->timers.expiries));

    at = due_sooner(at, due_wall_at(broker, &broker->memos.ends));
    if (broker->memos.over_limit || broker->gates.dropped ||
        !list_empty(&broker->matching.relinking)) {
        at = broker->now.mono;
    }
    return broker->policies.changed ? due_sooner(at, broker->policies.again_at) : at;
}

nsec_t broker_next_due(const struct broker *broker)
{
    nsec_t at;

    if (!list_empty(&broker->closing) || !list_empty(&broker->snapshots.to_sort) ||
        settle_pending(broker)) {
        return broker->now.mono;
    }
    at = due_sooner(due_first_at(&broker->timers.delays[CLOCK_MONO]),
                    due_first_at(&broker->timers.pauses));
    at = due_sooner(at, due_first_at(&broker->timers.sessions));
    at = due_sooner(at, due_wall_at(broker, &broker->timers.delays[CLOCK_WALL]));
    if (broker->rare) {
        at = due_sooner(at, due_rare_at(broker));
    }
    return at > broker->now.mono ? at : broker->now.mono;
}
