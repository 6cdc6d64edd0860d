/* SPDX-License-Identifier: MIT */
// splice and pipe2 are GNU functions.
#define _GNU_SOURCE
#include "server/proxy/relay.h"

#include "server/net/budget.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

// Closes a pipe, which may have bytes in it.
static void pipe_ends_close(struct pipe_ends ends)
{
    (void)close(ends.out);
    (void)close(ends.in);
}

// Takes an empty pipe. False, with errno, without descriptors or memory.
static bool pipe_pool_take(struct pipe_pool *pool, struct pipe_ends *ends)
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

// Returns an empty pipe.
static void pipe_pool_give(struct pipe_pool *pool, struct pipe_ends ends)
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

// The default capacity of a pipe, and the least that it always has.
#define PIPE_BYTES ((size_t)64 * 1024)
#define PIPE_BYTES_LEAST 4096

enum passing { PASSING, PASSING_WAITS, PASSING_FAILED };

static int way_from(const struct relay_way *way)
{
    return way->relay->fds[way - way->relay->ways];
}

static int way_to(const struct relay_way *way)
{
    return way->relay->fds[way == way->relay->ways ? 1 : 0];
}

static bool relay_error_passes(int error)
{
    return error == EAGAIN || error == EINTR;
}

// Before a byte of urgent data, splice(2) finds nothing for ever, although the socket has input;
// recv(2) skips the byte. The pipe is empty.
static ssize_t way_copy(const struct relay_way *way)
{
    char bytes[PIPE_BYTES_LEAST];
    ssize_t got = recv(way_from(way), bytes, sizeof bytes, 0);

    return got > 0 ? write(way->pipe.in, bytes, (size_t)got) : got;
}

// Reads into the empty pipe. `*more`: there may be more to read.
static enum passing way_fill(struct relay_way *way, bool *more)
{
    ssize_t got;

    if (!way->has_pipe && !pipe_pool_take(way->relay->pool, &way->pipe)) {
        return PASSING_FAILED;
    }
    way->has_pipe = true;
    got = splice(way_from(way), NULL, way->pipe.in, NULL, PIPE_BYTES,
                 SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
    if (got < 0 && (errno == EAGAIN || errno == EINVAL)) {
        got = way_copy(way);
    }
    if (got < 0) {
        return relay_error_passes(errno) ? PASSING_WAITS : PASSING_FAILED;
    }
    way->held = (size_t)got;
    way->ended = got == 0;
    *more = (size_t)got == PIPE_BYTES;
    return PASSING;
}

static enum passing way_empty(struct relay_way *way)
{
    while (way->held > 0) {
        ssize_t sent = splice(way->pipe.out, NULL, way_to(way), NULL, way->held,
                              SPLICE_F_MOVE | SPLICE_F_NONBLOCK);

        if (sent < 0) {
            return relay_error_passes(errno) ? PASSING_WAITS : PASSING_FAILED;
        }
        way->held -= (size_t)sent;
        way->passed += (size_t)sent;
    }
    return PASSING;
}

// Passes on a limited amount, as other connections have their turn, too.
static enum passing way_pass(struct relay_way *way)
{
    uint64_t most = way->passed + CONN_SEND_MAX;
    enum passing passing = way_empty(way);
    bool more = true;

    while (passing == PASSING && more && !way->ended && way->passed < most) {
        passing = way_fill(way, &more);
        if (passing == PASSING) {
            passing = way_empty(way);
        }
    }
    return passing;
}

static bool relay_set_event(struct event *event, bool wanted)
{
    return (wanted ? event_add(event, NULL) : event_del(event)) == 0;
}

// Watches the sockets for what the direction waits for.
static bool way_watch(struct relay_way *way)
{
    if (way->held == 0 && way->has_pipe) {
        way->has_pipe = false;
        pipe_pool_give(way->relay->pool, way->pipe);
    }
    return relay_set_event(&way->readable, way->held == 0 && !way->ended) &&
           relay_set_event(&way->writable, way->held > 0);
}

static bool way_is_over(const struct relay_way *way)
{
    return way->ended && way->held == 0;
}

static void relay_wait_for_client(struct relay *relay)
{
    static const struct timeval patience = {.tv_sec = RELAY_PATIENCE_SECONDS};

    relay->passed_before = relay->ways[0].passed;
    if (event_add(&relay->patience, &patience) != 0) {
        relay->over(relay, ENOMEM);
    }
}

static void relay_patience_over(evutil_socket_t fd, short what, void *context)
{
    struct relay *relay = context;

    (void)fd;
    (void)what;
    if (relay->ways[0].passed > relay->passed_before) {
        relay_wait_for_client(relay);
    } else {
        relay->over(relay, 0);
    }
}

static void way_end(struct relay_way *way)
{
    struct relay *relay = way->relay;

    (void)shutdown(way_to(way), SHUT_WR);
    if (way_is_over(&relay->ways[0]) && way_is_over(&relay->ways[1])) {
        relay->over(relay, 0);
    } else if (way == &relay->ways[1]) {
        relay_wait_for_client(relay);
    }
}

static void way_ready(evutil_socket_t fd, short what, void *context)
{
    struct relay_way *way = context;
    struct relay *relay = way->relay;

    (void)fd;
    (void)what;
    if (way_pass(way) == PASSING_FAILED) {
        relay->over(relay, errno);
    } else if (!way_watch(way)) {
        relay->over(relay, ENOMEM);
    } else if (way_is_over(way)) {
        way_end(way);
    }
}

bool relay_start(struct relay *relay, struct event_base *base, struct pipe_pool *pool,
                 const int fds[2], void (*over)(struct relay *relay, int error))
{
    *relay = (struct relay){.pool = pool, .over = over, .fds = {fds[0], fds[1]}};
    (void)evtimer_assign(&relay->patience, base, relay_patience_over, relay);
    for (unsigned i = 0; i < 2; i++) {
        struct relay_way *way = &relay->ways[i];

        way->relay = relay;
        if (event_assign(&way->readable, base, way_from(way), EV_READ | EV_PERSIST, way_ready,
                         way) != 0 ||
            event_assign(&way->writable, base, way_to(way), EV_WRITE | EV_PERSIST, way_ready,
                         way) != 0 ||
            !way_watch(way)) {
            relay_stop(relay);
            return false;
        }
    }
    return true;
}

void relay_stop(struct relay *relay)
{
    if (event_initialized(&relay->patience)) {
        (void)event_del(&relay->patience);
    }
    for (unsigned i = 0; i < 2; i++) {
        struct relay_way *way = &relay->ways[i];

        if (event_initialized(&way->readable)) {
            (void)event_del(&way->readable);
        }
        if (event_initialized(&way->writable)) {
            (void)event_del(&way->writable);
        }
        if (way->has_pipe) {
            pipe_ends_close(way->pipe);
        }
    }
    memset(relay, 0, sizeof *relay);
}
