/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_CORE_ORACLE_OPERATE_H
#define TANDEM_TESTS_CORE_ORACLE_OPERATE_H

// The acts of operators by the model, and random acts that the broker and the model both do.

#include "tests/core/oracle.h"

// `to` is the queue that a job is moved to.
enum status oracle_act(struct oracle *o, uint64_t id, const struct job_act *act, int to);

// A random act on the job of that id, and one on all jobs of a queue that fit a random filter: both
// must answer the same. `chance` is any number.
void oracle_play_act(struct oracle *o, struct stage *s, uint64_t id, uint64_t chance,
                     const char *const *queue_names, uint32_t queues);
void oracle_play_sweep(struct oracle *o, struct stage *s, uint64_t chance,
                       const char *const *queue_names, uint32_t queues);

#endif
