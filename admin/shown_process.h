/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_SHOWN_PROCESS_H
#define TANDEM_ADMIN_SHOWN_PROCESS_H

// The process as the API shows it: `Process`, `Journal`. Each function returns NULL without memory.

#include "http1/context.h"
#include "proto_common/sight.h"

#include <jansson.h>

// With what the caller of the connection may do.
json_t *shown_process(const struct http1_conn *conn);

json_t *shown_journal(const struct http1_conn *conn);

// How long syncs took: a `Histogram`.
json_t *shown_syncs(const struct sight_distribution *syncs);

#endif
