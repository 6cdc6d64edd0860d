/* SPDX-License-Identifier: MIT */

// Connections whose sockets belong to an I/O thread. For the rest of the connection the link is one
// more transport; here links begin connections, call them, and give sockets back.

#include "server/conn/conn_private.h"

#include "core/base/log.h"
#include "core/base/memory.h"
#include "server/conn/conn_log.h"
#include "server/net/admission.h"
#include "server/net/socket.h"

#include <string.h>

// Asks for the peer's address only if it is logged.
static void *conn_link_open(void *context, struct io_link *link, const struct io_service *of)
{
    const struct service *service = of->context;
    char peer[PEER_TEXT_MAX];
    enum status status = STATUS_NO_MEMORY;
    struct conn *conn = NULL;
    // Asked once: the threads count meanwhile.
    bool crowded = memory_is_crowded();

    turn_tick(context);
    if (crowded) {
        socket_speaker_text(&transport_link, link_fd(link), link, peer, sizeof peer);
    }
    if (!crowded || admission_has_memory(service->turn->members, peer, service->turn->peer_limits,
                                         service->io.kind)) {
        conn = conn_new(service, &status);
    }
    if (!conn) {
        socket_speaker_text(&transport_link, link_fd(link), link, peer, sizeof peer);
        conn_log_refused(service, peer, status);
        return NULL;
    }
    conn->remote = true;
    conn->link = link;
    if (log_most() >= LOG_LEVEL_DEBUG) {
        socket_speaker_text(&transport_link, link_fd(link), link, peer, sizeof peer);
        conn_log_opened(conn, peer);
    }
    conn_choose_trace(conn);
    conn_authorize_first(conn);
    return conn;
}

static void conn_link_event(void *context, unsigned events)
{
    if (events & LINK_UNREAD) {
        turn_tick(conn_turn(context));
        conn_give_up(context);
    }
    conn_event(context, (short)((events & LINK_INPUT ? EV_READ : 0) |
                                (events & LINK_CLOSED ? EV_CLOSED : 0) |
                                (events & LINK_ROOM ? EV_WRITE : 0)));
}

// The thread may not have told of everything: there may be input, and there is room.
static void conn_link_back(void *context, int fd, const void *own)
{
    struct conn *conn = context;

    conn->remote = false;
    conn->fd = fd;
    memset(&conn->event, 0, sizeof conn->event);
    memcpy(conn_transport_state(conn), own, conn->service->transport->state_size);
    conn->edge.readable = true;
    conn->wire.out.stalled = false;
    conn_touch(conn);
}

static void conn_link_refused(void *context, const struct io_service *of, const char *peer,
                              const char *why)
{
    turn_tick(context);
    service_log_refused(of->context, peer, why);
}

static void conn_link_accept_failed(void *context, int error)
{
    (void)context;
    log_warn("accept_failed", log_string("why", strerror(error)));
}

static bool conn_link_turn_is_spent(void *context)
{
    const struct turn *turn = context;

    return turn->spent;
}

const struct io_host conn_io_host = {
    .open = conn_link_open,
    .event = conn_link_event,
    .back = conn_link_back,
    .refused = conn_link_refused,
    .accept_failed = conn_link_accept_failed,
    .spent = conn_link_turn_is_spent,
};
