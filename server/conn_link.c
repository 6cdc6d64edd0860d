/* SPDX-License-Identifier: MIT */
#include "server/conn_link.h"

#include "server/conn_log.h"
#include "server/conn_private.h"
#include "server/net/admission.h"
#include "server/net/crowd.h"
#include "server/net/listener.h"
#include "server/net/socket.h"
#include "server/services.h"

#include "core/base/log.h"
#include "core/base/memory.h"

#include <string.h>

// The peer's address is asked for only where it is logged.
static void *link_opened(void *context, struct link *link, const struct io_service *of)
{
    const struct service *service = of->context;
    char peer[PEER_TEXT_MAX];
    enum status status = STATUS_NO_MEMORY;
    struct conn *conn = NULL;
    // Asked once: the threads count meanwhile.
    bool crowded = memory_is_crowded();

    turn_tick(context);
    if (crowded) {
        socket_peer_text(link_fd(link), peer, sizeof peer);
    }
    if (!crowded || admission_has_memory(service->turn->members, peer, service->turn->crowd,
                                         service->io.kind)) {
        conn = conn_new(service, &status);
    }
    if (!conn) {
        socket_peer_text(link_fd(link), peer, sizeof peer);
        conn_log_refused(service, peer, status);
        return NULL;
    }
    conn->remote = true;
    conn->link = link;
    if (log_most() >= LOG_LEVEL_DEBUG) {
        socket_peer_text(link_fd(link), peer, sizeof peer);
        conn_log_opened(conn, peer);
    }
    conn_choose_trace(conn);
    conn_judge_first(conn);
    return conn;
}

static void link_called(void *context, unsigned events)
{
    if (events & LINK_UNREAD) {
        turn_tick(conn_turn(context));
        conn_give_up(context);
    }
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

static void link_refused(void *context, const struct io_service *of, const char *peer,
                         const char *why)
{
    turn_tick(context);
    if (strcmp(why, CROWD_WHY) == 0) {
        service_log_crowded(of->context, peer);
    } else {
        service_log_handshake_failed(of->context, peer, why);
    }
}

static void threads_rest(void *context, int error)
{
    (void)context;
    log_warn("accept_failed", log_string("why", strerror(error)));
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
    .rests = threads_rest,
    .spent = turn_is_spent,
};
