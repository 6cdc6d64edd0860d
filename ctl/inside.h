/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_INSIDE_H
#define TANDEM_CTL_INSIDE_H

// Shows the journal and the configuration of the broker.

#include "ctl/command.h"

enum outcome run_journal(struct context *context);
enum outcome run_config(struct context *context);

#endif
