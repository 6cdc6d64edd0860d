/* SPDX-License-Identifier: MIT */
#include "tests/bench/workload.h"

#include <err.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

//
// put: jobs go in, and stay
//

static void put_more(struct run *run, struct conn *conn)
{
    if (run->args->batch && conn_in_flight(conn) > 0)
        return;
    while (conn_in_flight(conn) < run->args->depth && run_may_put(run))
        run_put(run, conn);
}

static void put_answered(struct run *run, struct conn *conn, const struct request *request,
                         const struct reply *reply)
{
    if (reply->kind == REPLY_OK) {
        run_count_job(run);
        run_count_latency(run, request->sent_at);
    }
    put_more(run, conn);
}

//
// cycle: each connection puts, takes and finishes a job, over and over. The job that it gets
// may be another's; since each puts before it takes, there is always one.
//

static void cycle_prepare(struct args *args)
{
    if (args->depth != 1)
        errx(2, "a cycle is one request after the other: --depth 1");
}

static void cycle_once_more(struct run *run, struct conn *conn)
{
    if (!run_may_put(run))
        return;
    conn->begun_at = run->now;
    run_put(run, conn);
}

static void cycle_start(struct run *run, struct conn *conn)
{
    run_subscribe(run, conn);
    cycle_once_more(run, conn);
}

static void cycle_answered(struct run *run, struct conn *conn, const struct request *request,
                           const struct reply *reply)
{
    if (reply->kind != REPLY_OK)
        run_broken("a cycle was interrupted");
    if (request->op == OP_PUT) {
        run_take(run, conn);
    } else if (request->op == OP_TAKE) {
        run_done(run, conn, reply);
    } else {
        run_count_job(run);
        run_count_latency(run, conn->begun_at);
        cycle_once_more(run, conn);
    }
}

//
// short: each connection puts one job and leaves, and the next one takes its place, as the pages
// of a web site do it. The latency is that from before the connection to the answer.
//

static void short_start(struct run *run, struct conn *conn)
{
    conn->begun_at = run->now;
    if (run_may_put(run))
        run_put(run, conn);
}

static void short_answered(struct run *run, struct conn *conn, const struct request *request,
                           const struct reply *reply)
{
    (void)request;
    if (reply->kind == REPLY_OK) {
        run_count_job(run);
        run_count_latency(run, conn->begun_at);
    }
    if (run_may_put(run))
        run_leave(run, conn);
}

static void short_prepare(struct args *args)
{
    if (args->depth != 1)
        errx(2, "a connection puts one job: --depth 1");
}

//
// idle: connections that asked one question and say no more until standard input ends
//

static void idle_answered(struct run *run, struct conn *conn, const struct request *request,
                          const struct reply *reply)
{
    (void)conn;
    (void)request;
    (void)reply;
    if (run->answers < run->args->conns)
        return;
    printf("ready conns=%u\n", run->args->conns);
    (void)fflush(stdout);
    char byte;
    while (read(STDIN_FILENO, &byte, 1) > 0)
        ;
    run_measure(run);
    run_stop(run);
}

static const struct workload put = {
    .name = "put",
    .help = "puts; latency of a put",
    .timed = true,
    .start = put_more,
    .answered = put_answered,
};

static const struct workload cycle = {
    .name = "cycle",
    .help = "put, take, finish, one after the other; latency of all three",
    .timed = true,
    .finished_by = OP_DONE,
    .prepare = cycle_prepare,
    .start = cycle_start,
    .answered = cycle_answered,
};

static const struct workload short_lived = {
    .name = "short",
    .help = "connect, put, quit, over and over; latency of connecting and the put",
    .timed = true,
    .prepare = short_prepare,
    .start = short_start,
    .answered = short_answered,
};

static const struct workload idle = {
    .name = "idle",
    .help = "connections that do nothing until standard input ends",
    .start = run_ping,
    .answered = idle_answered,
};

const struct workload *const workloads[] = {
    &put,
    &cycle,
    &workload_pairs,
    &workload_trips,
    &workload_work,
    &workload_drain,
    &short_lived,
    &workload_stall,
    &idle,
    NULL,
};

const struct workload *workload_find(const char *name)
{
    for (const struct workload *const *workload = workloads; *workload; workload++) {
        if (strcmp(name, (*workload)->name) == 0)
            return *workload;
    }
    return NULL;
}
