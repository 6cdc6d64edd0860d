/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_GEARMAN_EVENTS_H
#define TANDEM_PROTO_GEARMAN_EVENTS_H

// What the broker tells a connection: a sleeping worker, that there may be a job for it; a client,
// what the worker reports about its jobs, and how they end.

#include "core/broker.h"

extern const struct session_ops gear_session_ops;

#endif
