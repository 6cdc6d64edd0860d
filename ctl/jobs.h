/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_JOBS_H
#define TANDEM_CTL_JOBS_H

// Lists the jobs of a queue by their states.

#include "ctl/command.h"

enum outcome run_jobs(struct context *context);

#endif
