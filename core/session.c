/* SPDX-License-Identifier: MIT */

#include "core/session_private.h"

#include "core/base/memory.h"
#include "core/broker_private.h"
#include "core/charge.h"
#include "core/job_private.h"
#include "core/queue_private.h"
#include "core/subscription.h"

#include <string.h>

static size_t session_size(enum choice choice)
{
    return sizeof(struct session) + (choice == CHOICE_IN_TURN ? sizeof(struct round_robin) : 0);
}

enum status broker_session_open(struct broker *broker, const struct session_ops *ops, void *owner,
                                enum choice choice, struct session **session)
{
    struct session *opened;

    if (!table_make_room(&broker->index.sessions)) {
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
    opened->number = broker->next.session++;
    opened->place = table_put(&broker->index.sessions, opened);
    opened->alarm.at = NSEC_NEVER;
    list_init(&opened->subscribed);
    round_robin_init(opened);
    list_init(&opened->notice);
    broker->count.sessions++;
    *session = opened;
    return STATUS_OK;
}

size_t session_leases(const struct session *session)
{
    return session->lease_count;
}

bool session_is_idle(const struct session *session)
{
    return session->lease_count == 0 && session->wait_state == WAITING_NOT &&
           (!session->extra || list_empty(&session->extra->watches));
}

// The moment at which its first lease ends, NSEC_NEVER for none.
static nsec_t session_first_lease_end(const struct session *session)
{
    const struct job *first = job_in_tree(tree_first(&session->leases));

    return first ? first->due_at : NSEC_NEVER;
}

// The moment of the warning before that.
static nsec_t session_warn_at(const struct session *session)
{
    nsec_t end = session_first_lease_end(session);

    return session->margin_ms == MARGIN_NONE || end == NSEC_NEVER
               ? NSEC_NEVER
               : end - (nsec_t)session->margin_ms * NSEC_PER_MSEC;
}

bool session_lease_ends_soon(const struct session *session)
{
    return session_warn_at(session) <= session->broker->now.mono;
}

struct session_extra *session_extra(struct session *session)
{
    if (session->extra) {
        return session->extra;
    }
    session->extra = slab_calloc(&session->broker->slab, sizeof *session->extra);
    if (session->extra) {
        list_init(&session->extra->watches);
        list_init(&session->extra->walks);
        // The session is not wide yet: it has at most LINKS_IN_SLICE subscriptions.
        list_each (node, &session->subscribed) {
            session->extra->barred += list_item(node, struct subscription, in_session)->barred;
        }
    }
    return session->extra;
}

struct session_wide *session_wide(struct session *session)
{
    struct slab *slab = &session->broker->slab;
    struct session_extra *before = session_extra(session);
    struct session_extra *extra;

    if (session->wide || !before) {
        return before ? before->wide : NULL;
    }
    extra = slab_calloc(slab, sizeof *extra + sizeof *extra->wide);
    if (!extra) {
        return NULL;
    }
    memcpy(extra, before, sizeof *extra);
    list_init(&extra->watches);
    list_append_all(&extra->watches, &before->watches);
    list_init(&extra->walks);
    list_append_all(&extra->walks, &before->walks);
    extra->wide->session = session;
    list_init(&extra->wide->relinking);
    list_init(&extra->wide->linking.in_session);
    list_init(&extra->wide->judging.in_session);
    slab_free(slab, before, sizeof *before);
    session->extra = extra;
    session->wide = true;
    return extra->wide;
}

void session_begin_producer(struct session *session)
{
    session->producer = true;
    session->broker->count.producers++;
}

void session_begin_worker(struct session *session)
{
    session->worker = true;
    session->broker->count.workers++;
}

void session_notify(struct session *session)
{
    if (!list_linked(&session->notice)) {
        list_append(&session->broker->telling.sessions, &session->notice);
    }
}

// At the same moment, the leases of all sessions end before waits, so that a waiting session may
// get the job; of each kind, those of the session that was opened first come first.
#define RANK_WAIT (UINT64_C(1) << 63)

void session_rearm(struct session *session)
{
    nsec_t at = session_first_lease_end(session);
    uint64_t rank = session->number;

    if (session->wait_state == WAITING_FOR_JOB) {
        nsec_t warn = session_warn_at(session);
        nsec_t over = session->until < warn ? session->until : warn;

        if (over < at) {
            at = over;
            rank |= RANK_WAIT;
        }
    }
    timer_set(&session->broker->timers.sessions, &session->alarm, at, rank);
}

void session_free(struct session *session)
{
    struct broker *broker = session->broker;

    timer_set(&broker->timers.sessions, &session->alarm, NSEC_NEVER, 0);
    list_remove(&session->notice);
    table_remove(&broker->index.sessions, session->place);
    grants_unref(session->grants);
    if (session->extra) {
        revoked_free(session->extra);
        slab_free(&broker->slab, session->extra->spare, sizeof *session->extra->spare);
        slab_free(&broker->slab, session->extra,
                  sizeof *session->extra + (session->wide ? sizeof *session->extra->wide : 0));
    }
    slab_free(&broker->slab, session, session_size((enum choice)session->choice));
}

//
// Wide sessions
//

// Has the next ticks make or undo the links, from the first one on.
static void session_begin_relinking(struct session *session)
{
    struct session_wide *wide = session->extra->wide;
    struct broker *broker = session->broker;
    bool kept;

    subscription_walk_end(&wide->linking);
    subscription_walk_begin(&wide->linking, session);
    kept = subscription_walk_keep(&wide->linking);
    ENSURE(kept); // the session has its extra part
    list_remove(&wide->relinking);
    list_append(&broker->matching.relinking, &wide->relinking);
    broker->rare = true;
}

static void session_end_relinking(struct session *session)
{
    subscription_walk_end(&session->extra->wide->linking);
    list_remove(&session->extra->wide->relinking);
}

void subscription_wait_along(struct subscription *subscription)
{
    if (!subscription->session->unlinking && !list_linked(&subscription->waiting)) {
        subscription_wait(subscription);
    }
}

// Makes or undoes up to that many links, and puts the session behind the others.
static void session_relink_some(struct session *session, unsigned *links)
{
    struct session_wide *wide = session->extra->wide;

    list_remove(&wide->relinking);
    list_append(&session->broker->matching.relinking, &wide->relinking);
    for (; *links > 0 && session_relinks(session); --*links) {
        struct subscription *next = wide->linking.next;

        if (!next && session->unlinking && session->wait_state != WAITING_NOT) {
            // All links of the last wait are undone: those of the present one are made.
            session->unlinking = false;
            session_begin_relinking(session);
        } else if (!next) {
            session->unlinking = false;
            session_end_relinking(session);
        } else {
            (void)subscription_walk_next(&wide->linking);
            if (session->unlinking) {
                subscription_stop_waiting(next);
            } else if (!next->barred) {
                subscription_wait_along(next);
            }
        }
    }
}

void waiting_relink(struct broker *broker)
{
    unsigned links = LINKS_IN_SLICE;

    while (links > 0 && !list_empty(&broker->matching.relinking)) {
        struct session_wide *wide =
            list_item(list_first(&broker->matching.relinking), struct session_wide, relinking);

        session_relink_some(wide->session, &links);
    }
}

void waiting_review(struct session *session)
{
    while (session->subscriptions <= LINKS_IN_SLICE && session_relinks(session)) {
        unsigned links = LINKS_IN_SLICE;

        session_relink_some(session, &links);
    }
}

void waiting_leave(struct session *session)
{
    if (session_relinks(session)) {
        session_end_relinking(session);
    }
}

// Links of the last wait are undone first: they stand in front of sessions that have waited longer
// than this one.
static APART void session_begin_wide_wait(struct session *session)
{
    unsigned links = LINKS_IN_SLICE;

    if (!session->unlinking) {
        session_begin_relinking(session);
        session_relink_some(session, &links);
    }
    // This includes the links that ticks will make.
    charge_links(session->broker, session->subscriptions);
    session_rearm(session);
}

static APART void session_stop_wide_wait(struct session *session)
{
    if (!session->unlinking) {
        session->unlinking = true;
        session_begin_relinking(session);
    }
    session_rearm(session);
}

//
// All sessions
//

void session_begin_waiting(struct session *session, enum wait_state wait_state)
{
    session->wait_state = (uint8_t)wait_state;
    session->broker->count.waiting++;
    if (session->subscriptions > LINKS_IN_SLICE) {
        session_begin_wide_wait(session);
        return;
    }
    list_each (node, &session->subscribed) {
        struct subscription *subscription = list_item(node, struct subscription, in_session);

        if (!subscription->barred) {
            subscription_wait(subscription);
        }
    }
    charge_links(session->broker, session->subscriptions);
    session_rearm(session);
}

void session_stop_waiting(struct session *session)
{
    if (session->wait_state == WAITING_NOT) {
        return;
    }
    session->wait_state = WAITING_NOT;
    session->broker->count.waiting--;
    if (session->subscriptions > LINKS_IN_SLICE) {
        session_stop_wide_wait(session);
        return;
    }
    list_each (node, &session->subscribed) {
        subscription_stop_waiting(list_item(node, struct subscription, in_session));
    }
    charge_links(session->broker, session->subscriptions);
    session_rearm(session);
}

bool session_make_spare(struct session *session)
{
    struct session_extra *extra;

    if (session->limited == 0) {
        return true;
    }
    extra = session_extra(session);
    if (extra && !extra->spare) {
        extra->spare = slab_calloc(&session->broker->slab, sizeof *extra->spare);
    }
    return extra && extra->spare;
}

enum { REVOKED_ROOM_FIRST = 4 };

static size_t revoked_size(uint32_t room)
{
    return room * sizeof(uint64_t);
}

// Makes room for one more id. False without memory, or at REVOKED_MAX.
static bool revoked_make_room(struct session_extra *extra)
{
    uint32_t room = extra->revoked_room ? 2 * extra->revoked_room : REVOKED_ROOM_FIRST;
    uint64_t *ids;

    if (extra->revoked_count < extra->revoked_room) {
        return true;
    }
    if (room > REVOKED_MAX) {
        return false;
    }
    ids = memory_resize(extra->revoked, revoked_size(extra->revoked_room), revoked_size(room));
    if (!ids) {
        return false;
    }
    extra->revoked = ids;
    extra->revoked_room = room;
    return true;
}

void revoked_note(struct broker *broker, const struct job *job)
{
    struct session *holder = job->state == JOB_RESERVED ? session_holding(broker, job) : NULL;
    struct session_extra *extra;

    if (!holder || holder->closed || !holder->ops->ignores_revoked) {
        return;
    }
    extra = session_extra(holder);
    if (!extra) {
        return;
    }
    if (revoked_make_room(extra)) {
        extra->revoked[extra->revoked_count++] = job->id;
    } else if (extra->revoked_count > 0) {
        extra->revoked_oldest %= extra->revoked_count;
        extra->revoked[extra->revoked_oldest++] = job->id;
    }
}

bool session_job_revoked(struct session *session, uint64_t id, bool is_last)
{
    struct session_extra *extra = session->extra;

    for (uint32_t i = 0; extra && i < extra->revoked_count; i++) {
        if (extra->revoked[i] == id) {
            if (is_last) {
                extra->revoked[i] = extra->revoked[--extra->revoked_count];
            }
            return true;
        }
    }
    return false;
}
