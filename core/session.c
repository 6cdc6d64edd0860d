/* SPDX-License-Identifier: MIT */
#include "core/session.h"

#include "core/broker_private.h"

#include <limits.h>

static size_t session_size(enum choice choice)
{
    return sizeof(struct session) + (choice == CHOICE_IN_TURN ? sizeof(struct rota) : 0);
}

enum status broker_session_open(struct broker *broker, const struct session_ops *ops, void *owner,
                                enum choice choice, struct session **session)
{
    struct session *opened;

    if (!table_make_room(&broker->sessions)) {
        return STATUS_NO_MEMORY;
    }
    opened = slab_calloc(&broker->slab, session_size(choice));
    if (!opened) {
        return STATUS_NO_MEMORY;
    }
    opened->broker = broker;
    opened->ops = ops;
    opened->owner = owner;
    opened->choice = (uint8_t)choice;
    opened->number = broker->next_session++;
    opened->place = table_put(&broker->sessions, opened);
    opened->alarm.at = NSEC_NEVER;
    list_init(&opened->subscribed);
    rota_init(opened);
    list_init(&opened->notice);
    broker->session_count++;
    *session = opened;
    return STATUS_OK;
}

size_t session_leases(const struct session *session)
{
    return session->lease_count;
}

// The moment at which its first lease ends, NSEC_NEVER for none.
static nsec_t first_lease_end(const struct session *session)
{
    const struct job *first = job_in_tree(tree_first(&session->leases));

    return first ? first->due_at : NSEC_NEVER;
}

// When the session is to be warned of that.
static nsec_t warn_at(const struct session *session)
{
    nsec_t end = first_lease_end(session);

    return session->margin_ms == MARGIN_NONE || end == NSEC_NEVER
               ? NSEC_NEVER
               : end - (nsec_t)session->margin_ms * NSEC_PER_MSEC;
}

bool session_lease_ends_soon(const struct session *session)
{
    return warn_at(session) <= session->broker->now.mono;
}

struct session_extra *session_extra(struct session *session)
{
    if (!session->extra) {
        session->extra = slab_calloc(&session->broker->slab, sizeof *session->extra);
        if (session->extra) {
            list_init(&session->extra->watches);
            list_init(&session->extra->walks);
        }
    }
    return session->extra;
}

void session_notify(struct session *session)
{
    if (!list_linked(&session->notice)) {
        list_append(&session->broker->notices, &session->notice);
    }
}

// Of what comes at the same time, leases of all sessions end first, so that who waits may get the
// job, then waits; of each, those of the session that was opened first.
#define RANK_WAIT (UINT64_C(1) << 63)

void session_rearm(struct session *session)
{
    nsec_t at = first_lease_end(session);
    uint64_t rank = session->number;

    if (session->pose == POSE_WAITING) {
        nsec_t warn = warn_at(session);
        nsec_t over = session->until < warn ? session->until : warn;

        if (over < at) {
            at = over;
            rank |= RANK_WAIT;
        }
    }
    moment_set(&session->broker->alarms, &session->alarm, at, rank);
}

bool session_walk_leases(struct session *session, nsec_t until, lease_fn act,
                         const struct subscription *subscription)
{
    struct session_extra none = {.walked_due_at = 0};
    struct session_extra *walk = NULL;
    unsigned budget = BROKER_SLICE;
    struct job *job;

    // What was begun in slices goes on from its place, however few are left.
    if (session->lease_count > BROKER_SLICE || (session->extra && session->extra->walked_due_at)) {
        walk = session_extra(session);
    }
    if (!walk) {
        walk = &none;
        budget = UINT_MAX; // never used up
    }
    while ((job = session_lease_after(session, walk->walked_due_at, walk->walked_seq)) &&
           job->due_at <= until) {
        if (budget == 0) {
            return false;
        }
        walk->walked_due_at = job->due_at;
        walk->walked_seq = job->seq;
        act(session, job, subscription);
        match_pay(session->broker, &budget);
    }
    walk->walked_due_at = 0;
    walk->walked_seq = 0;
    return true;
}

static void free_session(struct session *session)
{
    struct broker *broker = session->broker;

    moment_set(&broker->alarms, &session->alarm, NSEC_NEVER, 0);
    list_remove(&session->notice);
    table_remove(&broker->sessions, session->place);
    if (session->extra) {
        slab_free(&broker->slab, session->extra->spare, sizeof *session->extra->spare);
        slab_free(&broker->slab, session->extra, sizeof *session->extra);
    }
    slab_free(&broker->slab, session, session_size((enum choice)session->choice));
}

// Jobs that a session holds come back together. Their order in its leases means nothing to those
// who wait for them: what is best goes first.
static void dismantle(struct session *session, unsigned *budget)
{
    struct broker *broker = session->broker;

    for (; *budget > 0; --*budget) {
        struct list_node *watch = session->extra ? list_first(&session->extra->watches) : NULL;
        struct tree_node *lease = tree_first(&session->leases);
        struct list_node *subscription = list_first(&session->subscribed);

        // Watches first: what only this session wanted is not handed on to others.
        if (watch) {
            watch_drop(list_item(watch, struct watch, in_session));
        } else if (lease) {
            outcome_lost(broker, job_in_tree(lease), LOSS_LEFT);
        } else if (subscription) {
            subscription_end(list_item(subscription, struct subscription, in_session));
        } else {
            free_session(session);
            return;
        }
    }
}

void session_dismantle(struct session *session, unsigned *budget)
{
    struct broker *broker = session->broker;
    unsigned matches = BROKER_SLICE;

    broker->gathering = true;
    dismantle(session, budget);
    broker->gathering = false;
    match_backlog(broker, &matches);
}

void broker_session_close(struct session *session)
{
    unsigned budget = BROKER_SLICE;

    if (!session) {
        return;
    }
    ENSURE(!session->broker->settling);
    session->broker->position = 0;
    // It gets up from its queues as its subscriptions end, which may be very many.
    session->broker->waiting -= session->pose != POSE_AWAKE;
    session->pose = POSE_AWAKE;
    match_pass_on(session, NULL);
    subscription_walks_stop(session);
    session->closed = true;
    session->broker->session_count--;
    moment_set(&session->broker->alarms, &session->alarm, NSEC_NEVER, 0);
    list_remove(&session->notice);
    list_append(&session->broker->closing, &session->notice);
    session_dismantle(session, &budget);
}
