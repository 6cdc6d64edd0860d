/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_DEAD_LETTER_PRIVATE_H
#define TANDEM_CORE_DEAD_LETTER_PRIVATE_H

// Private to the core: the pasts of dead letters (core/dead_letter.h). They stand in a table beside
// the jobs, for few jobs have one: such a job is `noted`, and its past is freed with it.

#include "core/base/macros.h"
#include "core/dead_letter.h"

struct hash_node;

uint64_t dead_letter_hash_of(const struct hash_node *node);

// The job has that past from now on, in place of the one it had. False without memory: nothing has
// changed then.
bool dead_letter_set(struct broker *broker, struct job *job,
                     const struct dead_letter *past) MUST_USE;

// The job has none any more.
void dead_letter_remove(struct broker *broker, struct job *job);

#endif
