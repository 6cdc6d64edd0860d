/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_VERBS_RESTORE_CLAIMS_H
#define TANDEM_CORE_VERBS_RESTORE_CLAIMS_H

// Private to the core: keys of jobs that come back. No key is held until all jobs are there; then
// each that held its key has it again, unless one that was submitted before it has.

#include "core/broker.h"

// Whether the job is to have its key when all are back.
void restore_set_claim(struct broker *broker, struct job *job, bool claims);

// All are back. STATUS_NO_MEMORY: some have their keys; may be called again.
enum status restore_claim_keys(struct broker *broker) MUST_USE;

#endif
