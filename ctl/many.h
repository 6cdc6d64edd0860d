/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_MANY_H
#define TANDEM_CTL_MANY_H

// Acts on all jobs that match a filter, in one queue or several.

#include "ctl/command.h"

struct many {
    const char *action; // name of the action in the API
    const char *queue;  // NULL: --queue or --queues select the queues
    bool asks;          // shows the count and asks for confirmation
    double pause_for;   // seconds; 0: not a pause
};

// Whether options select queues, and the operands are not job ids.
bool many_is_meant(const struct context *context);

enum outcome many_run(struct context *context, const struct many *many);

#endif
