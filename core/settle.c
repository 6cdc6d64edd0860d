/* SPDX-License-Identifier: MIT */

// Telling sessions what concerns them. Each kind of work has a slice of its own, so that a flood of
// one does not hold up the others.

#include "core/settle.h"

#include "core/match.h"
#include "core/broker_private.h"
#include "core/session_private.h"
#include "core/tell.h"

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
    if (session->emptied) {
        session->emptied = false;
        // A lease that was renewed was taken out and put back; and it may hold another by now.
        if (session->lease_count == 0) {
            session->ops->emptied(session->owner);
        }
    }
}

bool settle_pending(const struct broker *broker)
{
    return !tree_empty(&broker->matching.backlog) || !list_empty(&broker->matching.nudging) ||
           !list_empty(&broker->telling.sessions) || !list_empty(&broker->telling.interests);
}

// APART is worth 0.8 % of a reserve and a delete, by tests/budget.
static APART void settle(struct broker *broker)
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
        tell_session(list_item(list_first(&broker->telling.sessions), struct session, notice));
    }
    interest_tell_all(broker, &events);
    broker->settling = false;
}

bool broker_settle(struct broker *broker)
{
    if (!settle_pending(broker)) {
        return false;
    }
    settle(broker);
    return settle_pending(broker);
}
