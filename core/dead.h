/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_DEAD_H
#define TANDEM_CORE_DEAD_H

// Private to the core: dead letters, jobs that the policy of their queue takes to another queue
// because they could not be done.

#include "core/base/macros.h"
#include "core/broker.h"
#include "core/dead_letter.h"

// What the watches of a job are told when it goes.
struct last_word {
    enum job_event_kind kind;
    struct blob *data;
};

// Takes a durable job, in whatever state, to the dead queue of its queue's policy: ready, with a
// past, at its place among equals, with the attempts that it has spent; its watches are told. False
// where that cannot be: the job has a past, there is no dead queue or that is the job's own queue,
// there is no memory or no room in the store for it, or it would be one queue too many. Nothing has
// changed then.
bool dead_take(struct broker *broker, struct job *job, enum dead_reason why,
               const struct last_word *word) MUST_USE;

#endif
