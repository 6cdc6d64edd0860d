/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_UNIQUE_H
#define TANDEM_CORE_UNIQUE_H

// Private to the core: keys that go on to stand for a job when it is done, for the `unique_for` of
// its queue's policy. What is remembered is a hash of the key: names and bodies may be long, and
// nobody shall be able to make two keys that are taken for one.

#include "core/broker.h"
#include "core/key.h"
#include "core/job_private.h"
#include "core/queue_private.h"

// The job, which has its key still, is done. To be called before the record of that. Cannot fail:
// without memory the key is free.
void unique_keep(struct broker *broker, const struct job *job);

// The id of the job that the key stands for in that queue though it is done; 0 for none.
uint64_t unique_find(struct broker *broker, const struct queue *queue, struct key key);

#endif
