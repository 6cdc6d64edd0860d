/* SPDX-License-Identifier: MIT */
#include "tests/bench/run.h"

#include "tests/bench/tls.h"
#include "tests/bench/workload.h"

#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#define NSEC_PER_SEC UINT64_C(1000000000)
#define EVENTS_PER_WAIT 256
// Requests without a reply at the end may take this long.
#define STOP_FOR (30 * NSEC_PER_SEC)
// A server that refuses so often is not measured at all.
#define ERRORS_MAX 1000
// A body of at least this size begins with the moment at which it was put, in hexadecimal digits.
#define STAMP_LEN 16
// The number of bytes of an unknown reply that are shown.
#define ESCAPED_MAX 80

static uint64_t read_clock(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * NSEC_PER_SEC + (uint64_t)now.tv_nsec;
}

static void read_server(const struct run *run, struct procfs_threads *threads)
{
    threads->count = 0;
    for (size_t i = 0; i < run->args->server_count; i++) {
        if (!procfs_add_threads(run->args->servers[i], threads))
            errx(1, "cannot read the CPU time of process %ld", (long)run->args->servers[i]);
    }
}

void run_broken(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    verrx(1, format, args);
    va_end(args);
}

//
// Phases
//

void run_measure(struct run *run)
{
    run->phase = PHASE_MEASURE;
    run->now = read_clock(CLOCK_MONOTONIC);
    bool timed = !run->args->jobs && run->args->workload->timed;
    run->phase_ends = timed ? run->now + (uint64_t)(run->args->seconds * 1e9) : 0;
    read_server(run, &run->server_before);
    run->measured.own_cpu = read_clock(CLOCK_PROCESS_CPUTIME_ID);
    run->measured.nsec = run->now;
}

void run_stop(struct run *run)
{
    run->now = read_clock(CLOCK_MONOTONIC);
    struct measured *measured = &run->measured;
    measured->nsec = run->now - measured->nsec;
    read_server(run, &measured->server);
    procfs_subtract(&measured->server, &run->server_before);
    measured->own_cpu = read_clock(CLOCK_PROCESS_CPUTIME_ID) - measured->own_cpu;
    run->phase = PHASE_STOP;
    run->phase_ends = run->now + STOP_FOR;
}

static void check_phase(struct run *run)
{
    run->now = read_clock(CLOCK_MONOTONIC);
    bool by_count = run->args->jobs && run->args->workload->timed;
    if (run->phase == PHASE_MEASURE && by_count &&
        run->measured.jobs + run->errors >= run->args->jobs)
        run_stop(run);
    if (!run->phase_ends || run->now < run->phase_ends)
        return;
    if (run->phase == PHASE_WARMUP)
        run_measure(run);
    else if (run->phase == PHASE_MEASURE)
        run_stop(run);
    else
        run_broken("%" PRIu64 " jobs issued, %" PRIu64 " accepted, %" PRIu64 " completed, and no "
                   "more comes",
                   run->issued, run->accepted, run->completed);
}

static bool is_finished(const struct run *run)
{
    if (run->phase != PHASE_STOP || run->issued > run->accepted + run->errors)
        return false;
    return run->args->workload->finished_by == OP_NONE || run->completed >= run->accepted;
}

//
// Requests
//

bool run_may_put(const struct run *run)
{
    return run->phase != PHASE_STOP && (!run->args->jobs || run->issued < run->args->jobs);
}

static void expect(struct run *run, struct conn *conn, enum op op)
{
    conn_expect(conn, &(struct request){.op = op, .sent_at = run->now});
}

// A generator of Marsaglia's: every run has the same priorities.
static uint32_t next_pri(struct run *run)
{
    if (!run->args->random_pri)
        return 1024;
    run->random ^= run->random << 13;
    run->random ^= run->random >> 17;
    run->random ^= run->random << 5;
    return run->random;
}

static void stamp_body(struct run *run)
{
    char stamp[STAMP_LEN + 1];
    if (run->args->size < STAMP_LEN)
        return;
    snprintf(stamp, sizeof stamp, "%016" PRIx64, run->now);
    memcpy(run->body, stamp, STAMP_LEN);
}

void run_subscribe(struct run *run, struct conn *conn)
{
    const struct protocol *protocol = run->args->protocol;
    for (uint32_t i = 0; protocol->subscribe && i < run->args->queues; i++)
        protocol->subscribe(&conn->out, i);
}

void run_put(struct run *run, struct conn *conn)
{
    const struct args *args = run->args;
    stamp_body(run);
    const struct submission submission = {
        .queue = (uint32_t)(run->issued % args->queues),
        .pri = next_pri(run),
        .key = args->first_key ? args->first_key + run->issued : 0,
        .awaited = args->workload->finished_by == OP_RESULT,
        .body = run->body,
        .len = args->size,
    };
    args->protocol->put(&conn->out, &submission);
    conn_expect(conn, &(struct request){.op = OP_PUT,
                                        .pri = submission.pri,
                                        .queue = submission.queue,
                                        .sent_at = run->now});
    if (submission.awaited)
        expect(run, conn, OP_RESULT);
    run->issued++;
}

void run_take(struct run *run, struct conn *conn)
{
    run->args->protocol->take(&conn->out);
    expect(run, conn, OP_TAKE);
}

void run_take_many(struct run *run, struct conn *conn, uint32_t count)
{
    run->args->protocol->take_many(&conn->out, count);
    for (uint32_t i = 0; i < count; i++)
        expect(run, conn, OP_TAKE);
}

void run_ping(struct run *run, struct conn *conn)
{
    run->args->protocol->ping(&conn->out);
    expect(run, conn, OP_PING);
}

void run_leave(struct run *run, struct conn *conn)
{
    if (run->args->protocol->quit)
        run->args->protocol->quit(&conn->out);
    conn->leaves = true;
}

void run_flush(struct run *run, struct conn *conn)
{
    conn_flush(conn, run->epoll);
}

//
// Replies
//

uint64_t run_put_at(const struct run *run, const struct reply *reply)
{
    char stamp[STAMP_LEN + 1] = {0};
    if (run->args->size < STAMP_LEN)
        return 0;
    memcpy(stamp, reply->body.ptr, STAMP_LEN);
    return strtoull(stamp, NULL, 16);
}

void run_count_job(struct run *run)
{
    if (run->phase == PHASE_MEASURE)
        run->measured.jobs++;
}

void run_count_latency(struct run *run, uint64_t since)
{
    if (run->phase == PHASE_MEASURE)
        histogram_add(&run->measured.latencies, run->now - since);
}

// A result that is not the body begins with whatever moment the body had when it was made.
static void check_body(const struct run *run, enum op op, const struct reply *reply)
{
    const struct args *args = run->args;
    uint32_t size = op == OP_RESULT && args->result_size ? args->result_size : args->size;
    uint32_t stamp = size >= STAMP_LEN ? STAMP_LEN : 0;
    if (reply->body.len != size ||
        memcmp(reply->body.ptr + stamp, run->body + stamp, size - stamp) != 0)
        run_broken("job %" PRIu64 " came back with another body", reply->id);
}

// Bytes that cannot be printed are shown as numbers.
static const char *escape(struct span bytes)
{
    static char text[4 * ESCAPED_MAX + 1];
    size_t len = 0;
    for (size_t i = 0; i < bytes.len && i < ESCAPED_MAX; i++) {
        unsigned char byte = (unsigned char)bytes.ptr[i];
        len += (size_t)snprintf(text + len, sizeof text - len,
                                byte >= ' ' && byte <= '~' ? "%c" : "\\x%02x", byte);
    }
    text[len] = '\0';
    return text;
}

static void note_reply(struct run *run, enum op op, const struct reply *reply)
{
    if (reply->kind == REPLY_ERROR) {
        if (run->errors++ == 0)
            warnx("the server answered %s", escape(reply->text));
        if (run->errors > ERRORS_MAX)
            run_broken("the server refused %u requests", ERRORS_MAX);
        return;
    }
    run->accepted += op == OP_PUT;
    run->completed += op == run->args->workload->finished_by;
    run->answers += op == OP_PING;
    if ((op == OP_TAKE && reply->kind == REPLY_OK) || op == OP_RESULT)
        check_body(run, op, reply);
}

// The worker has waited since it asked first.
static void ask_again(struct run *run, struct conn *conn, enum op op, uint64_t since)
{
    if (op == OP_SLEEP)
        run->args->protocol->sleep(&conn->out);
    else
        run->args->protocol->take(&conn->out);
    conn_expect(conn, &(struct request){.op = op, .sent_at = since});
}

static void handle_reply(struct run *run, struct conn *conn, const struct request *request,
                         const struct reply *reply)
{
    note_reply(run, request->op, reply);
    if (reply->kind == REPLY_EMPTY)
        ask_again(run, conn, OP_SLEEP, request->sent_at);
    else if (request->op == OP_SLEEP)
        ask_again(run, conn, OP_TAKE, request->sent_at);
    else
        run->args->workload->answered(run, conn, request, reply);
}

void run_done(struct run *run, struct conn *conn, const struct reply *job)
{
    const struct protocol *protocol = run->args->protocol;
    const struct args *args = run->args;
    const struct span result = {run->body, args->result_size};
    protocol->done(&conn->out, job, args->result_size ? result : job->body);
    if (protocol->done_answered) {
        expect(run, conn, OP_DONE);
        return;
    }
    const struct request request = {.op = OP_DONE, .sent_at = run->now};
    handle_reply(run, conn, &request, &(struct reply){.kind = REPLY_OK});
}

static void parse_replies(struct run *run, struct conn *conn)
{
    while (buffer_len(&conn->in) > 0) {
        const struct request *oldest = conn_oldest(conn);
        struct span arrived = {buffer_bytes(&conn->in), buffer_len(&conn->in)};
        if (!oldest)
            run_broken("the server sent unrequested data: %s", escape(arrived));
        struct request request = *oldest;
        struct reply reply;
        ssize_t used = run->args->protocol->parse(arrived.ptr, arrived.len, request.op, &reply);
        if (used < 0)
            run_broken("no reply to a request: %s", escape(arrived));
        if (used == 0)
            return;
        conn_answered(conn);
        handle_reply(run, conn, &request, &reply);
        buffer_used(&conn->in, (size_t)used);
    }
}

//
// The loop
//

static void connect_one(struct run *run, uint32_t index)
{
    run->conns[index] = (struct conn){.index = index};
    conn_open(&run->conns[index], run->args, run->tls, run->connected++, run->epoll);
}

static void replace(struct run *run, struct conn *conn)
{
    conn_close(conn);
    run->now = read_clock(CLOCK_MONOTONIC);
    connect_one(run, conn->index);
    run->args->workload->start(run, conn);
    conn_flush(conn, run->epoll);
}

static void serve(struct run *run, const struct epoll_event *event)
{
    struct conn *conn = &run->conns[event->data.u32];
    if (event->events & ~(uint32_t)EPOLLOUT) {
        bool open = conn_read(conn);
        run->now = read_clock(CLOCK_MONOTONIC);
        parse_replies(run, conn);
        if (!open && !run->args->workload->is_closed)
            errx(1, "the server closed a connection");
        if (!open) {
            replace(run, conn);
            return;
        }
    }
    conn_flush(conn, run->epoll);
    if (conn->leaves && buffer_len(&conn->out) == 0)
        replace(run, conn);
}

static int wait_for(const struct run *run)
{
    if (!run->phase_ends)
        return -1;
    uint64_t left = run->phase_ends > run->now ? run->phase_ends - run->now : 0;
    return (int)(left / 1000000) + 1;
}

static void loop(struct run *run)
{
    struct epoll_event events[EVENTS_PER_WAIT];
    while (!is_finished(run)) {
        int count = epoll_wait(run->epoll, events, EVENTS_PER_WAIT, wait_for(run));
        if (count < 0 && errno != EINTR)
            err(1, "epoll_wait");
        for (int i = 0; i < count; i++)
            serve(run, &events[i]);
        check_phase(run);
    }
}

static void open_all(struct run *run)
{
    const struct args *args = run->args;
    run->epoll = epoll_create1(EPOLL_CLOEXEC);
    run->conns = calloc(args->conns, sizeof *run->conns);
    uint32_t body_room = args->size > args->result_size ? args->size : args->result_size;
    run->body = malloc((size_t)body_room + 1);
    if (run->epoll < 0 || !run->conns || !run->body)
        err(1, "cannot set up %u connections", args->conns);
    if (args->tls)
        run->tls = tls_new(args->tickets);
    for (uint32_t i = 0; i < body_room; i++)
        run->body[i] = (char)('a' + i % 26);
    for (uint32_t i = 0; i < args->conns; i++)
        connect_one(run, i);
}

void run_all(struct run *run, const struct args *args)
{
    *run = (struct run){.args = args, .random = 2463534242U};
    open_all(run);
    run->now = read_clock(CLOCK_MONOTONIC);
    if (args->workload->timed && args->warmup > 0)
        run->phase_ends = run->now + (uint64_t)(args->warmup * 1e9);
    else if (args->workload->timed)
        run_measure(run);
    for (uint32_t i = 0; i < args->conns; i++) {
        args->workload->start(run, &run->conns[i]);
        conn_flush(&run->conns[i], run->epoll);
    }
    loop(run);
}

void run_free(struct run *run)
{
    for (uint32_t i = 0; i < run->args->conns; i++)
        conn_close(&run->conns[i]);
    close(run->epoll);
    tls_free(run->tls);
    free(run->conns);
    free(run->body);
    free(run->state);
}
