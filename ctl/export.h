/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_EXPORT_H
#define TANDEM_CTL_EXPORT_H

// Exports all jobs of a broker as lines of JSON.

#include "ctl/command.h"

enum outcome run_export(struct context *context);

#endif
