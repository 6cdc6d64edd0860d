/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_CLIENTS_LIBGEARMAN_BED_H
#define TANDEM_TESTS_CLIENTS_LIBGEARMAN_BED_H

// The fixture of each libgearman test: a function name of its own, a client, and workers that
// run in threads. GEARMAN_ADDRESS (host:port) says where the server is. Everything ends with the
// test.

#include "tests/support/with_cmocka.h"

#include <libgearman-1.0/gearman.h>

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BED_WORKERS 4
#define FOREVER_MS 120000 // only what hangs takes so long

struct worker {
    gearman_worker_st *gearman;
    pthread_t thread;
    bool runs;
};

struct bed {
    char function[64];
    char other[80]; // a second function
    gearman_client_st *client;
    gearman_client_st *second;
    struct worker workers[BED_WORKERS];
    size_t worker_count;
};

// cmocka's setup and teardown.
int bed_open(void **state);
int bed_close(void **state);

// A client of its own, which the caller frees.
gearman_client_st *bed_client(void);

// A worker that does not run yet.
struct worker *bed_worker(struct bed *bed);

// The worker can do `function`; a job is given to another after `limit_ms`, 0 for never.
void worker_can_do(struct worker *worker, const char *function, gearman_function_fn *work,
                   uint32_t limit_ms, void *context);

// Starts the worker's thread.
void worker_start(struct worker *worker);

// A worker that runs and can do the bed's function.
struct worker *bed_start(struct bed *bed, gearman_function_fn *work, void *context);

// Ends the thread; the worker's connection is closed.
void worker_stop(struct worker *worker);

// Breaks all connections of this process to the server, as a network does.
void bed_cut(void);

// Works: answers with the workload; with nothing; and fails.
gearman_return_t work_echo(gearman_job_st *job, void *context);
gearman_return_t work_nothing(gearman_job_st *job, void *context);
gearman_return_t work_fail(gearman_job_st *job, void *context);

// Does `text` in the foreground, with a result that must be `expected`.
void expect_done(gearman_client_st *client, const char *function, const char *text,
                 const char *expected);

// Submits in the background, with a key or NULL.
void submit(gearman_client_st *client, const char *function, const char *key, const char *text,
            gearman_job_handle_t handle);

// The server's report on a job.
struct told {
    uint32_t is_known, is_running, numerator, denominator, clients;
};
struct told told_by_handle(gearman_client_st *client, const gearman_job_handle_t handle);
struct told told_by_key(gearman_client_st *client, const char *key);

#endif
