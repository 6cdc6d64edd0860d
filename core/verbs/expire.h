/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_VERBS_EXPIRE_H
#define TANDEM_CORE_VERBS_EXPIRE_H

// Private to the core: jobs that were ready for longer than the policy of their queue lets them be
// go, or are taken to the dead queue.

#include "core/model/gate.h"

#include <stdbool.h>

// Looks at the next ready job of the gate's queue, whose moment to look has come; after the last,
// the moment is another. The queue may be gone then.
void expire_step(struct broker *broker, struct moment *looks);

// Looks at jobs of queues that are closed since their first jobs are over, until one is open.
// False: the budget is used up before, or none is closed.
bool expire_stale(struct broker *broker, unsigned *budget);

// Whether the job was ready and over: it is gone, or elsewhere.
bool expire_if_over(struct broker *broker, struct job *job);

#endif
