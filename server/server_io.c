/* SPDX-License-Identifier: MIT */
#include "core/base/log.h"
#include "server/config/io_threads.h"
#include "server/conn_link.h"
#include "server/server_private.h"

void server_limit_io(struct server *server)
{
    const struct io_limits limits = {
        .unread_for = server->loop.turn.unread_for,
        .handshake_for = nsec_from_seconds((uint64_t)server->settings->server.handshake_timeout),
        .most = server->most_connections,
        .crowd = server->crowd,
        .fence = server->loop.turn.fence,
    };

    io_set_limits(server->loop.turn.io, &limits);
}

static bool listen_too(void *context, int fd, void *of)
{
    const struct service *service = of;

    return io_listen(context, &service->io, fd);
}

// The setting was checked when it was read.
unsigned server_count_io_threads(const struct server *server)
{
    unsigned threads = 0;
    struct error_text why;

    ENSURE(io_threads_parse(server->settings->server.io_threads, &threads, &why));
    return threads;
}

bool server_start_io(struct server *server, struct error_text *why)
{
    const struct server_settings *settings = &server->settings->server;
    struct turn *turn = &server->loop.turn;
    unsigned threads = server_count_io_threads(server);

    if (threads == 0) {
        return true;
    }
    turn->io = io_open(threads, settings->io_spread == IO_SPREAD_ALWAYS, turn->base, &turn->open,
                       &conn_io_host, turn);
    if (!turn->io || !listeners_each(&server->listeners, listen_too, turn->io)) {
        return error_set(why, "io_threads: out of memory or descriptors");
    }
    server_limit_io(server);
    if (!io_start(turn->io)) {
        return error_set(why, "io_threads: the system has no more threads");
    }
    server_limit_connections(server);
    log_info("io_threads", log_number("threads", threads));
    return true;
}
