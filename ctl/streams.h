/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_STREAMS_H
#define TANDEM_CTL_STREAMS_H

// Prints streams as they arrive: metrics and events.

#include "ctl/command.h"

enum outcome run_metrics(struct context *context);
enum outcome run_events(struct context *context);

#endif
