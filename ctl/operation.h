/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_OPERATION_H
#define TANDEM_CTL_OPERATION_H

// Runs an operation on many jobs, which the broker does in the background: starts it, shows its
// progress on a terminal, and cancels it on Ctrl-C.

#include "ctl/command.h"

// Starts the operation in `body`, of which it takes ownership, and waits for its end. OUTCOME_DONE:
// it has completed, and `reply` has its final state. Otherwise the problem says how it ended.
enum outcome operation_run(struct context *context, json_t *body, struct reply *reply);

// Prints a line about a completed operation: how many jobs it changed, and how many it skipped.
enum outcome operation_print(struct context *context, const json_t *operation);

#endif
