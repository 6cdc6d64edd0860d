/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_SHOW_H
#define TANDEM_CTL_SHOW_H

// One job, with its body, or with what it ended with where it has gone.

#include "ctl/command.h"

enum outcome run_show(struct context *context);
enum outcome run_result(struct context *context);

#endif
