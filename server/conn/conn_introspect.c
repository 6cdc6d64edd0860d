/* SPDX-License-Identifier: MIT */
#include "server/conn/conn_private.h"

#include "server/net/socket.h"

#include <stdio.h>

static void introspect_peer(const struct conn *conn, char *text)
{
    const struct transport *transport = conn_transport(conn);
    const void *own = conn_transport_own(conn);
    int fd = conn_socket(conn);

    if (socket_is_local(fd) && !(transport->client && transport->client(own))) {
        (void)snprintf(text, INTROSPECT_PEER_MAX, "unix");
    } else {
        socket_speaker_text(transport, fd, own, text, INTROSPECT_PEER_MAX);
    }
}

static void introspect_conn(const struct conn *conn, struct introspect_connection *connection)
{
    const struct frontend *frontend = conn->service->frontend;
    struct frontend_facts facts = frontend->facts(conn->frontend_state);
    // Output that was handed to an I/O thread may have been sent, of which the thread has not told
    // yet.
    size_t handed_over = conn->remote ? link_unread(conn->link) : 0;
    size_t sent = conn->remote && !link_has_unread(conn->link) ? handed_over : 0;

    *connection = (struct introspect_connection){
        .number = conn->wire.number,
        .protocol = frontend->name,
        .tls = conn->service->tls,
        .client_id = facts.client_id,
        .connected_at = (nsec_t)conn->connected_s * NSEC_PER_SEC,
        .session = facts.session,
        .received = conn->received,
        .sent = conn->wire.out.sent,
        .unread = output_pending(&conn->wire.out) + handed_over - sent,
        .held = conn_holds(conn) - sent,
    };
    introspect_peer(conn, connection->peer);
    conn_caller_text(conn, connection->caller, sizeof connection->caller);
}

bool conn_introspect_next(const struct turn *turn, uint64_t *after,
                          struct introspect_connection *connection)
{
    const struct conn *conn = conn_registry_after(turn, *after);

    if (conn) {
        introspect_conn(conn, connection);
        *after = connection->number;
    }
    return conn != NULL;
}

bool conn_introspect_find(const struct turn *turn, uint64_t number,
                          struct introspect_connection *connection)
{
    const struct conn *conn = conn_registry_find(turn, number);

    if (conn) {
        introspect_conn(conn, connection);
    }
    return conn != NULL;
}

uint64_t conn_introspect_of_session(const struct turn *turn, const struct session *session)
{
    const struct conn *conn = conn_registry_find_session(turn, session);

    return conn ? conn->wire.number : 0;
}
