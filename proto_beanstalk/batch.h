/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_BEANSTALK_BATCH_H
#define TANDEM_PROTO_BEANSTALK_BATCH_H

// `reserve-batch`: several jobs in one answer. It waits as `reserve-with-timeout` does, for the
// first job alone; then it takes what is ready, until it has as many as it was asked for, or as
// many bytes as one feed may stage. A job counts as a command does: a long batch is made in several
// turns, and answered when it is complete.

#include "proto_beanstalk/conn.h"

#include <stddef.h>

void bean_reserve_batch(struct bean_conn *conn, const struct bean_command *command);

// BEAN_BATCH_BLOCKED: the first job has come. The others are taken by the step.
void bean_batch_leased(struct bean_conn *conn, const struct job *job);

// BEAN_BATCHING: takes further jobs, and answers.
enum step bean_batch_step(struct bean_conn *conn, struct feed_turn *turn);

// Whether the job is among those that were taken, the answer to which is not made yet.
bool bean_batch_has(const struct bean_conn *conn, uint64_t job_id);

// The jobs that it has gathered, which no answer tells of yet.
void bean_batch_undelivered(const struct bean_conn *conn, output_undelivered_fn tell,
                            void *context);

// BEAN_BATCH_BLOCKED, BEAN_BATCHING: how many bytes it has taken up; and it ends without an answer.
size_t bean_batch_holds(const struct bean_conn *conn);
void bean_batch_discard(struct bean_conn *conn);

#endif
