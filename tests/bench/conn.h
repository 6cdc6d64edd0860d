/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_BENCH_CONN_H
#define TANDEM_BENCH_CONN_H

// A connection to the server under test: what is to be sent, what has arrived, and which requests
// are not answered yet, the oldest first. A connection that fails ends the process, since nothing
// measured after that would mean anything.

#include "tests/bench/buffer.h"
#include "tests/bench/protocol.h"

#include <stdbool.h>
#include <stdint.h>

struct args;
struct tls;
struct tls_link;

struct request {
    enum op op;
    uint32_t pri;     // of a put
    uint32_t queue;   // of a put
    uint64_t sent_at; // monotonic, nanoseconds
};

struct conn {
    uint32_t index;       // its place among the connections of the run
    uint64_t begun_at;    // for the workload: when what it measures began
    uint64_t job_id;      // for the workload: what it awaits
    struct buffer in;     // arrived and not parsed
    struct buffer out;    // to be sent
    bool leaves;          // for the workload: what is staged is the last, another one follows
    int fd;               /* private */
    struct tls_link *tls; /* private: NULL: plain */
    bool writable_asked;  /* private */
    struct request *ring; /* private: room for ring_room requests */
    uint32_t ring_room;   /* private */
    uint32_t ring_head;   /* private */
    uint32_t ring_count;  /* private */
};

// Connects (waiting for it) and registers with the epoll instance, with the connection as data.
// Connections to loopback come from address number `source` of loopback, so that very many that
// have ended do not use up the ports of one.
// With `tls`, it speaks TLS.
void conn_open(struct conn *conn, const struct args *args, struct tls *tls, uint32_t source,
               int epoll);
void conn_close(struct conn *conn);

// Notes that a request was staged in `out`.
void conn_expect(struct conn *conn, const struct request *request);

// The oldest unanswered request, NULL where there is none.
const struct request *conn_oldest(const struct conn *conn);

// It is answered.
void conn_answered(struct conn *conn);

uint32_t conn_in_flight(const struct conn *conn);

// Reads once, as much as is there up to a limit. False where the server has closed the connection.
bool conn_read(struct conn *conn);

// Sends what is staged; asks epoll to be told when the rest can be sent.
void conn_flush(struct conn *conn, int epoll);

#endif
