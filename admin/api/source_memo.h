/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_API_SOURCE_MEMO_H
#define TANDEM_ADMIN_API_SOURCE_MEMO_H

// Memory of the jobs that were imported under the name of a source, so that a repeated import adds
// no job twice, even if a worker has completed the job meanwhile. Each job has a memo (kind IMPORT)
// under `jobs:SOURCE/ID`, where ID is its id at the source.
//
// A memo is written twice: before the job is added, with its future id, and afterwards. If the
// journal is cut between the two, either the job exists and counts as imported, or it does not. The
// end of a job is recorded after the second memo, so a first memo never belongs to a job that was
// worked.
//
// A source can be sealed: then imports under its name are refused. A seal ends after an hour; memos
// of jobs end after 30 days, or when they are dropped.

#include "core/broker.h"

#include <stdbool.h>
#include <stdint.h>

#define IMPORT_SOURCE_MAX 64
// Maximum memory of all memos of this kind; an import that needs more is stopped.
#define IMPORT_MEMOS_BYTES_MOST ((uint64_t)64 << 20)

struct source_memo {
    uint64_t from;     // the id at the source
    uint64_t id;       // the id in this broker
    uint64_t contents; // job_contents()
    uint64_t version;  // job_version() after the import; 0 if it joined another job
    uint64_t started;  // job_version() after the delay of `held`
    bool done;         // false: the job is about to be imported
    bool joined;       // a live job had its key: the id is that of the live job
    bool held;         // the job is delayed until the import is confirmed
};

// Whether the name has only letters, digits, dots, dashes and underscores, and a valid length.
bool import_source_valid(struct slice source);

bool import_source_sealed(const struct broker *broker, struct slice source);
enum status import_source_seal(struct broker *broker, struct slice source) MUST_USE;

// False if there is no memo; sets `memo` in any case.
bool source_memo_get(const struct broker *broker, struct slice source, uint64_t from,
                     struct source_memo *memo);
// STATUS_NO_MEMORY, STATUS_NO_SPACE: nothing has changed.
enum status source_memo_put(struct broker *broker, struct slice source,
                            const struct source_memo *memo) MUST_USE;
enum status source_memo_drop(struct broker *broker, struct slice source, uint64_t from) MUST_USE;

// Gets the next memo of the source after the cursor, which is 0 at first. Visits at most `*budget`
// memos, and subtracts the visited ones. False if there is none, or the budget is used up.
bool source_memo_next(const struct broker *broker, struct slice source, uint64_t *cursor,
                      unsigned *budget, struct source_memo *memo);

#endif
