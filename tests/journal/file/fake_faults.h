/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_JOURNAL_FILE_FAKE_FAULTS_H
#define TANDEM_TESTS_JOURNAL_FILE_FAKE_FAULTS_H

// Faults of a fake disk: which of its calls fail, and how.

#include "tests/journal/file/fake_disk.h"

enum { FAKE_FAULTS_MAX = 8 };

// A zeroed struct has no faults.
struct fake_faults {
    struct fake_fault list[FAKE_FAULTS_MAX];
    int count;
    unsigned one_in; // of the calls that a storm strikes; 0: there is none
    uint64_t dice;   // the storm's; not 0
    bool halted;     // every call fails
    unsigned long calls[FAKE_ANY + 1];
};

// The outcome of a call.
struct fake_fate {
    bool done; // the whole call is executed, or
    bool half; // half of it
    int error; // the error that is returned
};

// There is space for FAKE_FAULTS_MAX.
void fake_faults_add(struct fake_faults *faults, const struct fake_fault *fault);

// Counts the call. Each fault counts on its own.
struct fake_fate fake_faults_call(struct fake_faults *faults, enum fake_op op);

#endif
