/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_METRICS_PROCESS_H
#define TANDEM_ADMIN_METRICS_PROCESS_H

// The metrics that are not of a queue: the broker as a whole, and the process. Some hundred lines,
// written in one go at the moment that they are about.

#include "admin/metrics_look.h"
#include "admin/metrics_text.h"

void metrics_process_write(const struct metric_look *look, struct metrics_text *text);

#endif
