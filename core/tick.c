/* SPDX-License-Identifier: MIT */

// The turn: what falls due, and who is told. Each kind of work has a slice of its own, so that a
// flood of one does not hold up the others.

#include "core/broker_private.h"

static bool moment_before(const struct tree_node *a, const struct tree_node *b)
{
    const struct moment *x = container_of((struct tree_node *)(uintptr_t)a, struct moment, node);
    const struct moment *y = container_of((struct tree_node *)(uintptr_t)b, struct moment, node);

    if (x->at != y->at || x->rank == y->rank) {
        return x->at != y->at ? x->at < y->at : (uintptr_t)x < (uintptr_t)y;
    }
    return x->rank < y->rank;
}

void moment_set(struct tree *tree, struct moment *moment, nsec_t at, uint64_t rank)
{
    if (at == moment->at && (rank == moment->rank || at == NSEC_NEVER)) {
        return;
    }
    if (moment->at != NSEC_NEVER) {
        tree_remove(tree, &moment->node, moment_before);
    }
    moment->at = at;
    moment->rank = rank;
    if (at != NSEC_NEVER) {
        tree_insert(tree, &moment->node, moment_before);
    }
}

// The first moment of the tree, where it has come.
static struct moment *due(const struct tree *tree, nsec_t now)
{
    struct moment *first = moment_first(tree);

    return first && first->at <= now ? first : NULL;
}

static void end_delay(struct broker *broker, const struct queue *queue, enum clock clock)
{
    struct job *job = job_in_tree(tree_first(&queue->delayed[clock]));
    const struct job_place ready = job_ready_place(job);

    match_ready(broker, job, &ready);
}

static void end_delay_mono(struct broker *broker, struct moment *moment)
{
    end_delay(broker, container_of(moment, struct queue, due[CLOCK_MONO]), CLOCK_MONO);
}

static void end_delay_wall(struct broker *broker, struct moment *moment)
{
    end_delay(broker, container_of(moment, struct queue, due[CLOCK_WALL]), CLOCK_WALL);
}

static void end_pause(struct broker *broker, struct moment *moment)
{
    struct queue *queue = container_of(moment, struct queue, resumes);

    queue_resume(broker, queue);
    queue_vanish_if_idle(broker, queue);
}

static void end_wait(struct session *session, enum wait_end why)
{
    session_wake(session);
    session->waited_enough = true;
    session->why = (uint8_t)why;
    session_notify(session);
}

static void end_lease(struct broker *broker, struct job *job)
{
    bool limited = job->extra && job->extra->limit_at && job->extra->limit_at <= broker->now.mono;

    outcome_lost(broker, job, limited ? LOSS_LIMIT : LOSS_TTR);
}

static void ring_alarm(struct broker *broker, struct moment *moment)
{
    struct session *session = container_of(moment, struct session, alarm);
    struct job *lease = job_in_tree(tree_first(&session->leases));

    if (lease && lease->due_at <= broker->now.mono) {
        end_lease(broker, lease);
    } else if (session_lease_ends_soon(session)) {
        end_wait(session, WAIT_LEASE_SOON);
    } else {
        end_wait(session, WAIT_TIMED_OUT);
    }
}

// Does what is due of those moments, one slice of it.
static void fall_due(struct broker *broker, const struct tree *moments, nsec_t now,
                     void (*fall)(struct broker *broker, struct moment *moment))
{
    struct moment *moment;

    for (unsigned budget = BROKER_SLICE; budget > 0 && (moment = due(moments, now));) {
        fall(broker, moment);
        match_pay(broker, &budget);
    }
}

static void take_apart(struct broker *broker)
{
    unsigned budget = BROKER_SLICE;

    while (budget > 0 && !list_empty(&broker->closing)) {
        session_dismantle(list_item(list_first(&broker->closing), struct session, notice), &budget);
    }
}

void broker_tick(struct broker *broker, struct instant now)
{
    unsigned budget = BROKER_SLICE;

    ENSURE(now.mono >= broker->now.mono && !broker->settling);
    broker->now = now;
    calendar_review(broker);
    broker->bill = 0;
    take_apart(broker);
    fall_due(broker, &broker->due_queues[CLOCK_MONO], now.mono, end_delay_mono);
    fall_due(broker, &broker->due_queues[CLOCK_WALL], now.wall, end_delay_wall);
    fall_due(broker, &broker->pauses, now.mono, end_pause);
    if (!list_empty(&broker->matching)) {
        match_backlog(broker, &budget);
    }
    fall_due(broker, &broker->alarms, now.mono, ring_alarm);
}

static void tell_session(struct session *session)
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
}

// Is anything left for broker_settle()?
static bool untold(const struct broker *broker)
{
    return !list_empty(&broker->matching) || !list_empty(&broker->nudging) ||
           !list_empty(&broker->notices) || !list_empty(&broker->news) ||
           !list_empty(&broker->long_news);
}

static APART void settle(struct broker *broker)
{
    unsigned sessions = BROKER_SLICE;
    unsigned backlog = BROKER_SLICE;
    unsigned nudges = BROKER_SLICE;
    unsigned events = BROKER_SLICE;

    broker->bill = 0;
    match_backlog(broker, &backlog);
    match_nudge(broker, &nudges);
    broker->settling = true;
    for (; sessions > 0 && !list_empty(&broker->notices); sessions--) {
        tell_session(list_item(list_first(&broker->notices), struct session, notice));
    }
    interest_tell_all(broker, &events);
    broker->settling = false;
}

bool broker_settle(struct broker *broker)
{
    if (!untold(broker)) {
        return false;
    }
    settle(broker);
    return untold(broker);
}

static nsec_t first_at(const struct tree *tree)
{
    const struct moment *first = moment_first(tree);

    return first ? first->at : NSEC_NEVER;
}

static nsec_t sooner(nsec_t a, nsec_t b)
{
    return a < b ? a : b;
}

// When to look at the wall clock again: it may be set at any time.
static nsec_t wall_look(const struct broker *broker)
{
    const struct moment *first = moment_first(&broker->due_queues[CLOCK_WALL]);
    nsec_t left;

    if (!first) {
        return NSEC_NEVER;
    }
    left = first->at > broker->now.wall ? first->at - broker->now.wall : 0;
    return broker->now.mono + sooner(left, NSEC_PER_SEC);
}

nsec_t broker_next_due(const struct broker *broker)
{
    nsec_t at;

    if (!list_empty(&broker->closing) || untold(broker)) {
        return broker->now.mono;
    }
    at = sooner(first_at(&broker->due_queues[CLOCK_MONO]), first_at(&broker->pauses));
    at = sooner(at, first_at(&broker->alarms));
    at = sooner(at, wall_look(broker));
    return at > broker->now.mono ? at : broker->now.mono;
}
