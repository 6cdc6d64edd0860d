/* SPDX-License-Identifier: MIT */
#include "server/conn_link.h"

#include "server/conn_private.h"

#include "core/base/log.h"
#include "server/conn_log.h"
#include "server/services.h"

#include <string.h>

static void *link_opened(void *context, struct link *link, const void *service)
{
    char peer[WIRE_PEER_MAX];
    struct conn *conn;

    turn_tick(context);
    transport_link.peer(-1, link, peer, sizeof peer);
    conn = conn_new(service, peer);
    if (conn) {
        conn->remote = true;
        conn->link = link;
        if (log_most() >= LOG_LEVEL_DEBUG) {
            conn_log_opened(conn, peer);
        }
    }
    return conn;
}

static void link_called(void *context, unsigned events)
{
    conn_event(context, (short)((events & LINK_INPUT ? EV_READ : 0) |
                                (events & LINK_CLOSED ? EV_CLOSED : 0) |
                                (events & LINK_ROOM ? EV_WRITE : 0)));
}

// What the thread has not told is asked for again: there may be input, and there is room.
static void link_came_back(void *context, int fd, const void *own)
{
    struct conn *conn = context;

    conn->remote = false;
    conn->fd = fd;
    memset(&conn->event, 0, sizeof conn->event);
    memcpy(conn_transport_state(conn), own, conn->service->transport->state_size);
    conn->readable = true;
    conn->wire.out.stalled = false;
    conn_touch(conn);
}

static void link_refused(void *context, const void *service, const char *peer, const char *why)
{
    struct turn *turn = context;

    turn->open--;
    service_log_handshake_failed(service, peer, why);
}

static void link_gone(void *context)
{
    struct turn *turn = context;

    turn->open--;
}

static bool turn_is_spent(void *context)
{
    const struct turn *turn = context;

    return turn->spent;
}

const struct io_host conn_io_host = {
    .open = link_opened,
    .event = link_called,
    .back = link_came_back,
    .refused = link_refused,
    .gone = link_gone,
    .spent = turn_is_spent,
};
