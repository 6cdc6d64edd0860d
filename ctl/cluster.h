/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_CLUSTER_H
#define TANDEM_CTL_CLUSTER_H

// Shows a journal that several brokers share: its owner, and how far behind the standbys are.

#include "ctl/command.h"

enum outcome run_cluster(struct context *context);

#endif
