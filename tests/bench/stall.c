/* SPDX-License-Identifier: MIT */
#include "tests/bench/tls.h"
#include "tests/bench/workload.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>

// stall: every other connection says nothing, and every other one half of what begins TLS. When
// the server has had enough of one, the next takes its place.

// OpenSSL chooses the bytes of these connections.
static void stall_prepare(struct args *args)
{
    args->tls = false;
}

static void stall_start(struct run *run, struct conn *conn)
{
    struct buffer *hello = run->state;
    if (!hello) {
        run->state = hello = calloc(1, sizeof *hello);
        if (!hello)
            err(1, "no memory");
        tls_add_half_hello(hello);
    }
    if (conn->index % 2)
        buffer_add(&conn->out, buffer_bytes(hello), buffer_len(hello));
    if (run->connected > run->args->conns || conn->index + 1 < run->args->conns)
        return;
    printf("ready conns=%u\n", run->args->conns);
    (void)fflush(stdout);
}

static void stall_answered(struct run *run, struct conn *conn, const struct request *request,
                           const struct reply *reply)
{
    (void)run;
    (void)conn;
    (void)request;
    (void)reply;
}

const struct workload workload_stall = {
    .name = "stall",
    .help = "connections that never end the handshake of TLS, until they are ended by a signal",
    .finished_by = OP_DONE,
    .is_closed = true,
    .prepare = stall_prepare,
    .start = stall_start,
    .answered = stall_answered,
};
