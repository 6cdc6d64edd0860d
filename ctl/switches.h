/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_SWITCHES_H
#define TANDEM_CTL_SWITCHES_H

// Commands that change the broker as a whole.

#include "ctl/command.h"

enum outcome run_drain(struct context *context);
enum outcome run_reload(struct context *context);
enum outcome run_push_resume(struct context *context);
enum outcome run_log_commands(struct context *context);

#endif
