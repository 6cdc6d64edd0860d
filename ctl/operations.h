/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_OPERATIONS_H
#define TANDEM_CTL_OPERATIONS_H

// Lists, shows and cancels the background operations of the broker.

#include "ctl/command.h"

enum outcome run_operations(struct context *context);
enum outcome run_cancel(struct context *context);

#endif
