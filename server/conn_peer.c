/* SPDX-License-Identifier: MIT */
#include "server/conn_peer.h"

#include "server/conn_private.h"

int conn_socket(const struct conn *conn)
{
    return conn->remote ? link_fd(conn->link) : conn->fd;
}

struct origin conn_origin(const struct conn *conn)
{
    return origin_of(conn_socket(conn));
}

const struct peer_identity *conn_identity(const struct conn *conn)
{
    const struct transport *transport = conn_transport(conn);

    return transport->identity ? transport->identity(conn_transport_own(conn)) : NULL;
}
