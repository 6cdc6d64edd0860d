/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_OPERATION_H
#define TANDEM_CTL_OPERATION_H

// Work over many jobs, which the broker does in the background: begun, followed to its end with a
// bar on a terminal, cancelled by Ctrl-C.

#include "ctl/command.h"

// Begins what the body says and waits for its end. Takes the body over. OUTCOME_DONE: `reply` is
// the operation as it ended, and it is done. Otherwise the problem says what has become of it.
enum outcome operation_run(struct context *context, json_t *body, struct reply *reply);

// Prints a line for people about one that is done: how many jobs, and what was left.
enum outcome operation_print(struct context *context, const json_t *operation);

#endif
