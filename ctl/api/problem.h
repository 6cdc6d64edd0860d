/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_API_PROBLEM_H
#define TANDEM_CTL_API_PROBLEM_H

// The outcome of a command, which is the exit code of the program, and its reason.

#include "core/base/error_text.h"

enum outcome {
    OUTCOME_DONE = 0,
    OUTCOME_FAILED = 1,       // the request was refused, or an error occurred
    OUTCOME_USAGE = 2,        // invalid command line
    OUTCOME_UNREACHABLE = 3,  // no answer
    OUTCOME_NOT_FOUND = 4,    // no such queue, job, connection or operation
    OUTCOME_FORBIDDEN = 5,    // a token is required, or access is denied
    OUTCOME_NOT_NOW = 6,      // the broker is starting, draining or full; a retry may succeed
    OUTCOME_UNCONFIRMED = 7,  // confirmation was not given
    OUTCOME_INTERRUPTED = 130 // by a signal
};

struct problem {
    enum outcome outcome;
    struct error_text why; // what failed, and what to do; empty: no message
};

// Sets the problem and returns `outcome`.
enum outcome problem_set(struct problem *problem, enum outcome outcome, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
