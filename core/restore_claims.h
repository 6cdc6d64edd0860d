/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_RESTORE_CLAIMS_H
#define TANDEM_CORE_RESTORE_CLAIMS_H

// Private to the core: keys of jobs that come back. A job holds its key as soon as it is there,
// unless one that was submitted before it does; then it waits until all are back.

#include "core/broker.h"

// Whether the job is to hold its key.
void restore_set_claim(struct broker *broker, struct job *job, bool claims);

// All are back: who waits has its key, where that has become free; of those who hold the same name
// in different queues, the one submitted first comes first.
void restore_settle_claims(struct broker *broker);

#endif
