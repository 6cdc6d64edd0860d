/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_DEAD_LETTER_PRIVATE_H
#define TANDEM_CORE_DEAD_LETTER_PRIVATE_H

// Private to the core: the records of dead letters (core/dead_letter.h). Few jobs have one, so that
// they stand in a hash table beside the jobs: the job's bit `dead_letter` is set, and the record is
// freed with the job.

#include "core/base/macros.h"
#include "core/dead_letter.h"

struct hash_node;

uint64_t dead_letter_hash_of(const struct hash_node *node);

// Makes the job a dead letter, or replaces its record. False without memory: nothing has changed.
bool dead_letter_set(struct broker *broker, struct job *job,
                     const struct dead_letter *letter) MUST_USE;

// The job is not a dead letter any more.
void dead_letter_remove(struct broker *broker, struct job *job);

#endif
