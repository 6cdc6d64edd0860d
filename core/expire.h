/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_EXPIRE_H
#define TANDEM_CORE_EXPIRE_H

// Private to the core: jobs that were ready for longer than the policy of their queue lets them be
// go, or are taken to the dead queue.

#include "core/gate.h"

#include <stdbool.h>

// The moment of a queue whose jobs expire has come: removes one that is over, or indexes one. The
// queue may be gone then.
void expire_step(struct broker *broker, struct timer *over);

// Whether the job was ready and over: it is gone, or elsewhere.
bool expire_if_over(struct broker *broker, struct job *job);

#endif
