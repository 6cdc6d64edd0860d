/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_CONN_LOG_H
#define TANDEM_SERVER_CONN_LOG_H

// What the log says of who a connection's peer is.

#include "proto_common/wire.h"
#include "server/conn.h"

// There could be none. Not each time.
void conn_log_refused(const struct service *service, const char *peer, enum status status);

// It has come, with what has been proved of it. At debug: to be asked for first.
void conn_log_opened(const struct conn *conn, const char *peer);

// It began TLS where none is spoken. Not each time.
void conn_log_tls_hello(const struct wire *wire);

#endif
