/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_ACT_H
#define TANDEM_CTL_ACT_H

// What is done to jobs: to those that are named, or to all of a queue that fit a filter.

#include "ctl/command.h"

// The act is that of the command's name.
enum outcome run_act(struct context *context);
enum outcome run_clear(struct context *context);

#endif
