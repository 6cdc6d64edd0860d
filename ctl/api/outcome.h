/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_API_OUTCOME_H
#define TANDEM_CTL_API_OUTCOME_H

// How an attempt ended, which is also what the program exits with, and why.

#include "core/base/error_text.h"

enum outcome {
    OUTCOME_DONE = 0,
    OUTCOME_FAILED = 1,       // refused, or it went wrong
    OUTCOME_USAGE = 2,        // the command line makes no sense
    OUTCOME_UNREACHABLE = 3,  // nobody answers
    OUTCOME_NOT_FOUND = 4,    // no such queue, job, connection or operation
    OUTCOME_FORBIDDEN = 5,    // a token is needed, or the caller may not
    OUTCOME_NOT_NOW = 6,      // the broker is starting, drains, or has no room: later, perhaps
    OUTCOME_UNCONFIRMED = 7,  // nobody said yes
    OUTCOME_INTERRUPTED = 130 // by a signal
};

struct problem {
    enum outcome outcome;
    struct error_text why; // what was tried, and what to do; empty: all is well
};

// Returns the outcome.
enum outcome problem_set(struct problem *problem, enum outcome outcome, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
