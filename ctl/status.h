/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_STATUS_H
#define TANDEM_CTL_STATUS_H

// The process at work, and all jobs in numbers.

#include "ctl/command.h"

enum outcome run_status(struct context *context);

#endif
