/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_PAUSE_H
#define TANDEM_CTL_PAUSE_H

// Pauses and resumes queues.

#include "ctl/command.h"

enum outcome run_pause(struct context *context);
enum outcome run_resume(struct context *context);

#endif
