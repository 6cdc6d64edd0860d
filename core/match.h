/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_MATCH_H
#define TANDEM_CORE_MATCH_H

// Private to the core: which job a session takes (choice.c), and which session gets a ready job
// (match.c). A job that becomes ready goes to the session that has waited for it longest; where no
// session waits for a job, sessions that wait for a nudge of its queue are nudged.
//
// A session may lose a job that was assigned to it before it was told of the job. It has been told
// nothing, so it waits on, or gets another job at once: state changes put it into
// broker->matching.to_serve, and each verb that may have made such a change calls
// match_serve_lost() before it returns.
//
// Nothing here can fail.

#include "core/broker_private.h"
#include "core/job_private.h"
#include "core/job_state.h"
#include "core/session_private.h"

//
// Choosing a job
//

// The best job that the session may take now, and the subscription that gives it; NULL for none.
// The number of queues and subscriptions that the search looks at is charged (charge.h). A queue
// whose first job has expired is closed.
struct job *choice_best(struct session *session, struct subscription **by);

// The same, but the job may have expired (expiry.h), and no queue is closed for that reason.
struct job *choice_best_or_expired(struct session *session, struct subscription **by);

// The session has taken the job that it chose, by that subscription. If weights decided the
// choice, the turn of the queue is over.
void choice_taken(const struct subscription *by, const struct job *job);

//
// Assigning jobs
//

// Puts the job into READY, and assigns it to the session that has waited for it longest; while
// broker->matching.deferred is set, match_backlog() does that later.
void match_ready(struct broker *broker, struct job *job, const struct job_place *ready);

// Assigns a ready job that has come to its queue from another one, as match_ready() does.
void match_moved(struct broker *broker, struct job *job);

// The session takes the job, which is ready, by that subscription.
void match_take(struct subscription *by, struct job *job);

// Assigns ready jobs to waiting sessions in the queues of broker->matching.backlog (queue_offer()):
// queues whose pause has ended, or whose jobs became ready while matching was deferred. At most
// `*budget` jobs: the best job of all these queues first, each to the session that has waited
// longest on its queue.
void match_backlog(struct broker *broker, unsigned *budget);

// If the session waits, and may take a job that is ready already, its wait is over: it gets the
// best such job, or its nudge.
void match_session(struct session *session);

// The session, which a queue nudged, takes from another queue (`took`; NULL: from none). If the
// queue that nudged it still has work, the next session that waits for a nudge there gets it.
void match_pass_nudge_on(struct session *session, const struct queue *took);

// The caller of the session may no longer work on the queue of that subscription.
void match_bar(struct subscription *subscription);

// Nudges the sessions that are owed a nudge, at most `*budget` of them.
void match_nudge(struct broker *broker, unsigned *budget);

// Serves all sessions of matching.to_serve, which is not empty. Only match_serve_lost() calls it.
void match_serve_list(struct broker *broker);

// Serves the sessions that lost a job before they were told of it.
static inline void match_serve_lost(struct broker *broker)
{
    if (!list_empty(&broker->matching.to_serve)) {
        match_serve_list(broker);
    }
}

#endif
