/* SPDX-License-Identifier: MIT */
#include "server/server_private.h"

#include "core/base/log.h"
#include "server/io/io.h"
#include "server/process/clock.h"

// A socket whose handshake is not made counts as a connection. The log is told once, until there is
// some ease again; and not more than once a second, however often that comes and goes.
void server_limit_connections(struct server *server)
{
    uint64_t open = server->loop.turn.open + server->handshakes.count;
    bool full = open >= server->most_connections;

    if (full && !server->limit_logged &&
        turn_may_complain(&server->loop.turn, COMPLAINT_CONNECTIONS)) {
        server->limit_logged = true;
        log_warn("connections_limit", log_number("connections", (int64_t)open));
    } else if (open < server->most_connections - server->most_connections / 8) {
        server->limit_logged = false;
    }
    // Where connections are served by the I/O threads, these accept them.
    listeners_hold(&server->listeners,
                   full || (server->loop.turn.io && io_spreads(server->loop.turn.io)));
    if (server->loop.turn.io) {
        io_set_full(server->loop.turn.io, full);
    }
}

// Its limit still holds: what was counted as a handshake is a connection now.
static void handshake_done(void *context, const void *of, int fd, void *own, const char *peer)
{
    const struct service *service = of;

    (void)context;
    turn_tick(service->turn);
    conn_open(service, fd, own, peer);
}

static void handshake_failed(void *context, const void *of, const char *peer, const char *why)
{
    const struct service *service = of;

    (void)context;
    turn_tick(service->turn);
    service_log_handshake_failed(service, peer, why);
}

static const struct handshakes_host handshakes_host = {
    .now = clock_now, .done = handshake_done, .failed = handshake_failed};

void server_init_handshakes(struct server *server)
{
    handshakes_init(&server->handshakes, server->loop.turn.base, &handshakes_host, server,
                    nsec_from_seconds((uint64_t)server->settings->server.handshake_timeout));
}

// No handshake keeps the loop from its clients where there are threads for them.
static void server_greet(const struct service *service, int fd, const char *peer)
{
    // It is counted first: a thread may have closed it before io_greet() returns.
    service->turn->open++;
    if (!io_greet(service->turn->io, &service->io, fd)) {
        service->turn->open--;
        transport_plain.close(fd, NULL);
        service_log_handshake_failed(service, peer, "out of memory");
    }
}

void server_accept(void *context, int fd, const char *peer)
{
    const struct service *service = context;
    struct server *server = container_of(service->turn, struct server, loop.turn);

    turn_tick(service->turn);
    if (service->transport->handshake && service->turn->io) {
        server_greet(service, fd, peer);
    } else if (service->transport->handshake) {
        handshakes_add(&server->handshakes, service->transport, service->transport_shared, service,
                       fd, peer);
    } else {
        conn_open(service, fd, NULL, peer);
    }
    server_limit_connections(server);
}
