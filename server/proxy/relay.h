/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_PROXY_RELAY_H
#define TANDEM_SERVER_PROXY_RELAY_H

// Two connected sockets, each of which is sent what comes from the other one, unseen: splice(2)
// moves it by way of a pipe. Of each way, no more is on its way here than fits into a pipe: nothing
// is read while the other side has not taken what was read before. Where one side says that nothing
// more comes from it, the other is told so when it has all; when both have, or something fails, it
// is over. The second socket is the owner's: once it sends no more, it has hung up, mostly, and a
// client that neither says anything nor leaves is not waited for.
//
// The process ignores SIGPIPE: splice(2) cannot be told not to raise it.

#include "core/base/macros.h"
#include "server/proxy/pipe_pool.h"

#include <event2/event.h>
#include <event2/event_struct.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct relay;

// From one socket to the other.
struct relay_way {
    struct relay *relay;   /* private */
    struct event readable; /* private: the one has something */
    struct event writable; /* private: the other takes something */
    struct pipe_ends pipe; /* private: while has_pipe */
    uint64_t passed;       // bytes
    size_t held;           // bytes in the pipe
    bool has_pipe;         /* private */
    bool ended;            /* private: nothing more comes */
};

struct relay {
    struct pipe_pool *pool;                       /* private */
    void (*over)(struct relay *relay, int error); /* private */
    int fds[2];
    struct relay_way ways[2]; // the first from the first socket
    struct event patience;    /* private: with the client, when the owner sends no more */
    uint64_t passed_before;   /* private: bytes from the client, when that began */
};

// How long a client may say nothing when the owner sends no more.
#define RELAY_PATIENCE_SECONDS 5

// Begins to pass bytes between two sockets that do not block, which stay the caller's. `over` is
// called once, by the base: error is 0, or what has failed; it is to stop the relay, and may free
// it. False without memory: it is stopped.
bool relay_start(struct relay *relay, struct event_base *base, struct pipe_pool *pool,
                 const int fds[2], void (*over)(struct relay *relay, int error)) MUST_USE;

// Leaves no event and no pipe. A zeroed one is allowed.
void relay_stop(struct relay *relay);

#endif
