/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_HANDOVER_H
#define TANDEM_CTL_HANDOVER_H

// The request that another broker own a journal that several share, and the wait for that.

#include "ctl/command.h"

enum outcome run_handover(struct context *context);

#endif
