/* SPDX-License-Identifier: MIT */
#include "server/server_private.h"

#include "core/base/log.h"
#include "server/config/settings.h"
#include "server/conn/conn.h"
#include "server/io/io.h"
#include "server/net/admission.h"
#include "server/net/proxied.h"
#include "server/net/socket.h"
#include "server/process/clock.h"

// Kinds of connections that are not accepted at this stage, as bits. A standby decides that for
// each address (listeners_shut).
static unsigned server_unwanted(const struct server *server)
{
    bool opens = store_is_opening(server->store) || opening_imports(&server->opening);
    unsigned early = 0;

    if (server->stage != SERVER_STARTS) {
        return server->stage == SERVER_RUNS ? 0 : SLOTS_ALL;
    }
    if (server->standby.on) {
        return 0;
    }
    for (unsigned kind = 0; kind < FRONTENDS && opens; kind++) {
        early |= frontends[kind]->administers ? 1u << kind : 0;
    }
    return SLOTS_ALL & ~early;
}

// Sockets whose handshake is not done count as connections. The limit is logged once, until an
// eighth of the slots is free, and at most once a second.
void server_limit_connections(struct server *server)
{
    uint64_t open = server->loop.turn.open + server->handshakes.count;
    unsigned full =
        slots_full(peer_limits_slots(server->peer_limits), open, server->most_connections);
    bool spreads = server->loop.turn.io && io_spreads(server->loop.turn.io);

    if (full && !server->limit_logged &&
        turn_may_log(&server->loop.turn, LIMITED_LOG_CONNECTIONS)) {
        server->limit_logged = true;
        log_warn("connections_limit", log_number("connections", (int64_t)open));
    } else if (open < server->most_connections - server->most_connections / 8) {
        server->limit_logged = false;
    }
    // While the I/O threads serve connections, they accept them.
    listeners_hold(&server->listeners, spreads ? SLOTS_ALL : full | server_unwanted(server));
    if (server->loop.turn.io) {
        io_set_full(server->loop.turn.io, full);
    }
}

// It was counted as a handshake, and is counted as a connection now.
static void server_handshake_done(void *context, const void *of, int fd, void *own,
                                  const char *peer)
{
    const struct service *service = of;
    struct server *server = context;
    struct client_address client;
    bool named;

    turn_tick(service->turn);
    if (service->io.by == PROXIED_BY_NONE || !proxied_is_head_alone(own)) {
        conn_open(service, fd, own, peer);
    } else if (server->standby.on) {
        named = proxied_release(own, &client);
        server_pass_on(server, service, fd, peer, named ? &client : NULL);
    } else {
        // This process has become the owner meanwhile, and clients of the former one connect again.
        peer_limits_leave(server->peer_limits, fd);
        transport_proxied.close(fd, own);
    }
}

static void server_handshake_failed(void *context, const void *of, const char *peer,
                                    const char *why)
{
    const struct service *service = of;

    (void)context;
    turn_tick(service->turn);
    service_log_refused(service, peer, why);
}

static const struct handshakes_host server_handshakes_host = {
    .now = clock_awake, .done = server_handshake_done, .failed = server_handshake_failed};

void server_init_handshakes(struct server *server)
{
    handshakes_init(&server->handshakes, server->loop.turn.base, &server_handshakes_host, server,
                    nsec_from_seconds((uint64_t)server->settings->server.handshake_timeout));
    server->handshakes.peer_limits = server->peer_limits;
}

// With I/O threads, these make all handshakes, as one may take a millisecond.
static void server_begin_handshake(struct server *server, const struct service *service, int fd,
                                   const char *peer)
{
    struct turn *turn = service->turn;
    const char *why = status_text(STATUS_NO_MEMORY);

    if (admission_has_memory(turn->open, peer, turn->peer_limits, service->io.kind)) {
        if (!turn->io) {
            handshakes_add(&server->handshakes, service->transport, service->transport_shared,
                           service, fd, peer);
            return;
        }
        // It is counted first, as a thread may have closed it before io_begin_handshake() returns.
        turn->open++;
        if (io_begin_handshake(turn->io, &service->io, fd)) {
            return;
        }
        turn->open--;
        why = "out of memory";
    }
    peer_limits_leave(turn->peer_limits, fd);
    transport_plain.close(fd, NULL);
    service_log_refused(service, peer, why);
}

// Passes a connection on; the client of a proxy when it is known.
static void server_accept_for_owner(struct server *server, const struct service *service, int fd,
                                    const char *peer)
{
    struct services *services = &server->services;
    struct proxied_service *shared =
        service->io.by == PROXIED_BY_MEMBER ? &services->head_or_none : &services->head_alone;

    if (service->io.by == PROXIED_BY_NONE) {
        server_pass_on(server, service, fd, peer, NULL);
    } else {
        handshakes_add(&server->handshakes, &transport_proxied, shared, service, fd, peer);
    }
}

void server_accept(void *context, int fd, const char *peer)
{
    const struct service *service =
        io_service_for(&((const struct service *)context)->io, fd)->context;
    struct server *server = container_of(service->turn, struct server, loop.turn);
    const char *why;

    turn_tick(service->turn);
    why = proxied_admit(server->proxies, service->io.by, service->turn->peer_limits, fd,
                        slot_kind(service->io.kind, socket_is_local(fd)));
    if (why) {
        service_log_refused(service, peer, why);
        transport_plain.close(fd, NULL);
        return;
    }
    if (server->standby.on && !service->frontend->administers) {
        server_accept_for_owner(server, service, fd, peer);
        return;
    }
    if (service->transport->handshake) {
        server_begin_handshake(server, service, fd, peer);
    } else {
        conn_open(service, fd, NULL, peer);
    }
    server_limit_connections(server);
}

void server_limit_io(struct server *server)
{
    const struct io_limits limits = {
        .unread_for = server->loop.turn.unread_for,
        .handshake_for = nsec_from_seconds((uint64_t)server->settings->server.handshake_timeout),
        .most = server->most_connections,
        .peer_limits = server->peer_limits,
        .fence = server->loop.turn.fence,
    };

    io_set_limits(server->loop.turn.io, &limits);
}

static bool server_io_listen(void *context, int fd, void *of)
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
    unsigned threads = server->io_threads;

    if (threads == 0) {
        return true;
    }
    turn->io = io_open(threads, settings->io_spread == IO_SPREAD_ALWAYS, turn->base, &turn->open,
                       &conn_io_host, turn);
    if (!turn->io || !listeners_each(&server->listeners, server_io_listen, turn->io)) {
        error_set(why, "io_threads: out of memory or descriptors");
        return false;
    }
    server_limit_io(server);
    if (!io_start(turn->io)) {
        error_set(why, "io_threads: the system has no more threads");
        return false;
    }
    server_limit_connections(server);
    log_info("io_threads", log_number("threads", threads));
    return true;
}
