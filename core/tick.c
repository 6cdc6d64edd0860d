/* SPDX-License-Identifier: MIT */

// What falls due. Each kind of work has a slice of its own, so that a flood of one does not hold up
// the others.

#include "core/cleanup.h"
#include "core/match.h"
#include "core/outcome.h"
#include "core/broker_private.h"
#include "core/timers.h"
#include "core/charge.h"
#include "core/expiry.h"
#include "core/gate.h"
#include "core/job_state.h"
#include "core/job_private.h"
#include "core/memo_private.h"
#include "core/queue_private.h"
#include "core/policy_private.h"
#include "core/session_private.h"
#include "core/close.h"
#include "core/expire.h"
#include "core/settle.h"

// The first moment of the tree, where it has come.
static struct timer *due(const struct tree *tree, nsec_t now)
{
    struct timer *first = timer_first(tree);

    return first && first->at <= now ? first : NULL;
}

static void end_delay(struct broker *broker, const struct queue *queue, enum clock clock)
{
    struct job *job = job_in_tree(tree_first(&queue->delayed[clock]));
    const struct job_place ready = job_ready_place(job);

    match_ready(broker, job, &ready);
}

static void end_delay_mono(struct broker *broker, struct timer *moment)
{
    end_delay(broker, container_of(moment, struct queue, due[CLOCK_MONO]), CLOCK_MONO);
}

static void end_delay_wall(struct broker *broker, struct timer *moment)
{
    end_delay(broker, container_of(moment, struct queue, due[CLOCK_WALL]), CLOCK_WALL);
}

static void end_pause(struct broker *broker, struct timer *moment)
{
    struct queue *queue = container_of(moment, struct queue, pause_end);

    queue_resume(broker, queue);
    queue_vanish_if_idle(broker, queue);
}

static void end_gate(struct broker *broker, struct timer *moment)
{
    struct gate *gate = container_of(moment, struct gate, wakes);
    struct queue *queue = gate->queue;

    gate_wake(broker, gate);
    queue_vanish_if_idle(broker, queue);
}

static void attach_policies(struct broker *broker)
{
    unsigned budget = BROKER_SLICE;
    struct queue *queue;

    while ((queue = policies_walk(broker, &budget))) {
        queue_vanish_if_idle(broker, queue);
    }
}

static void end_wait(struct session *session, enum wait_end why)
{
    session_stop_waiting(session);
    session->waited_enough = true;
    session->why = why & 1u;
    session_notify(session);
}

static void end_lease(struct broker *broker, struct job *job)
{
    bool limited = job->extra && job->extra->limit_at && job->extra->limit_at <= broker->now.mono;
    const struct session *holder = session_holding(broker, job);

    job->on_wall_or_undelivered =
        holder->ops->undelivered && holder->ops->undelivered(holder->owner, job->id);
    outcome_lost(broker, job, limited ? CAUSE_LIMIT : CAUSE_TTR);
    match_serve_lost(broker);
}

// Ends a lease or a wait. False where the wait of a session that is to get a job first, as there
// may be one, is not over in this tick: the slice is used up.
static bool alarm_due(struct broker *broker, struct timer *moment, unsigned *matches)
{
    struct session *session = container_of(moment, struct session, alarm);
    struct job *lease = job_in_tree(tree_first(&session->leases));

    if (lease && lease->due_at <= broker->now.mono) {
        end_lease(broker, lease);
        return true;
    }
    if (!tree_empty(&broker->matching.backlog)) {
        // Who waits until this very moment gets one.
        match_backlog(broker, matches);
        return tree_empty(&broker->matching.backlog);
    }
    if (session_relinks(session)) {
        // A job may be ready where it has no link yet.
        match_session(session);
        if (session->wait_state != WAITING_FOR_JOB) {
            return true;
        }
    }
    if (session_lease_ends_soon(session)) {
        end_wait(session, WAIT_LEASE_SOON);
    } else {
        end_wait(session, WAIT_TIMED_OUT);
    }
    return true;
}

static void do_alarms(struct broker *broker, unsigned *matches)
{
    unsigned budget = BROKER_SLICE;
    struct timer *moment;

    while (budget > 0 && (moment = due(&broker->timers.sessions, broker->now.mono)) &&
           alarm_due(broker, moment, matches)) {
        charge_pay_unit(broker, &budget);
    }
}

// Does what is due of those moments, one slice of it.
static void do_due(struct broker *broker, const struct tree *moments, nsec_t now,
                   void (*end)(struct broker *broker, struct timer *moment))
{
    struct timer *moment;

    for (unsigned budget = BROKER_SLICE; budget > 0 && (moment = due(moments, now));) {
        end(broker, moment);
        charge_pay_unit(broker, &budget);
    }
}

static void dismantle_closed(struct broker *broker)
{
    unsigned budget = BROKER_SLICE;

    while (budget > 0 && !list_empty(&broker->closing)) {
        session_dismantle(list_item(list_first(&broker->closing), struct session, notice), &budget);
    }
}

static void keep_up(struct broker *broker)
{
    if (broker->policies.changed && broker->policies.again_at <= broker->now.mono) {
        attach_policies(broker);
    }
    if (broker->memos.over_limit) {
        memos_evict(broker);
    }
    if (broker->gates.dropped) {
        unsigned budget = BROKER_SLICE;

        expiry_free_dropped(broker, &budget);
    }
    if (!list_empty(&broker->matching.relinking)) {
        waiting_relink(broker);
    }
}

// What most brokers never have, and see with one branch: worth 1 % of a reserve and a delete, by
// tests/budget.
static APART void do_rare(struct broker *broker)
{
    keep_up(broker);
    do_due(broker, &broker->timers.gates, broker->now.mono, end_gate);
    do_due(broker, &broker->timers.expiries, broker->now.mono, expire_step);
    do_due(broker, &broker->memos.ends, broker->now.wall, memo_end);
}

// All that becomes ready in one tick meets those who wait when it is there, so that what comes
// first is not by chance what is given first.
void broker_tick(struct broker *broker, struct instant now)
{
    unsigned matches = BROKER_SLICE;

    ENSURE(now.mono >= broker->now.mono && !broker->settling);
    broker->now = now;
    calendar_review(broker);
    broker->charge.links = 0;
    broker->matching.deferred = true;
    dismantle_closed(broker);
    if (!list_empty(&broker->snapshots.to_sort)) {
        queue_snapshots_sort(broker);
    }
    do_due(broker, &broker->timers.delays[CLOCK_MONO], now.mono, end_delay_mono);
    do_due(broker, &broker->timers.delays[CLOCK_WALL], now.wall, end_delay_wall);
    do_due(broker, &broker->timers.pauses, now.mono, end_pause);
    if (broker->rare) {
        do_rare(broker);
    }
    do_alarms(broker, &matches);
    broker->matching.deferred = false;
    if (!tree_empty(&broker->matching.backlog)) {
        match_backlog(broker, &matches);
    }
}

static nsec_t first_at(const struct tree *tree)
{
    const struct timer *first = timer_first(tree);

    return first ? first->at : NSEC_NEVER;
}

static nsec_t sooner(nsec_t a, nsec_t b)
{
    return a < b ? a : b;
}

// When to look at the wall clock again for those moments: it may be set at any time.
static nsec_t wall_look(const struct broker *broker, const struct tree *moments)
{
    const struct timer *first = timer_first(moments);
    nsec_t left;

    if (!first) {
        return NSEC_NEVER;
    }
    left = first->at > broker->now.wall ? first->at - broker->now.wall : 0;
    return broker->now.mono + sooner(left, NSEC_PER_SEC);
}

static APART nsec_t rare_due(const struct broker *broker)
{
    nsec_t at = sooner(first_at(&broker->timers.gates), first_at(&broker->timers.expiries));

    at = sooner(at, wall_look(broker, &broker->memos.ends));
    if (broker->memos.over_limit || broker->gates.dropped ||
        !list_empty(&broker->matching.relinking)) {
        at = broker->now.mono;
    }
    return broker->policies.changed ? sooner(at, broker->policies.again_at) : at;
}

nsec_t broker_next_due(const struct broker *broker)
{
    nsec_t at;

    if (!list_empty(&broker->closing) || !list_empty(&broker->snapshots.to_sort) ||
        settle_pending(broker)) {
        return broker->now.mono;
    }
    at = sooner(first_at(&broker->timers.delays[CLOCK_MONO]), first_at(&broker->timers.pauses));
    at = sooner(at, first_at(&broker->timers.sessions));
    at = sooner(at, wall_look(broker, &broker->timers.delays[CLOCK_WALL]));
    if (broker->rare) {
        at = sooner(at, rare_due(broker));
    }
    return at > broker->now.mono ? at : broker->now.mono;
}
