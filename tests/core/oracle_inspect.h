/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_CORE_ORACLE_INSPECT_H
#define TANDEM_TESTS_CORE_ORACLE_INSPECT_H

// Compares what the broker tells about itself with the oracle: counters, times that jobs waited and
// were worked on, the oldest ready job, and walks over its jobs, which take a few steps at a time
// while everything changes.

#include "tests/core/oracle.h"

enum { SIGHT_SEEN = 4096 };

struct oracle_inspector {
    struct stage *s;
    struct oracle *o;
    const char *const *queue_names;
    int queues;
    int turn; // the queue whose counts are compared next

    struct job_walk walk; // over all jobs
    uint64_t walk_began;  // the last id when it did
    size_t seen_count;
    uint64_t seen[SIGHT_SEEN];

    struct job_cursor list; // over those of one queue and state
    int list_queue;
    enum job_state list_state;
    uint64_t list_began; // the oracle's stamp when it did
    size_t listed_count;
    struct {
        uint64_t id, at; // the oracle's stamp
    } listed[SIGHT_SEEN];
};

// Compares the counters, and lets the walks take `steps` steps. `last_id`: of the newest job.
void oracle_inspect_compare(struct oracle_inspector *inspector, uint64_t last_id,
                            uint32_t walk_steps, uint32_t list_steps);

#endif
