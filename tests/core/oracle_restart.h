/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_CORE_ORACLE_RESTART_H
#define TANDEM_TESTS_CORE_ORACLE_RESTART_H

// Compares a restarted broker with the oracle.

#include "tests/core/oracle.h"
#include "tests/core/stage_restart.h"

// Asserts that `again` has exactly the jobs and pauses of `live` (the oracle's stage) that a
// restart keeps, in the right order and with the right keys; frees `again`. If it was `replayed`
// from records, facts that are not recorded may differ.
void oracle_expect_restarted(const struct oracle *o, struct stage *live, struct stage *again,
                             const char *const queue_names[ORACLE_QUEUES], bool replayed);

#endif
