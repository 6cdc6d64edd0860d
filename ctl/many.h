/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_MANY_H
#define TANDEM_CTL_MANY_H

// What is done to all jobs of a queue, or of several, that fit a filter.

#include "ctl/command.h"

struct many {
    const char *action; // of the API
    const char *queue;  // NULL: --queue or --queues say which
    bool asks;          // a person is told how many, and asked
    double pause_for;   // seconds; 0: it is no pause
};

// Whether options name queues, rather than jobs by their numbers.
bool many_is_meant(const struct context *context);

enum outcome many_run(struct context *context, const struct many *many);

#endif
