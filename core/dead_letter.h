/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_DEAD_LETTER_H
#define TANDEM_CORE_DEAD_LETTER_H

// Dead letters: jobs that the policy of their queue moved to a dead queue. Such a job has a record
// of the queue that it came from, the reason and the moment. The record lasts until the job is
// moved.

#include "core/base/slice.h"
#include "core/types.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum dead_reason {
    DEAD_NOT,       // not a dead letter
    DEAD_ATTEMPTS,  // a loss, a time-out or a release spent the last attempt
    DEAD_FAILED,    // its worker reported that it failed
    DEAD_EXCEPTION, // the same, with an exception
    DEAD_EXPIRED    // it was ready for too long
};
#define DEAD_REASONS 5

struct dead_letter {
    struct slice queue; // from which the job was moved
    enum dead_reason why;
    uint16_t attempts; // spent by then
    uint64_t at_ms;    // wall clock, since 1970
};

// Bytes that a store needs for a dead letter, without the name of the queue.
#define DEAD_LETTER_FIXED_LEN 16

// Bytes that a store needs for all of it; 0 for DEAD_NOT.
static inline size_t dead_letter_len(const struct dead_letter *letter)
{
    return letter->why == DEAD_NOT ? 0 : DEAD_LETTER_FIXED_LEN + letter->queue.len;
}

// False, and DEAD_NOT, if the job is not a dead letter. The slice is borrowed until the job ends or
// is moved.
bool job_dead_letter(const struct broker *broker, const struct job *job,
                     struct dead_letter *letter);

// The reason in a word: "attempts", "failed", "exception", "expired"; "" for DEAD_NOT. Static.
const char *dead_reason_text(enum dead_reason why);

#endif
