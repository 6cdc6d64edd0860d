/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_CORE_ORACLE_GATES_H
#define TANDEM_TESTS_CORE_ORACLE_GATES_H

// The oracle's policies of queues: limits, rates, how many are held, weights, expiry.

#include "tests/core/oracle.h"

// Gives one queue another policy, by chance, here and on the stage.
void oracle_play_policy(struct oracle *o, struct stage *s, uint64_t random,
                        const char *const *queue_names, uint32_t queues);

// Whether a new job is refused.
bool oracle_full(const struct oracle *o, int queue);

// Whether jobs may be taken, as far as its policy and its pause go.
bool model_open(const struct oracle *o, int queue);

// A job of the queue is taken, not by its id; a job that was chosen among several queues.
void model_gate_take(struct oracle *o, int queue);
void model_weigh_take(struct oracle *o, int session, const struct oracle_job *job);

// Of queues with weights, among others: the job that the session takes; NULL where no queue has
// one.
struct oracle_job *model_weigh(struct oracle *o, int session);

// The moments of rates that have come.
void model_gates_tick(struct oracle *o);

// When the job will have been ready for too long; NSEC_NEVER: never. Those that have been go.
nsec_t model_over_at(const struct oracle *o, const struct oracle_job *job);
void model_expire_all(struct oracle *o);

// Whether a queue that nothing else keeps stays, until its rate is at rest.
bool model_gate_keeps(struct oracle *o, int queue);

#endif
