/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_PEERS_H
#define TANDEM_CTL_PEERS_H

// Lists connections or workers, and shows one connection.

#include "ctl/command.h"

enum outcome run_workers(struct context *context);
enum outcome run_connections(struct context *context);

#endif
