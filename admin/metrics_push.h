/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_METRICS_PUSH_H
#define TANDEM_ADMIN_METRICS_PUSH_H

// The metrics of endpoints that jobs are pushed to.

#include "proto_common/sight.h"

#include "admin/metrics_text.h"

// Endpoints that have metrics by their section, the first of them; the others are one more, whose
// section is empty.
#define METRICS_PUSH_NAMED 100

// Writes them; without sight, none has anything.
void metrics_push_write(const struct sight *sight, struct metrics_text *text);

#endif
