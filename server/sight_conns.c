/* SPDX-License-Identifier: MIT */
#include "server/sight_conns.h"

#include "server/conn_caller.h"
#include "server/conn_peer.h"
#include "server/conn_private.h"
#include "server/net/socket.h"
#include "server/roster.h"
#include "server/transport/tls.h"

#include <stdio.h>

static void show_peer(const struct conn *conn, char *text)
{
    int fd = conn_socket(conn);

    if (socket_is_local(fd)) {
        (void)snprintf(text, SIGHT_PEER_MAX, "unix");
    } else {
        socket_peer_text(fd, text, SIGHT_PEER_MAX);
    }
}

static void show(const struct conn *conn, struct sight_connection *connection)
{
    const struct frontend *frontend = conn->service->frontend;
    struct frontend_about about = frontend->about(conn->frontend_state);
    // What an I/O thread was lent may have left, of which it has not told yet.
    size_t lent = conn->remote ? link_unread(conn->link) : 0;
    size_t sent = conn->remote && !link_has_unread(conn->link) ? lent : 0;

    *connection = (struct sight_connection){
        .number = conn->wire.number,
        .protocol = frontend->name,
        .tls = conn->service->transport == &transport_tls,
        .client_id = about.client_id,
        .connected_at = (nsec_t)conn->connected_s * NSEC_PER_SEC,
        .session = about.session,
        .received = conn->received,
        .sent = conn->wire.out.sent,
        .unread = output_pending(&conn->wire.out) + lent - sent,
        .kept = conn_holds(conn) - sent,
    };
    show_peer(conn, connection->peer);
    conn_caller_text(conn, connection->caller, sizeof connection->caller);
}

bool sight_conns_next(const struct turn *turn, uint64_t *after, struct sight_connection *connection)
{
    const struct conn *conn = roster_after(turn, *after);

    if (conn) {
        show(conn, connection);
        *after = connection->number;
    }
    return conn != NULL;
}

bool sight_conns_find(const struct turn *turn, uint64_t number, struct sight_connection *connection)
{
    const struct conn *conn = roster_find(turn, number);

    if (conn) {
        show(conn, connection);
    }
    return conn != NULL;
}

uint64_t sight_conns_of(const struct turn *turn, const struct session *session)
{
    const struct conn *conn = roster_find_session(turn, session);

    return conn ? conn->wire.number : 0;
}
