/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_JOURNAL_FILE_FAKE_WORKER_H
#define TANDEM_TESTS_JOURNAL_FILE_FAKE_WORKER_H

// A worker thread (journal/worker.h) without a thread: a task is done while it is given, or when
// the test says.

#include "journal/worker.h"

struct fake_worker {
    const struct journal_io *io;
    bool waits; // for fake_worker_run(), or for a thread that waits
    uint64_t
        dice; // if it waits, not 0: each time that the journal asks, the task may run, by chance
    nsec_t takes_for;
    struct task *task;   /* private: not done yet */
    unsigned long count; // tasks done
};

struct journal_worker fake_worker_interface(struct fake_worker *worker);
// Runs the task; false if there is none.
bool fake_worker_run(struct fake_worker *worker);

#endif
