/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_PAST_PRIVATE_H
#define TANDEM_CORE_PAST_PRIVATE_H

// Private to the core: the pasts of dead letters (core/past.h). They stand in a table beside the
// jobs, for few jobs have one: such a job is `noted`, and its past is freed with it.

#include "core/base/macros.h"
#include "core/past.h"

struct hash_node;

uint64_t past_hash_of(const struct hash_node *node);

// The job has that past from now on, in place of the one it had. False without memory: nothing has
// changed then.
bool past_note(struct broker *broker, struct job *job, const struct job_past *past) MUST_USE;

// The job has none any more.
void past_forget(struct broker *broker, struct job *job);

#endif
