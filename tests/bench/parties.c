/* SPDX-License-Identifier: MIT */
#include "tests/bench/workload.h"

#include <err.h>
#include <inttypes.h>
#include <stdlib.h>

// Two kinds of connections. Workers come first, so that they wait when the first job comes.

static bool is_worker(const struct run *run, const struct conn *conn)
{
    return conn->index < run->args->workers;
}

static void parties_prepare(struct args *args)
{
    args->conns = args->producers + args->workers;
}

//
// pairs: producers put, workers wait for jobs. As many jobs are alive as producers * depth: a
// producer puts its next one when one is done, so that workers wait for jobs and not the other way
// round. The latency is that from the put to the job's arrival at a worker.
//

struct pairs {
    uint32_t next_producer;
};

static void pairs_prepare(struct args *args)
{
    parties_prepare(args);
    if (args->size < 16)
        errx(2, "bodies of pairs carry a time stamp: --size 16 or more");
}

static void pairs_start(struct run *run, struct conn *conn)
{
    if (!run->state) {
        run->state = calloc(1, sizeof(struct pairs));
        if (!run->state)
            err(1, "no memory");
    }
    if (is_worker(run, conn)) {
        run_subscribe(run, conn);
        run_take(run, conn);
        return;
    }
    for (uint32_t i = 0; i < run->args->depth && run_may_put(run); i++)
        run_put(run, conn);
}

static void pairs_answered(struct run *run, struct conn *conn, const struct request *request,
                           const struct reply *reply)
{
    if (reply->kind != REPLY_OK)
        run_broken("a pair was interrupted");
    if (request->op == OP_TAKE) {
        uint64_t put_at = run_put_at(run, reply);
        if (put_at)
            run_count_latency(run, put_at);
        run_done(run, conn, reply);
        run_take(run, conn);
    } else if (request->op == OP_DONE) {
        run_count_job(run);
        if (!run_may_put(run))
            return;
        struct pairs *pairs = run->state;
        struct conn *producer = &run->conns[run->args->workers + pairs->next_producer];
        pairs->next_producer = (pairs->next_producer + 1) % run->args->producers;
        run_put(run, producer);
        run_flush(run, producer);
    }
}

const struct workload workload_pairs = {
    .name = "pairs",
    .help = "producers, and workers that wait; latency from the put to the worker",
    .timed = true,
    .finished_by = OP_DONE,
    .prepare = pairs_prepare,
    .start = pairs_start,
    .answered = pairs_answered,
};

//
// trips: each client puts a job and awaits its result, over and over; workers wait for jobs. The
// latency is that from the put to the result.
//

static void trips_prepare(struct args *args)
{
    parties_prepare(args);
    if (!args->protocol->results)
        errx(2, "%s has no results to wait for", args->protocol->name);
    if (args->depth != 1)
        errx(2, "a round trip is one request after the other: --depth 1");
}

static void trips_start(struct run *run, struct conn *conn)
{
    if (is_worker(run, conn)) {
        run_subscribe(run, conn);
        run_take(run, conn);
    } else if (run_may_put(run)) {
        run_put(run, conn);
    }
}

static void trips_result(struct run *run, struct conn *conn, const struct request *request,
                         const struct reply *reply)
{
    if (reply->id != conn->job_id)
        run_broken("the result of job %" PRIu64 " came for job %" PRIu64, reply->id, conn->job_id);
    run_count_job(run);
    run_count_latency(run, request->sent_at);
    if (run_may_put(run))
        run_put(run, conn);
}

static void trips_answered(struct run *run, struct conn *conn, const struct request *request,
                           const struct reply *reply)
{
    if (reply->kind != REPLY_OK)
        run_broken("a round trip was interrupted");
    if (request->op == OP_PUT) {
        conn->job_id = reply->id;
    } else if (request->op == OP_RESULT) {
        trips_result(run, conn, request, reply);
    } else if (request->op == OP_TAKE) {
        run_done(run, conn, reply);
        run_take(run, conn);
    }
}

const struct workload workload_trips = {
    .name = "trips",
    .help = "put and await the result, beside workers that wait; latency of a round trip",
    .timed = true,
    .finished_by = OP_RESULT,
    .prepare = trips_prepare,
    .start = trips_start,
    .answered = trips_answered,
};

//
// work: workers alone, who do what others put until they are stopped
//

static void work_start(struct run *run, struct conn *conn)
{
    run_subscribe(run, conn);
    run_take(run, conn);
}

static void work_answered(struct run *run, struct conn *conn, const struct request *request,
                          const struct reply *reply)
{
    if (reply->kind != REPLY_OK)
        run_broken("a worker was interrupted");
    if (request->op == OP_TAKE) {
        run_done(run, conn, reply);
        run_take(run, conn);
    }
}

const struct workload workload_work = {
    .name = "work",
    .help = "workers that do what others put, until they are ended by a signal",
    .finished_by = OP_DONE,
    .start = work_start,
    .answered = work_answered,
};
