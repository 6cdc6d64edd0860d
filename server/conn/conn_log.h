/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_CONN_CONN_LOG_H
#define TANDEM_SERVER_CONN_CONN_LOG_H

// Log lines about connections. Lines that clients may cause are limited (enum limited_log).

#include "proto_common/wire.h"
#include "server/conn/conn.h"

// Logs and counts a connection that could not begin.
void conn_log_refused(const struct service *service, const char *peer, enum status status);

// Logs a new connection, with its TLS and certificate. At debug: the caller checks the level.
void conn_log_opened(const struct conn *conn, const char *peer);

// Logs whom it acts for from now on: the owner of that token, or the peer if the name is empty; and
// the role by the rules. At debug: the caller checks the level.
void conn_log_caller(const struct conn *conn, struct slice token, struct slice role);

// Logs a wrong token; a token that is not checked yet because there were too many wrong ones.
void conn_log_wrong_token(const struct conn *conn);
void conn_log_delayed_token(const struct conn *conn);

// Logs that it is closed because it has lost the right to what it waits for.
void conn_log_access_lost(const struct conn *conn);

// Logs that something is larger than a setting allows; see struct wire_host.
void conn_log_too_large(const struct wire *wire, const char *what, uint64_t size,
                        const char *setting);

// Sets whether its commands are logged: if server.log_commands is its number or its peer's address.
void conn_choose_trace(struct conn *conn);

// Logs a command of such a connection; at most 1,000 a second.
void conn_log_command(const struct wire *wire, struct slice command, struct slice about,
                      uint64_t size);

// Logs that the peer began TLS on a connection without TLS.
void conn_log_tls_hello(const struct wire *wire);

// Logs that the peer began with a head of the PROXY protocol on an address that expects none.
void conn_log_proxy_head(const struct wire *wire);

#endif
