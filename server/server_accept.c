/* SPDX-License-Identifier: MIT */
#include "server/server_private.h"

#include "core/base/log.h"
#include "server/io/io.h"
#include "server/net/admission.h"
#include "server/net/crowd.h"
#include "server/net/socket.h"
#include "server/process/clock.h"

// Kinds of connections that are not accepted yet, or any more, as bits. A standby says that of each
// address (listeners_shut).
static unsigned server_unwanted(const struct server *server)
{
    bool opens = store_is_opening(server->store) || opening_imports(&server->opening);
    unsigned early = 0;

    if (server->stage != SERVER_STARTS) {
        return server->stage == SERVER_RUNS ? 0 : SEATS_ALL;
    }
    if (server->standby.on) {
        return 0;
    }
    for (unsigned kind = 0; kind < FRONTENDS && opens; kind++) {
        early |= frontends[kind]->administers ? 1u << kind : 0;
    }
    return SEATS_ALL & ~early;
}

// A socket whose handshake is not made counts as a connection. The log is told once, until there is
// some ease again; and not more than once a second, however often that comes and goes.
void server_limit_connections(struct server *server)
{
    uint64_t open = server->loop.turn.open + server->handshakes.count;
    unsigned full = seats_full(crowd_seats(server->crowd), open, server->most_connections);
    bool spreads = server->loop.turn.io && io_spreads(server->loop.turn.io);

    if (full && !server->limit_logged &&
        turn_may_complain(&server->loop.turn, COMPLAINT_CONNECTIONS)) {
        server->limit_logged = true;
        log_warn("connections_limit", log_number("connections", (int64_t)open));
    } else if (open < server->most_connections - server->most_connections / 8) {
        server->limit_logged = false;
    }
    // Where connections are served by the I/O threads, these accept them.
    listeners_hold(&server->listeners, spreads ? SEATS_ALL : full | server_unwanted(server));
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
    .now = clock_awake, .done = handshake_done, .failed = handshake_failed};

void server_init_handshakes(struct server *server)
{
    handshakes_init(&server->handshakes, server->loop.turn.base, &handshakes_host, server,
                    nsec_from_seconds((uint64_t)server->settings->server.handshake_timeout));
    server->handshakes.crowd = server->crowd;
}

// No handshake keeps the loop from its clients where there are threads for them.
static void server_greet(const struct service *service, int fd, const char *peer)
{
    // It is counted first: a thread may have closed it before io_greet() returns.
    service->turn->open++;
    if (!io_greet(service->turn->io, &service->io, fd)) {
        service->turn->open--;
        crowd_leave(service->turn->crowd, fd);
        transport_plain.close(fd, NULL);
        service_log_handshake_failed(service, peer, "out of memory");
    }
}

void server_accept(void *context, int fd, const char *peer)
{
    const struct service *service = context;
    struct server *server = container_of(service->turn, struct server, loop.turn);

    turn_tick(service->turn);
    if (!crowd_enter(service->turn->crowd, fd, seats_kind(service->io.kind, socket_is_local(fd)))) {
        service_log_crowded(service, peer);
        transport_plain.close(fd, NULL);
        return;
    }
    if (server->standby.on && !service->frontend->administers) {
        server_pass_on(server, service, fd, peer);
        return;
    }
    if (service->transport->handshake &&
        !admission_has_memory(service->turn->open, peer, service->turn->crowd, service->io.kind)) {
        crowd_leave(service->turn->crowd, fd);
        transport_plain.close(fd, NULL);
        service_log_handshake_failed(service, peer, status_text(STATUS_NO_MEMORY));
    } else if (service->transport->handshake && service->turn->io) {
        server_greet(service, fd, peer);
    } else if (service->transport->handshake) {
        handshakes_add(&server->handshakes, service->transport, service->transport_shared, service,
                       fd, peer);
    } else {
        conn_open(service, fd, NULL, peer);
    }
    server_limit_connections(server);
}
