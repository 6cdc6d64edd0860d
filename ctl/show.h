/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_SHOW_H
#define TANDEM_CTL_SHOW_H

// Shows one job with its body, or the result of a job that has ended.

#include "ctl/command.h"

enum outcome run_show(struct context *context);
enum outcome run_result(struct context *context);

#endif
