/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_KEEP_H
#define TANDEM_CTL_KEEP_H

// Whether a queue stays when it is empty, and how many jobs it takes.

#include "ctl/command.h"

enum outcome run_keep(struct context *context);
enum outcome run_forget(struct context *context);
enum outcome run_limit(struct context *context);

#endif
