/* SPDX-License-Identifier: MIT */

// The caller of a session may do other things than before.

#include "core/match.h"
#include "core/broker_private.h"
#include "core/charge.h"
#include "core/queue_private.h"
#include "core/subscription.h"
#include "core/session_private.h"

static void unbar(struct subscription *subscription)
{
    subscription_bar(subscription, false);
    if (subscription->session->wait_state != WAITING_NOT) {
        subscription_wait_along(subscription);
    }
}

// Whether it gives nothing now, and gave something before.
static bool judge(struct subscription *subscription)
{
    const struct session *session = subscription->session;
    bool may = session_may(session, MAY_WORK, subscription_queue(subscription));
    bool loses = !may && !subscription->barred;

    charge_links(session->broker, 1);
    if (may && subscription->barred) {
        unbar(subscription);
    } else if (loses) {
        match_bar(subscription);
    }
    return loses;
}

// Judges the subscriptions that the walk comes to, until that is at its end or so many links have
// been charged. Whether one of them gives nothing now, and gave something before.
static bool judge_some(struct broker *broker, struct subscription_walk *walk, size_t links)
{
    size_t before = broker->charge.links;
    bool lost = false;

    while (walk->next && broker->charge.links - before < links) {
        struct subscription *next = walk->next;

        (void)subscription_walk_next(walk);
        lost = judge(next) || lost;
    }
    return lost;
}

// All are judged.
static enum grant_progress all_judged(struct session *session, bool lost)
{
    if (session->judging) {
        lost = session->extra->wide->lost || lost;
        session->extra->wide->lost = false;
        subscription_walk_end(&session->extra->wide->judging);
        session->judging = false;
    }
    match_session(session);
    return lost ? GRANT_LOST : GRANT_DONE;
}

// The walk has not come to its end. Without memory all are judged at once: those of a session that
// is not wide are no more links than one slice, though perhaps compared with many globs.
static enum grant_progress go_on_later(struct session *session, struct subscription_walk *walk,
                                       bool lost)
{
    struct session_wide *wide = session_wide(session);
    bool kept;

    if (!wide) {
        lost = judge_some(session->broker, walk, SIZE_MAX) || lost;
        return all_judged(session, lost);
    }
    wide->judging.next = walk->next;
    wide->lost = wide->lost || lost;
    kept = subscription_walk_keep(&wide->judging);
    ENSURE(kept); // it has its extra part
    session->judging = true;
    return GRANT_MORE;
}

enum grant_progress broker_session_grant(struct session *session, struct grants *grants)
{
    bool same = grants_same(session->grants, grants);
    struct grants *before = session->grants;
    struct subscription_walk walk;
    bool lost;

    ENSURE(!session->broker->settling);
    session->grants = grants_ref(grants);
    grants_unref(before);
    if (same && !session->judging) {
        return GRANT_DONE;
    }
    subscription_walk_begin(&walk, session);
    if (same) {
        walk.next = session->extra->wide->judging.next;
    }
    lost = judge_some(session->broker, &walk, LINKS_IN_SLICE);
    return walk.next ? go_on_later(session, &walk, lost) : all_judged(session, lost);
}
