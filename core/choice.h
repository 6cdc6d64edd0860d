/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_CHOICE_H
#define TANDEM_CORE_CHOICE_H

// Private to the core: which job a session takes, where it takes from several queues.

#include "core/session_private.h"

// The best job that the session may take now, and by which subscription; NULL for none. What it
// looked at is charged (charge.h). Queues whose first jobs are over are closed.
struct job *choice_best(struct session *session, struct subscription **by);

// The same, but the job may be over (expiry.h), and no queue is closed because of one that is.
struct job *choice_best_or_over(struct session *session, struct subscription **by);

#endif
