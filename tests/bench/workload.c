/* SPDX-License-Identifier: MIT */
#include "tests/bench/workload.h"

#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Jobs to be drained are put with so many in flight on each connection.
#define PRELOAD_DEPTH 64

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
// cycle: each connection puts, reserves and finishes a job, over and over. The job that it gets
// may be another's; since each puts before it reserves, there is always one.
//

static void cycle_prepare(struct args *args)
{
    if (args->depth != 1)
        errx(2, "a cycle is one request after the other: --depth 1");
}

static void cycle_start(struct run *run, struct conn *conn)
{
    if (!run_may_put(run))
        return;
    conn->begun_at = run->now;
    run_put(run, conn);
}

static void cycle_answered(struct run *run, struct conn *conn, const struct request *request,
                           const struct reply *reply)
{
    if (reply->kind != REPLY_OK)
        run_broken("a cycle was interrupted");
    if (request->op == OP_PUT) {
        run_take(run, conn);
    } else if (request->op == OP_TAKE) {
        run_done(run, conn, reply->id);
    } else {
        run_count_job(run);
        run_count_latency(run, conn->begun_at);
        cycle_start(run, conn);
    }
}

//
// pairs: producers put, workers wait in reserve. As many jobs are alive as producers * depth: a
// producer puts its next one when one is done, so that workers wait for jobs and not the other way
// round. The latency is that from the put to the job's arrival at a worker.
//

struct pairs {
    uint32_t next_producer;
};

static void pairs_prepare(struct args *args)
{
    args->conns = args->producers + args->workers;
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
    // Workers come first, so that they wait when the first job comes.
    if (conn->index < run->args->workers)
        run_take(run, conn);
    for (uint32_t i = 0; conn->index >= run->args->workers && i < run->args->depth; i++) {
        if (run_may_put(run))
            run_put(run, conn);
    }
}

static void pairs_answered(struct run *run, struct conn *conn, const struct request *request,
                           const struct reply *reply)
{
    if (reply->kind != REPLY_OK)
        run_broken("a pair was interrupted");
    if (request->op == OP_TAKE) {
        run_count_latency(run, run_put_at(run, reply));
        run_done(run, conn, reply->id);
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

//
// drain: jobs that were put before are taken and finished. Each must come once, and a single
// connection must get them in the order of (priority, id).
//

struct slot {
    uint64_t id;
    uint32_t pri;
    bool taken;
};

struct drain {
    uint64_t asked; // takes sent
    const struct slot *last;
    struct slot slots[]; // of --jobs jobs, by id: ids follow one another
};

static void drain_prepare(struct args *args)
{
    if (!args->jobs)
        args->jobs = 200000;
}

static void drain_start(struct run *run, struct conn *conn)
{
    if (!run->state) {
        run->state =
            calloc(1, sizeof(struct drain) + (size_t)run->args->jobs * sizeof(struct slot));
        if (!run->state)
            err(1, "no memory for %" PRIu64 " jobs", run->args->jobs);
    }
    while (conn_in_flight(conn) < PRELOAD_DEPTH && run_may_put(run))
        run_put(run, conn);
}

static struct slot *drain_slot(struct run *run, uint64_t id)
{
    struct drain *drain = run->state;
    return &drain->slots[id % run->args->jobs];
}

static void drain_ask(struct run *run, struct conn *conn)
{
    struct drain *drain = run->state;
    if (drain->asked < run->args->jobs) {
        drain->asked++;
        run_take(run, conn);
    }
}

static void drain_stored(struct run *run, struct conn *conn, const struct request *request,
                         uint64_t id)
{
    struct slot *slot = drain_slot(run, id);
    if (slot->id)
        run_broken("jobs %" PRIu64 " and %" PRIu64 " are too far apart", slot->id, id);
    *slot = (struct slot){.id = id, .pri = request->pri};
    if (run->accepted < run->args->jobs) {
        drain_start(run, conn);
        return;
    }
    run_measure(run);
    for (uint32_t i = 0; i < run->args->conns; i++) {
        for (uint32_t asked = 0; asked < run->args->depth; asked++)
            drain_ask(run, &run->conns[i]);
        run_flush(run, &run->conns[i]);
    }
}

static void drain_taken(struct run *run, uint64_t id)
{
    struct drain *drain = run->state;
    struct slot *slot = drain_slot(run, id);
    const struct slot *last = drain->last;
    if (slot->id != id || slot->taken)
        run_broken("job %" PRIu64 " came twice, or was never put", id);
    slot->taken = true;
    if (run->args->conns > 1)
        return;
    if (last && (last->pri > slot->pri || (last->pri == slot->pri && last->id > id)))
        run_broken("job %" PRIu64 " came before job %" PRIu64, last->id, id);
    drain->last = slot;
}

static void drain_answered(struct run *run, struct conn *conn, const struct request *request,
                           const struct reply *reply)
{
    if (reply->kind != REPLY_OK)
        run_broken("a drain was interrupted");
    if (request->op == OP_PUT) {
        drain_stored(run, conn, request, reply->id);
    } else if (request->op == OP_TAKE) {
        drain_taken(run, reply->id);
        run_count_latency(run, request->sent_at);
        run_done(run, conn, reply->id);
        drain_ask(run, conn);
    } else {
        run_count_job(run);
        if (run->measured.jobs == run->args->jobs)
            run_stop(run);
    }
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

const struct workload workloads[] = {
    {.name = "put",
     .help = "puts; latency of a put",
     .timed = true,
     .start = put_more,
     .answered = put_answered},
    {.name = "cycle",
     .help = "put, reserve, delete, one after the other; latency of all three",
     .timed = true,
     .finishes = true,
     .prepare = cycle_prepare,
     .start = cycle_start,
     .answered = cycle_answered},
    {.name = "pairs",
     .help = "producers, and workers that wait; latency from the put to the worker",
     .timed = true,
     .finishes = true,
     .prepare = pairs_prepare,
     .start = pairs_start,
     .answered = pairs_answered},
    {.name = "drain",
     .help = "reserve and delete --jobs jobs that were put before; latency of a reserve",
     .finishes = true,
     .prepare = drain_prepare,
     .start = drain_start,
     .answered = drain_answered},
    {.name = "idle",
     .help = "connections that do nothing until standard input ends",
     .start = run_ping,
     .answered = idle_answered},
    {.name = NULL},
};

const struct workload *workload_find(const char *name)
{
    for (const struct workload *workload = workloads; workload->name; workload++) {
        if (strcmp(name, workload->name) == 0)
            return workload;
    }
    return NULL;
}
