/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_TOP_H
#define TANDEM_CTL_TOP_H

// Live view of queues and totals.

#include "ctl/command.h"

enum outcome run_top(struct context *context);

#endif
