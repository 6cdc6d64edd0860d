/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_JOURNAL_FILE_FAKE_HAND_H
#define TANDEM_TESTS_JOURNAL_FILE_FAKE_HAND_H

// A hand (journal/worker.h) without a thread: a task is done while it is given, or when the test
// says.

#include "journal/worker.h"

struct fake_hand {
    const struct journal_io *io;
    bool waits;    // for fake_hand_run(), or for somebody who waits
    uint64_t dice; // not 0, where it waits: each time that it is looked at, it may run by chance
    nsec_t takes_for;
    struct task *task;   /* private: not done yet */
    unsigned long count; // tasks done
};

struct journal_hand fake_hand_hand(struct fake_hand *hand);
// Does what was given; false where nothing was.
bool fake_hand_run(struct fake_hand *hand);

#endif
