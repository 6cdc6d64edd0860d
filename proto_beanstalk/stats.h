/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_BEANSTALK_STATS_H
#define TANDEM_PROTO_BEANSTALK_STATS_H

// `stats`, `stats-job` and `stats-tube`: beanstalkd's keys in beanstalkd's order, and ours last.

#include "proto_beanstalk/conn.h"

void bean_stats(struct bean_conn *conn, const struct bean_command *command);
void bean_stats_job(struct bean_conn *conn, const struct bean_command *command);
void bean_stats_tube(struct bean_conn *conn, const struct bean_command *command);

#endif
