/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_PAUSE_H
#define TANDEM_CTL_PAUSE_H

// Pauses of queues, and their end.

#include "ctl/command.h"

enum outcome run_pause(struct context *context);
enum outcome run_resume(struct context *context);

#endif
