/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_JOURNAL_BOOK_H
#define TANDEM_TESTS_JOURNAL_BOOK_H

// The book of those who handed something to a store: each change, as it was described when it was
// appended, and its position. After a restart, what came back is compared with it.
//
// What comes back must be how everything stood after some record, the same one for all jobs and
// pauses, and none of those that had been acknowledged may come after it. Ids that were told must
// not be given out again.
//
// Nothing here asks for memory after book_new(), so that a test which fails the n-th allocation
// fails one of the store.

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
// An attempt was spent that no record tells of.
void book_note_attempts(struct book *book, uint64_t id, uint32_t attempts);

// Asserts that the broker has what the book says, where positions up to `kept` must have survived,
// and ids with positions up to `told` have been told (0: none were).
void book_expect(struct book *book, const struct broker *broker, uint64_t kept, uint64_t told);

// The store had no room for the record.
void book_note_refusal(struct book *book, const struct record *record);

// The wall clock is set now and then: delays and pauses need only last no longer than they were to,
// and it is unknown when a job was submitted.
void book_let_clock_step(struct book *book);

// Records of the end of jobs may have been lost: several jobs that are kept may say that they hold
// the same key. The first of them has it after a start; it is unknown which one that is.
void book_let_keys_be_shared(struct book *book);

// Begins again with the state of the broker: all of it must survive from now on.
void book_begin(struct book *book, const struct broker *broker);

// How many jobs there are after all that was noted.
size_t book_jobs(const struct book *book);

#endif
