/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_BEANSTALK_PACE_H
#define TANDEM_PROTO_BEANSTALK_PACE_H

// How long a beanstalk client may take. The protocol has no word for one that takes too long: it is
// disconnected.

#include "proto_beanstalk/conn.h"

// The front-end's functions of the same names.
void bean_limits(const void *options, struct pace_limits *limits);
struct pace bean_pace(void *conn);
void bean_overdue(void *conn, enum pace_verdict verdict, struct slice kept);

#endif
