/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_QUEUES_H
#define TANDEM_CTL_QUEUES_H

// Lists queues, and shows one queue.

#include "ctl/command.h"

enum outcome run_queues(struct context *context);
enum outcome run_queue(struct context *context);

#endif
