/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_BEANSTALK_RESERVE_H
#define TANDEM_PROTO_BEANSTALK_RESERVE_H

// `reserve` and its kin: a ready job at once, or a wait, which ends as events.h says.

#include "core/base/macros.h"

#include "proto_beanstalk/conn.h"

void bean_reserve(struct bean_conn *conn, const struct bean_command *command);
void bean_reserve_with_timeout(struct bean_conn *conn, const struct bean_command *command);
void bean_reserve_job(struct bean_conn *conn, const struct bean_command *command);

// Takes a job, or begins to wait for one until that moment: `*job` is NULL then. The connection
// counts as a worker. Otherwise the status says why there is neither.
enum status bean_reserve_begin(struct bean_conn *conn, nsec_t until,
                               const struct job **job) MUST_USE;

// The answer that has the job.
void bean_reply_reserved(struct bean_conn *conn, const struct job *job);

#endif
