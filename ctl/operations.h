/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_OPERATIONS_H
#define TANDEM_CTL_OPERATIONS_H

// Work over many jobs in the background, as the broker has it.

#include "ctl/command.h"

enum outcome run_operations(struct context *context);
enum outcome run_cancel(struct context *context);

#endif
