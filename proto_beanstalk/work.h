/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_BEANSTALK_WORK_H
#define TANDEM_PROTO_BEANSTALK_WORK_H

// What a connection has allocated for the command that it is at, whichever that is.

#include "proto_beanstalk/conn.h"

#include <stddef.h>

// How many bytes that takes up; 0 where the state that the connection is in needs nothing.
size_t bean_work_holds(const struct bean_conn *conn);

// The connection is gone: all of it is freed.
void bean_work_discard(struct bean_conn *conn);

#endif
