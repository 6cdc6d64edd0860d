/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_DEAD_LETTER_H
#define TANDEM_CORE_DEAD_LETTER_H

// The past of a dead letter: what a job that its queue's policy took to a dead queue remembers of
// where it was. It lasts until somebody moves the job.

#include "core/base/slice.h"
#include "core/types.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum dead_reason {
    DEAD_NOT,       // it has no past
    DEAD_ATTEMPTS,  // its last attempt was spent by a loss, a time-out or a release
    DEAD_FAILED,    // its worker said that it cannot be done
    DEAD_EXCEPTION, // the same, with an exception
    DEAD_EXPIRED    // it waited too long
};
#define DEAD_REASONS 5

struct dead_letter {
    struct slice queue; // from which it was taken
    enum dead_reason why;
    uint16_t attempts; // that were spent by then
    uint64_t at_ms;    // wall clock, since 1970
};

// Bytes that a store needs for a past, besides the name of the queue.
#define DEAD_LETTER_FIXED_LEN 16

// Of all of it; 0 where there is none.
static inline size_t dead_letter_len(const struct dead_letter *past)
{
    return past->why == DEAD_NOT ? 0 : DEAD_LETTER_FIXED_LEN + past->queue.len;
}

// False, and DEAD_NOT, where the job has none. The slice is borrowed, until the job goes or is
// moved.
bool job_dead_letter(const struct broker *broker, const struct job *job, struct dead_letter *past);

// The reason in a word: "attempts", "failed", "exception", "expired"; "" for DEAD_NOT. Static.
const char *dead_reason_text(enum dead_reason why);

#endif
