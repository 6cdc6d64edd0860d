/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_BENCH_ARGS_H
#define TANDEM_BENCH_ARGS_H

// The command line.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct workload;
struct protocol;

// The maximum number of server processes.
#define SERVERS_MAX 4

struct args {
    const struct workload *workload;
    const struct protocol *protocol;
    const char *host; // an IPv4 address
    uint16_t port;
    uint32_t conns; // connections; where there are two kinds, the sum of the next two
    uint32_t producers;
    uint32_t workers;
    uint32_t depth;       // requests in flight on each connection
    uint32_t take;        // jobs that a worker asks for at once
    bool batch;           // send `depth` requests together, when all of the last ones are answered
    uint32_t size;        // bytes of each body
    uint32_t result_size; // bytes of each result; 0: it is the body
    bool random_pri;
    uint32_t queues;            // number of queues that the jobs are spread over
    uint64_t first_key;         // each job has a key of its own, numbered from here on; 0: no keys
    double seconds;             // measured
    double warmup;              // seconds before that
    uint64_t jobs;              // end after this number of jobs, without a warm-up; 0: by time
    bool tls;                   // connections speak TLS
    bool tickets;               // and resume the last session
    pid_t servers[SERVERS_MAX]; // whose CPU time to read
    size_t server_count;
};

// Reads the command line; says what is wrong with it and ends the process where it is wrong.
void args_parse(struct args *args, int argc, char **argv);

#endif
