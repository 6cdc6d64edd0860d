/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_JOURNAL_BOOK_H
#define TANDEM_TESTS_JOURNAL_BOOK_H

// The book: each change that was handed to a store, as it was described when it was appended, and
// its log position. After a restart, the state of the broker is compared with it.
//
// That state must be the state after one record, the same record for all jobs and pauses, and no
// acknowledged record may come after it. Ids that clients have learnt must not be given out again.
//
// Nothing is allocated after book_new(), so a test that fails the n-th allocation fails one of the
// store.

#include "core/broker.h"
#include "core/restore.h"

#include <stdbool.h>
#include <stdint.h>

struct book;

struct book *book_new(void);
// NULL is allowed.
void book_free(struct book *book);

// The change was made, and was given that position; 0: no client waits for it, or counts on
// it.
void book_note(struct book *book, const struct broker *broker, const struct record *record,
               uint64_t position);
// A client learns the id when that position is reached; 0: it knows it now.
void book_note_id(struct book *book, uint64_t id, uint64_t position);
// An attempt was spent without a record.
void book_note_attempts(struct book *book, uint64_t id, uint32_t attempts);

// Asserts that the broker has the state that the book describes. Positions up to `kept` must have
// survived, and clients have learnt the ids with positions up to `told` (0: no ids).
void book_expect(struct book *book, const struct broker *broker, uint64_t kept, uint64_t told);

// The store had no room for the record.
void book_note_refusal(struct book *book, const struct record *record);

// The wall clock is set now and then: delays and pauses may only not become longer, and the time at
// which a job was submitted is unknown.
void book_let_clock_step(struct book *book);

// Records of the end of jobs may have been lost, so several jobs may claim the same key. After a
// start the first of them has it; which one that is, is unknown.
void book_let_keys_be_shared(struct book *book);

// Begins again with the state of the broker: all of it must survive from now on.
void book_begin(struct book *book, const struct broker *broker);

// The number of live jobs after all noted changes.
size_t book_jobs(const struct book *book);

#endif
