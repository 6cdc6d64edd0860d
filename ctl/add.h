/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_ADD_H
#define TANDEM_CTL_ADD_H

// Submits a new job.

#include "ctl/command.h"

enum outcome run_add(struct context *context);

#endif
