/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_SERVER_PRIVATE_H
#define TANDEM_SERVER_SERVER_PRIVATE_H

// Shared between the sources of the server only: server_start.c (how it comes up), server_accept.c
// (who comes in), server_io.c (the I/O threads), server_sight.c (what it shows of itself), and
// server.c (what else it does while it runs, and its end).

#include "server/server.h"

// Has front-ends for operators see what the process shows.
void server_init_sight(struct server *server);

// Starts without a handshake.
void server_init_handshakes(struct server *server);

// Lets accepting go on while there is room for connections, and holds it otherwise; and for all but
// those who administer until the store is open.
void server_limit_connections(struct server *server);

// How many I/O threads the settings ask for.
unsigned server_count_io_threads(const struct server *server);

// Starts the I/O threads that the settings ask for. False with the reason in `why`.
bool server_start_io(struct server *server, struct reason *why) MUST_USE;

// Tells them what they are to know of the settings.
void server_limit_io(struct server *server);

// Takes over what may change while the server runs.
void server_apply(struct server *server);

// The same for the broker, which nobody else touches any more, and for the memory that clients may
// use: jobs that come back are never refused.
void server_limit_broker(const struct server *server);

// Opens the log that the settings ask for. False with the reason in `why`.
bool server_open_log(const struct server *server, const struct settings *settings,
                     struct reason *why) MUST_USE;

// A new connection of the service that is the context.
void server_accept(void *context, int fd, const char *peer);

// Reads the configuration again, as at a signal. False: it is wrong, and nothing has changed.
bool server_read_again(struct server *server);

// A signal came.
void server_signal(void *context, enum signal_request request);

// The time that is left to those who are still to be sent something is over.
void server_patience_over(evutil_socket_t fd, short what, void *context);

#endif
