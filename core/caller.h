/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_CALLER_H
#define TANDEM_CORE_CALLER_H

// Private to the core: what the caller of a session may do (core/callers.h), as verbs ask it.
//
// A subscription that the caller may not have is barred: it stays in the session, but is passed
// over where the session chooses, and not linked in its queue while the session waits.

#include "core/broker.h"
#include "core/session.h"

// Of a session that has grants.
bool caller_has_right(const struct session *session, enum right right, const struct queue *queue);

// session_may(), for verbs that are called for each job.
static inline bool caller_may(const struct session *session, enum right right,
                              const struct queue *queue)
{
    return !session || !session->grants || caller_has_right(session, right, queue);
}

// Why that may not be done to the job by the session, NULL for the host; STATUS_OK: it may. NULL is
// a job that is not there; whoever may not observe one is not told that it is.
enum status session_check_job(const struct session *by, enum right right, const struct job *job);

// Whether it is subscribed, and may not work on any of those queues.
bool session_is_barred(const struct session *session);

#endif
