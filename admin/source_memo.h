/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_SOURCE_MEMO_H
#define TANDEM_ADMIN_SOURCE_MEMO_H

// What is remembered of jobs that were brought in under the name of a source, so that a repeated
// import brings nothing in twice, even where the job has been worked in the meantime. A memo (kind
// IMPORT) for each job, under `jobs:SOURCE/ID`, where ID is the job's id at the source.
//
// The memo is written twice: before the job comes in, with the id that it will get, and after it.
// A journal that is cut between the two shows either the job, which then counts as brought in, or
// no job. The end of a job is recorded behind the second memo, so a memo of the first kind never
// belongs to a job that has been worked.
//
// A source can be sealed: no import under its name is accepted any more. Seals end after an hour,
// memos of jobs after 30 days, or when they are forgotten.

#include "core/broker.h"
#include "core/import.h"

#include <stdbool.h>
#include <stdint.h>

#define IMPORT_SOURCE_MAX 64
// Memory for all memos of the kind; an import that would need more is stopped.
#define IMPORT_MEMOS_BYTES_MOST ((uint64_t)64 << 20)

struct source_memo {
    uint64_t from;     // the id at the source
    uint64_t id;       // here
    uint64_t contents; // job_contents()
    uint64_t version;  // job_version() as it was brought in; 0 where it joined another job
    uint64_t started;  // the same, once the time for which it is held back is over
    bool done;         // false: it was to be brought in
    bool joined;       // a live job had its key: the id is that job's
    bool held;         // it is delayed until its import is confirmed
};

// Letters, digits, dots, dashes and underscores.
bool import_source_valid(struct slice source);

bool import_source_sealed(const struct broker *broker, struct slice source);
enum status import_source_seal(struct broker *broker, struct slice source) MUST_USE;

// False where there is none.
bool source_memo_get(const struct broker *broker, struct slice source, uint64_t from,
                     struct source_memo *memo);
// STATUS_NO_MEMORY, STATUS_NO_SPACE: nothing has changed.
enum status source_memo_put(struct broker *broker, struct slice source,
                            const struct source_memo *memo) MUST_USE;
enum status source_memo_drop(struct broker *broker, struct slice source, uint64_t from) MUST_USE;

// The next memo of that source behind the cursor, 0 at first. Looks at `*budget` memos at most,
// and takes those that it has looked at from it. False: there is none, or the budget is used up.
bool source_memo_next(const struct broker *broker, struct slice source, uint64_t *cursor,
                      unsigned *budget, struct source_memo *memo);

#endif
