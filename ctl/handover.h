/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_HANDOVER_H
#define TANDEM_CTL_HANDOVER_H

// Asks the owner of a shared journal to hand it over to another broker, and waits for that.

#include "ctl/command.h"

enum outcome run_handover(struct context *context);

#endif
