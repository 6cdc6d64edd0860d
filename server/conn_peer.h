/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_CONN_PEER_H
#define TANDEM_SERVER_CONN_PEER_H

// What is known of a connection's peer, whoever serves its socket.

#include "server/transport/origin.h"
#include "server/transport/transport.h"

struct conn;

// The connection's socket, to ask the kernel about; it is open as long as the connection is there.
int conn_socket(const struct conn *conn);

struct origin conn_origin(const struct conn *conn);

// Who the peer has proved to be; NULL: nobody.
const struct peer_identity *conn_identity(const struct conn *conn);

#endif
