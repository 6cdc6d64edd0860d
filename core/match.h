/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_MATCH_H
#define TANDEM_CORE_MATCH_H

// Private to the core: who gets a ready job. A job that becomes ready goes to the session that
// waits for it longest; where nobody waits for a job, sessions that wait for a nudge of its queue
// are nudged.
//
// A session that was assigned a job and lost it before it was told has been told nothing, so it
// waits on, or gets another job at once: state changes put it into broker->matching.to_serve, and
// each verb that may have made such a change calls match_serve_lost() before it returns.

#include "core/broker_private.h"
#include "core/job_state.h"
#include "core/session_private.h"
#include "core/job_private.h"

// Puts the job into READY, and assigns it to the session that waits for it longest; while
// broker->matching.deferred is set, match_backlog() does that later.
void match_ready(struct broker *broker, struct job *job, const struct job_place *ready);

// The job, which is ready, has come to its queue from another one: the same.
void match_moved(struct broker *broker, struct job *job);

// The session takes the job, which is ready, by that subscription.
void match_take(struct subscription *by, struct job *job);

// Assigns ready jobs to waiting sessions in the queues of broker->matching.backlog (queue_offer()),
// where a pause has ended or jobs came back while that was deferred: at most `*budget` of them, the
// best job of all these queues first, each to the session that has waited longest on its queue.
void match_backlog(struct broker *broker, unsigned *budget);

// Where the session waits, and may take a job that is ready already, the wait is over: it gets the
// best one, or its nudge.
void match_session(struct session *session);

// The session, which a queue nudged, takes from another (`took`; NULL: from none): if there is work
// all the same, the next session that waits for a nudge there gets it.
void match_pass_nudge_on(struct session *session, const struct queue *took);

// The session's caller may not have the subscription any more.
void match_bar(struct subscription *subscription);

// Nudges the sessions that are owed a nudge.
void match_nudge(struct broker *broker, unsigned *budget);

// Serves all sessions of that list, which is not empty. Only match_serve_lost() calls it.
void match_serve_list(struct broker *broker);

// Serves the sessions that lost a job before they were told of it.
static inline void match_serve_lost(struct broker *broker)
{
    if (!list_empty(&broker->matching.to_serve)) {
        match_serve_list(broker);
    }
}

#endif
