/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_BENCH_WORKLOAD_H
#define TANDEM_BENCH_WORKLOAD_H

// What the connections do: each case of the load generator is one of these.

#include "tests/bench/run.h"

struct workload {
    const char *name;
    const char *help;
    bool timed;    // warmed up and measured by the clock or by --jobs; otherwise it calls
                   // run_measure() and run_stop() itself
    bool finishes; // it finishes the jobs that it puts, all of them by the end
    // Adjusts the arguments, and ends the process where they make no sense. May be NULL.
    void (*prepare)(struct args *args);
    // A connection is up: stage what comes first.
    void (*start)(struct run *run, struct conn *conn);
    // A request is answered: count, and stage what comes next.
    void (*answered)(struct run *run, struct conn *conn, const struct request *request,
                     const struct reply *reply);
};

// All of them; the last has no name.
extern const struct workload workloads[];

// The workload of that name, NULL where there is none.
const struct workload *workload_find(const char *name);

#endif
