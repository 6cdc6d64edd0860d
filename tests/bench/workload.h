/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_BENCH_WORKLOAD_H
#define TANDEM_BENCH_WORKLOAD_H

// The actions of the connections: each case of the load generator is one of these.

#include "tests/bench/run.h"

#include <stdbool.h>

struct workload {
    const char *name;
    const char *help;
    bool timed;          // warmed up and measured by the clock or by --jobs; otherwise it calls
                         // run_measure() and run_stop() itself
    enum op finished_by; // whose answer finishes a job that was put; all are finished by the end.
                         // OP_RESULT: jobs are put to have their result. OP_NONE: they stay
    bool is_closed;      // the server may close connections; others take their place
    // Adjusts the arguments, and ends the process where they make no sense. May be NULL.
    void (*prepare)(struct args *args);
    // A connection is up: stage what comes first.
    void (*start)(struct run *run, struct conn *conn);
    // A request is answered: count, and stage what comes next.
    void (*answered)(struct run *run, struct conn *conn, const struct request *request,
                     const struct reply *reply);
};

// Jobs that were put before are taken and finished.
extern const struct workload workload_drain;
// Some connections put, others wait for jobs and finish them: without a look at the result, and
// with one.
extern const struct workload workload_pairs;
extern const struct workload workload_trips;
// Connections that say half of what begins TLS.
extern const struct workload workload_stall;
// Workers alone.
extern const struct workload workload_work;

// All of them; the last is NULL.
extern const struct workload *const workloads[];

// The workload of that name, NULL where there is none.
const struct workload *workload_find(const char *name);

#endif
