/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_KEEP_H
#define TANDEM_CTL_KEEP_H

// Sets whether a queue is kept when empty, and how many jobs it accepts.

#include "ctl/command.h"

enum outcome run_keep(struct context *context);
enum outcome run_forget(struct context *context);
enum outcome run_limit(struct context *context);

#endif
