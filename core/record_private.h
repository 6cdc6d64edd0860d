/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_RECORD_PRIVATE_H
#define TANDEM_CORE_RECORD_PRIVATE_H

// Private to the core: records for the store (core/record.h). The store is asked for space before a
// change that may be refused, and each change of a durable job is appended after it. Without a
// store, the answer is always that there is space.

#include "core/broker_private.h"
#include "core/job_private.h"

// True if a store records the changes of this job.
static inline bool job_is_recorded(const struct broker *broker, const struct job *job)
{
    return broker->store.recorder && job->durable;
}

bool record_ask(struct broker *broker, enum record_kind kind, const struct job *job);
uint64_t record_tell(struct broker *broker, enum record_kind kind, const struct job *job,
                     bool was_buried);

// Asked before the change.
static inline bool record_has_space(struct broker *broker, enum record_kind kind,
                                    const struct job *job)
{
    return !job_is_recorded(broker, job) || record_ask(broker, kind, job);
}

// Appended after it; `was_buried` is the state before. Returns the position of the record, for
// which the answer to the present verb waits; 0 without a record.
static inline uint64_t record_append(struct broker *broker, enum record_kind kind,
                                     const struct job *job, bool was_buried)
{
    return job_is_recorded(broker, job) ? record_tell(broker, kind, job, was_buried) : 0;
}

// The same two for a job that moves: to that queue, where it will have that dead letter; and from
// that queue, where its job_variable_len() was `was_len`.
bool record_move_has_space(struct broker *broker, const struct job *job, const struct queue *to,
                           const struct dead_letter *letter);
uint64_t record_move_append(struct broker *broker, const struct job *job, const struct queue *from,
                            size_t was_len);

// The same two for the beginning or the end of a pause of the queue, except that the answer to the
// present verb does not wait for it.
bool record_pause_has_space(struct broker *broker, const struct queue *queue);
uint64_t record_pause_append(struct broker *broker, const struct queue *queue);

// The same two for a memo that is set (RECORD_MEMO) or dropped (RECORD_FORGET).
bool record_memo_has_space(struct broker *broker, enum record_kind kind, const struct memo *memo);
void record_memo_append(struct broker *broker, enum record_kind kind, const struct memo *memo);

// Makes the answer to the present verb wait for that position, too.
static inline void broker_await_position(struct broker *broker, uint64_t position)
{
    if (position > broker->store.position) {
        broker->store.position = position;
    }
}

#endif
