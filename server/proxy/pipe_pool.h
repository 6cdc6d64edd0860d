/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_PROXY_PIPE_POOL_H
#define TANDEM_SERVER_PROXY_PIPE_POOL_H

// Pipes that bytes are passed through with splice(2). A connection has one only while bytes are in
// it, so that an idle one costs no more than its sockets. A few empty ones are kept.

#include "core/base/macros.h"

#include <stdbool.h>
#include <stddef.h>

#define PIPE_POOL_SPARES 16

// What to read from and to write to; neither blocks.
struct pipe_ends {
    int out;
    int in;
};

struct pipe_pool {
    struct pipe_ends spares[PIPE_POOL_SPARES]; /* private */
    size_t count;                              /* private */
};

// An empty pipe. False, with errno, without descriptors or memory.
bool pipe_pool_take(struct pipe_pool *pool, struct pipe_ends *ends) MUST_USE;

// Takes an empty pipe back.
void pipe_pool_give(struct pipe_pool *pool, struct pipe_ends ends);

// Closes those that are kept. A zeroed pool is allowed, and this leaves one.
void pipe_pool_clear(struct pipe_pool *pool);

// Closes one in which there may be bytes.
void pipe_ends_close(struct pipe_ends ends);

#endif
