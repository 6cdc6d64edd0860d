/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_METRICS_ACCEPT_H
#define TANDEM_ADMIN_METRICS_ACCEPT_H

// Which of the two formats a client likes better.

#include "core/base/slice.h"

#include <stdbool.h>

// Whether the value of Accept (RFC 9110, 12.5.1) asks for OpenMetrics: it names
// application/openmetrics-text, in no version or in 1.0.0, and likes it at least as much as plain
// text. The wildcards mean plain text, which everybody reads.
bool metrics_accept_open(struct slice accept);

#endif
