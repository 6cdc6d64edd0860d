/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_PROXY_RELAY_H
#define TANDEM_SERVER_PROXY_RELAY_H

// Passes bytes between two connected sockets by splice(2) and a pipe for each direction, without
// looking at them. Each direction has at most one pipe of bytes under way: nothing is read before
// the other side has taken what was read. When one side has sent everything, the other is told so
// after the last byte; when both have, or something fails, the relay is over. The second socket is
// the owner's: when the owner sends no more, it has usually closed, and the relay does not wait for
// a client that neither sends nor closes.
//
// The process ignores SIGPIPE, which splice(2) cannot suppress.

#include "core/base/macros.h"

#include <event2/event.h>
#include <event2/event_struct.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A pool of empty pipes. A direction has a pipe only while there are bytes in it, so that an idle
// connection takes no descriptors beside its sockets.

#define PIPE_POOL_SPARES 16

// The ends to read from and to write to; neither blocks.
struct pipe_ends {
    int out;
    int in;
};

struct pipe_pool {
    struct pipe_ends spares[PIPE_POOL_SPARES]; /* private */
    size_t count;                              /* private */
};

// Closes the pipes of a pool, which is zeroed then. A zeroed pool is allowed.
void pipe_pool_clear(struct pipe_pool *pool);

struct relay;

// One direction.
struct relay_way {
    struct relay *relay;   /* private */
    struct event readable; /* private: of the socket that it reads */
    struct event writable; /* private: of the socket that it writes */
    struct pipe_ends pipe; /* private: while has_pipe */
    uint64_t passed;       // bytes
    size_t held;           // bytes in the pipe
    bool has_pipe;         /* private */
    bool ended;            /* private: everything was read */
};

struct relay {
    struct pipe_pool *pool;                       /* private */
    void (*over)(struct relay *relay, int error); /* private */
    int fds[2];
    struct relay_way ways[2]; // the first reads the first socket
    struct event patience;    /* private: with the client, after the owner has sent everything */
    uint64_t passed_before;   /* private: bytes of the client when that began */
};

// How long a client may send nothing after the owner has sent everything.
#define RELAY_PATIENCE_SECONDS 5

// Begins to pass bytes between two sockets that do not block, and that stay the caller's. `over` is
// called once, by the base, with 0 or the error of errno.h; it must call relay_stop(), and may free
// the relay. False without memory: the relay is stopped.
bool relay_start(struct relay *relay, struct event_base *base, struct pipe_pool *pool,
                 const int fds[2], void (*over)(struct relay *relay, int error)) MUST_USE;

// Leaves no event and no pipe. A zeroed relay is allowed.
void relay_stop(struct relay *relay);

#endif
