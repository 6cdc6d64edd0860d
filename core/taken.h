/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_TAKEN_H
#define TANDEM_CORE_TAKEN_H

// Private to the core: the jobs that an operator has taken away from a session that held them, by
// their ids. A worker is not told of that, and reports about such a job until it is done with it;
// a session whose front-end passes over these reports (session_ops.passes_over_taken) remembers
// for which jobs it must. What is remembered is a service to the worker: without memory, and where
// TAKEN_MAX jobs are remembered already, the oldest are forgotten, and the worker is told that
// there is no such job.

#include "core/base/memory.h"
#include "core/session.h"

#define TAKEN_MAX 1024

// The job is about to be taken away from its holder. Nothing where no session holds it.
void taken_note(struct broker *broker, const struct job *job);

// Frees what the session remembers.
static inline void taken_free(struct session_extra *extra)
{
    memory_free(extra->taken, extra->taken_room * sizeof *extra->taken);
}

#endif
