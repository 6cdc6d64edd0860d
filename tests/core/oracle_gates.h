/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_CORE_ORACLE_GATES_H
#define TANDEM_TESTS_CORE_ORACLE_GATES_H

// The oracle's policies of queues: limits, rates, how many are held, weights, expiry.

#include "tests/core/oracle.h"

// Gives a random queue another random policy, here and on the stage.
void oracle_play_policy(struct oracle *o, struct stage *s, uint64_t random,
                        const char *const *queue_names, uint32_t queues);

// Whether a new job is refused.
bool oracle_full(const struct oracle *o, int queue);

// Whether neither its policy nor a pause closes the queue.
bool model_open(const struct oracle *o, int queue);

// A job of the queue is taken, not by its id; a job that was chosen among several queues is taken.
void model_gate_take(struct oracle *o, int queue);
void model_weigh_take(struct oracle *o, int session, const struct oracle_job *job);

// The job that the session takes, if one of its queues has a weight; otherwise NULL.
struct oracle_job *model_weigh(struct oracle *o, int session);

// Opens the queues whose rates allow it now.
void model_gates_tick(struct oracle *o);

// When the job expires; NSEC_NEVER: never. Removes jobs that have expired.
nsec_t model_over_at(const struct oracle *o, const struct oracle_job *job);
void model_expire_all(struct oracle *o);

// Whether the queue stays only because its rate is not at rest yet.
bool model_gate_keeps(struct oracle *o, int queue);

#endif
