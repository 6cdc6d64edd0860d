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

// Whom it speaks for from now on: the owner of that token, or who it is by itself where the name is
// empty; and what rules call it. At debug.
void conn_log_caller(const struct conn *conn, struct slice token, struct slice role);

// It has shown a token that is none; or one that is not looked at yet. Not each time.
void conn_log_wrong_token(const struct conn *conn);
void conn_log_delayed_token(const struct conn *conn);

// It is dropped, for it may not have what it waits for any more.
void conn_log_access_lost(const struct conn *conn);

// Something is larger than a setting allows, as struct wire_host says. Not each time.
void conn_log_too_large(const struct wire *wire, const char *what, uint64_t size,
                        const char *setting);

// Whether the commands of the connection are logged from now on: where server.log_commands is its
// number, or its peer's address.
void conn_choose_trace(struct conn *conn);

// A command of a connection whose commands are logged. Not each of very many.
void conn_log_command(const struct wire *wire, struct slice command, struct slice about,
                      uint64_t size);

// It began TLS where none is spoken. Not each time.
void conn_log_tls_hello(const struct wire *wire);

#endif
