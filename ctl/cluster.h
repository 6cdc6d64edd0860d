/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_CLUSTER_H
#define TANDEM_CTL_CLUSTER_H

// A journal that several brokers share: who owns it, and how far behind the others are.

#include "ctl/command.h"

enum outcome run_cluster(struct context *context);

#endif
