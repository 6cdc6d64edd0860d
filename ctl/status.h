/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_STATUS_H
#define TANDEM_CTL_STATUS_H

// Shows the state of the process, and the number of jobs in each state.

#include "ctl/command.h"

enum outcome run_status(struct context *context);

#endif
