/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_GEARMAN_EVENTS_H
#define TANDEM_PROTO_GEARMAN_EVENTS_H

// What the broker tells a connection: that there may be a job, and how the jobs that it waits for
// go on.

#include "core/broker.h"

extern const struct session_ops gear_session_ops;

#endif
