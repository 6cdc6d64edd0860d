/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_INSIDE_H
#define TANDEM_CTL_INSIDE_H

// What is behind the broker: its journal and its configuration.

#include "ctl/command.h"

enum outcome run_journal(struct context *context);
enum outcome run_config(struct context *context);

#endif
