/* SPDX-License-Identifier: MIT */
#include "tests/bench/workload.h"

#include <err.h>
#include <inttypes.h>
#include <stdlib.h>

// drain: jobs that were put before are taken and finished. Each must come once, and a single
// connection must get those of a queue in the order of (priority, id).

// The number of puts in flight on each connection.
#define PRELOAD_DEPTH 64

struct slot {
    uint64_t id;
    uint32_t pri;
    uint32_t queue;
    bool taken;
};

struct drain {
    uint64_t asked;           // takes sent
    const struct slot **last; // taken, by queue; stands behind the slots
    struct slot slots[];      // of --jobs jobs, by id: ids follow one another
};

static void drain_prepare(struct args *args)
{
    if (!args->jobs)
        args->jobs = 200000;
    if (args->take > 1 && (!args->protocol->take_many || args->depth > 1))
        errx(2, "several jobs are taken at once by beanstalk and http, and without --depth");
}

static struct drain *drain_new(const struct args *args)
{
    size_t slots = (size_t)args->jobs * sizeof(struct slot);
    size_t last = args->queues * sizeof(struct slot *);
    struct drain *drain = calloc(1, sizeof *drain + slots + last);
    if (!drain)
        err(1, "no memory for %" PRIu64 " jobs", args->jobs);
    drain->last = (void *)(drain->slots + args->jobs);
    return drain;
}

static void drain_put_more(struct run *run, struct conn *conn)
{
    while (conn_in_flight(conn) < PRELOAD_DEPTH && run_may_put(run))
        run_put(run, conn);
}

static void drain_start(struct run *run, struct conn *conn)
{
    if (!run->state)
        run->state = drain_new(run->args);
    run_subscribe(run, conn);
    drain_put_more(run, conn);
}

static struct slot *drain_slot(struct run *run, uint64_t id)
{
    struct drain *drain = run->state;
    return &drain->slots[id % run->args->jobs];
}

static void drain_ask(struct run *run, struct conn *conn)
{
    struct drain *drain = run->state;
    uint64_t left = run->args->jobs - drain->asked;
    uint32_t count = left < run->args->take ? (uint32_t)left : run->args->take;
    if (run->args->take > 1 && count > 0)
        run_take_many(run, conn, count);
    else if (count > 0)
        run_take(run, conn);
    drain->asked += count;
}

// Whether the job was the last one of a batch requested together.
static bool ends_batch(const struct run *run, const struct conn *conn)
{
    const struct request *next = conn_oldest(conn);
    return run->args->take == 1 || !next || next->op != OP_TAKE;
}

static void drain_stored(struct run *run, struct conn *conn, const struct request *request,
                         uint64_t id)
{
    struct slot *slot = drain_slot(run, id);
    if (slot->id)
        run_broken("jobs %" PRIu64 " and %" PRIu64 " are too far apart", slot->id, id);
    *slot = (struct slot){.id = id, .pri = request->pri, .queue = request->queue};
    if (run->accepted < run->args->jobs) {
        drain_put_more(run, conn);
        return;
    }
    run_measure(run);
    for (uint32_t i = 0; i < run->args->conns; i++) {
        for (uint32_t asked = 0; asked < run->args->depth; asked++)
            drain_ask(run, &run->conns[i]);
        run_flush(run, &run->conns[i]);
    }
}

static void check_order(const struct run *run, const struct slot *slot)
{
    struct drain *drain = run->state;
    const struct slot *last = drain->last[slot->queue];
    if (last && (last->pri > slot->pri || (last->pri == slot->pri && last->id > slot->id)))
        run_broken("job %" PRIu64 " came before job %" PRIu64, last->id, slot->id);
    drain->last[slot->queue] = slot;
}

static void drain_taken(struct run *run, const struct reply *reply)
{
    struct slot *slot = drain_slot(run, reply->id);
    if (slot->id != reply->id || slot->taken)
        run_broken("job %" PRIu64 " came twice, or was never put", reply->id);
    if (slot->queue != reply->queue)
        run_broken("job %" PRIu64 " came out of another queue", reply->id);
    slot->taken = true;
    if (run->args->conns == 1)
        check_order(run, slot);
}

static void drain_answered(struct run *run, struct conn *conn, const struct request *request,
                           const struct reply *reply)
{
    if (reply->kind != REPLY_OK)
        run_broken("a drain was interrupted");
    if (request->op == OP_PUT) {
        drain_stored(run, conn, request, reply->id);
    } else if (request->op == OP_TAKE) {
        drain_taken(run, reply);
        run_count_latency(run, request->sent_at);
        bool last = ends_batch(run, conn);
        run_done(run, conn, reply);
        if (last)
            drain_ask(run, conn);
    } else {
        run_count_job(run);
        if (run->measured.jobs == run->args->jobs)
            run_stop(run);
    }
}

const struct workload workload_drain = {
    .name = "drain",
    .help = "take and finish --jobs jobs that were put before; latency of a take",
    .finished_by = OP_DONE,
    .prepare = drain_prepare,
    .start = drain_start,
    .answered = drain_answered,
};
