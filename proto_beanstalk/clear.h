/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_BEANSTALK_CLEAR_H
#define TANDEM_PROTO_BEANSTALK_CLEAR_H

// `clear-tube`: deletes all jobs of a tube that nobody holds, those that are there when it begins,
// in slices.

#include "proto_beanstalk/conn.h"

#include <stddef.h>

void bean_clear_tube(struct bean_conn *conn, const struct bean_command *command);

// BEAN_CLEARING: deletes the next jobs, and answers after the last.
enum step bean_clear_step(struct bean_conn *conn);

// BEAN_CLEARING: how many bytes it has taken up; and the connection is gone.
size_t bean_clear_holds(const struct bean_conn *conn);
void bean_clear_discard(struct bean_conn *conn);

#endif
