/* SPDX-License-Identifier: MIT */
#include "core/subscription.h"
#include "core/session_private.h"

#include "core/broker_private.h"
#include "core/job_private.h"

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

// There are no very many of them yet.
static uint32_t count_barred(const struct session *session)
{
    uint32_t count = 0;

    list_each (node, &session->subscribed) {
        count += list_item(node, struct subscription, in_session)->barred;
    }
    return count;
}

struct session_extra *session_extra(struct session *session)
{
    if (!session->extra) {
        session->extra = slab_calloc(&session->broker->slab, sizeof *session->extra);
        if (session->extra) {
            list_init(&session->extra->watches);
            list_init(&session->extra->walks);
            session->extra->barred = count_barred(session);
        }
    }
    return session->extra;
}

static size_t extra_size(const struct session *session)
{
    return sizeof(struct session_extra) + (session->wide ? sizeof(struct session_wide) : 0);
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

// Of what comes at the same time, leases of all sessions end first, so that a waiting session may
// get the job, then waits; of each, those of the session that was opened first.
#define RANK_WAIT (UINT64_C(1) << 63)

void session_rearm(struct session *session)
{
    nsec_t at = first_lease_end(session);
    uint64_t rank = session->number;

    if (session->wait_state == WAITING_FOR_JOB) {
        nsec_t warn = warn_at(session);
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
        slab_free(&broker->slab, session->extra, extra_size(session));
    }
    slab_free(&broker->slab, session, session_size((enum choice)session->choice));
}
