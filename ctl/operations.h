/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_OPERATIONS_H
#define TANDEM_CTL_OPERATIONS_H

// Bulk operations: acts on all jobs that match a filter, or on all queues that match a glob. The
// broker runs them in the background.

#include "core/base/slice.h"
#include "ctl/command.h"

#include <stdbool.h>

struct bulk {
    const char *action; // name of the action in the API
    const char *queue;  // NULL: --queue or --queues select the queues
    bool asks;          // shows the count and asks for confirmation
    double pause_for;   // seconds; 0: not a pause
};

// Whether options select queues, and the operands are not job ids.
bool bulk_is_meant(const struct context *context);

// Starts the operation, shows its progress on a terminal, and prints how many jobs it changed.
// Ctrl-C cancels it.
enum outcome bulk_run(struct context *context, const struct bulk *bulk);

// The past participle of an action: "deleted", "kicked" ...
const char *action_past(struct slice action);

#endif
