/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_ACT_H
#define TANDEM_CTL_ACT_H

// Acts on jobs: on the jobs with given ids, or on all jobs of a queue that match a filter.

#include "ctl/command.h"

// The name of the command selects the act.
enum outcome run_act(struct context *context);
enum outcome run_clear(struct context *context);

#endif
