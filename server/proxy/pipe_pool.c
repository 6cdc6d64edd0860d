/* SPDX-License-Identifier: MIT */
// pipe2 is a GNU function.
#define _GNU_SOURCE
#include "server/proxy/pipe_pool.h"

#include <fcntl.h>
#include <unistd.h>

bool pipe_pool_take(struct pipe_pool *pool, struct pipe_ends *ends)
{
    int fds[2];

    if (pool->count > 0) {
        *ends = pool->spares[--pool->count];
        return true;
    }
    if (pipe2(fds, O_NONBLOCK | O_CLOEXEC) != 0) {
        return false;
    }
    *ends = (struct pipe_ends){.out = fds[0], .in = fds[1]};
    return true;
}

void pipe_pool_give(struct pipe_pool *pool, struct pipe_ends ends)
{
    if (pool->count < PIPE_POOL_SPARES) {
        pool->spares[pool->count++] = ends;
    } else {
        pipe_ends_close(ends);
    }
}

void pipe_pool_clear(struct pipe_pool *pool)
{
    while (pool->count > 0) {
        pipe_ends_close(pool->spares[--pool->count]);
    }
}

void pipe_ends_close(struct pipe_ends ends)
{
    (void)close(ends.out);
    (void)close(ends.in);
}
