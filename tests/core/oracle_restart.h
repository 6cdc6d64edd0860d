/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_CORE_ORACLE_RESTART_H
#define TANDEM_TESTS_CORE_ORACLE_RESTART_H

// What the oracle says about a broker that was started anew.

#include "tests/core/oracle.h"
#include "tests/core/stage_restart.h"

// Asserts that `again` has just those jobs and pauses of `live`, which is where the oracle is, that
// a restart keeps, in the right order and with the right keys; uses `again` up. Where it was
// `replayed` from records, what is not recorded may differ.
void oracle_expect_restarted(const struct oracle *o, struct stage *live, struct stage *again,
                             const char *const queue_names[ORACLE_QUEUES], bool replayed);

#endif
