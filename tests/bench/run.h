/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_BENCH_RUN_H
#define TANDEM_BENCH_RUN_H

// One run: the connections, the loop around them, and what is counted. The workload decides what
// is asked when; the run sends it, reads the replies, and keeps time.
//
// A worker that finds no job where it asked for one sleeps as its protocol wants it and asks again
// when it is woken; the workload sees only the take that brings a job.
//
// The phases: warming up (nothing is counted), measuring, and stopping, in which no new job is
// begun and those in hand are finished, so that the server can be asked afterwards whether it
// counted the same jobs.

#include "tests/bench/args.h"
#include "tests/bench/conn.h"
#include "tests/bench/histogram.h"
#include "tests/bench/procfs.h"

#include <stdbool.h>
#include <stdint.h>

enum phase { PHASE_WARMUP, PHASE_MEASURE, PHASE_STOP };

// The results between the beginning and the end of PHASE_MEASURE.
struct measured {
    uint64_t jobs;                // completed
    uint64_t nsec;                // how long it took
    struct procfs_threads server; // those of the server, with the time that each of them used
    uint64_t own_cpu;             // nanoseconds on a CPU: ours
    struct histogram latencies;   // nanoseconds
};

struct run {
    const struct args *args;
    enum phase phase;
    uint64_t now; // monotonic, nanoseconds; read again for each connection that is served
    struct conn *conns;
    uint64_t issued;    // jobs sent, in all phases
    uint64_t accepted;  // jobs that the server took
    uint64_t completed; // jobs that are done, for workloads that finish jobs
    uint64_t errors;    // requests that the server refused
    uint64_t answers;   // replies to OP_PING
    struct measured measured;
    char *body;                          /* private: what a body looks like */
    uint32_t random;                     /* private: state of the generator of priorities */
    uint64_t phase_ends;                 /* private: 0 where the workload decides */
    uint32_t connected;                  /* private: connections so far */
    struct procfs_threads server_before; /* private */
    struct tls *tls;                     /* private: NULL: connections are plain */
    int epoll;                           /* private */
    void *state;                         // the workload's own
};

// Runs the workload of `args` to its end.
void run_all(struct run *run, const struct args *args);
void run_free(struct run *run);

// Whether a new job may be begun now.
bool run_may_put(const struct run *run);

// The connection becomes a worker's: stages that it wants the jobs of all queues.
void run_subscribe(struct run *run, struct conn *conn);

// Stage one request. `job` is the reply that brought the job. A protocol that does not answer to
// what is done makes the workload see the answer before run_done() returns.
void run_put(struct run *run, struct conn *conn);
void run_take(struct run *run, struct conn *conn);
// The same for `count` jobs at once, with an answer for each.
void run_take_many(struct run *run, struct conn *conn, uint32_t count);
void run_done(struct run *run, struct conn *conn, const struct reply *job);
void run_ping(struct run *run, struct conn *conn);

// The connection says goodbye, as its protocol has it, and is closed without waiting for the
// server; another one takes its place, for which the workload is started again.
void run_leave(struct run *run, struct conn *conn);

// Sends what is staged on another connection than the one that is being served.
void run_flush(struct run *run, struct conn *conn);

// When the job with this body was put; 0 where the body does not say.
uint64_t run_put_at(const struct run *run, const struct reply *reply);

// Counts one job, or one latency, where the run is measuring.
void run_count_job(struct run *run);
void run_count_latency(struct run *run, uint64_t since);

// For workloads that decide themselves when the measurement begins and ends.
void run_measure(struct run *run);
void run_stop(struct run *run);

// Something came back that must not: says so and ends the process.
__attribute__((noreturn, format(printf, 1, 2))) void run_broken(const char *format, ...);

#endif
