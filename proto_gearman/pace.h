/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_GEARMAN_PACE_H
#define TANDEM_PROTO_GEARMAN_PACE_H

// How long a Gearman client or worker may take. One whose packet takes too long is answered ERROR
// with the code TIMEOUT; one that is idle, or has begun a line of text, is disconnected without a
// word.

#include "proto_gearman/conn.h"

// The front-end's functions of the same names.
void gear_limits(const void *options, struct pace_limits *limits);
struct pace gear_pace(void *conn);
void gear_overdue(void *conn, enum pace_verdict verdict, struct slice kept);

#endif
