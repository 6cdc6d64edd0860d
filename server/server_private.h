/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_SERVER_PRIVATE_H
#define TANDEM_SERVER_SERVER_PRIVATE_H

// Shared between the sources of the server only: server_start.c (how it starts), server_store.c
// (the parts that begin and end with the store), server_standby.c (a standby), server_restart.c
// (how it becomes a standby again), server_accept.c (new connections and the I/O threads),
// server_introspect.c, server_reload.c (new settings), and server.c (how it runs and ends).

#include "server/server.h"

// Sets the functions for introspection.
void server_init_introspect(struct server *server);

// Makes the store, a broker that records to it, and a broker for operators until the store is open.
// False with the reason in `why`.
bool server_make_store(struct server *server, struct error_text *why) MUST_USE;

// Starts the front-ends, when the loop has its broker. False with the reason in `why`.
bool server_start_services(struct server *server, struct error_text *why) MUST_USE;

// Tells the store the addresses of this process.
void server_advertise(struct server *server);

// Opens the store, which may take for ever, and starts the background tasks. EXIT_REASON_NONE, or
// the reason in `why`; if a signal has stopped it meanwhile, the server is not up.
enum exit_reason server_open_store(struct server *server, struct error_text *why) MUST_USE;

// Frees the store, the broker, and everything that uses them. All connections must be closed. False
// if not all records could be made durable.
bool server_close_store(struct server *server) MUST_USE;

// Tells the supervisor, once, that the process serves clients or is a standby. False with the
// reason in `why`.
bool server_is_ready(struct server *server, struct error_text *why) MUST_USE;

// Called at the end of each turn while the store is being opened: begins, continues or ends
// standing by.
void server_standby_turned(struct server *server);
// Ends standing by.
void server_end_standby(struct server *server);
// Logs that this process is the owner.
void server_took_over(struct server *server);

// Passes on a new connection, which has entered the peer limits. `client`: that a proxy has named;
// NULL: the peer is the client.
void server_pass_on(struct server *server, const struct service *service, int fd, const char *peer,
                    const struct client_address *client);
// Connections that are passed on now, and so far.
void server_count_passed(const struct server *server, uint64_t *open, uint64_t *total);

// Called at the end of each turn in which it runs: has it start again if it has lost the store.
void server_watch_store(struct server *server);

// Whether another process could take over; has another one do so, and this one start again.
bool server_may_hand_over(const struct server *server);
void server_hand_over(struct server *server);

// Opens the store; if another process takes it over at once, opens the next one, and so on. Returns
// what server_open_store() returns.
enum exit_reason server_come_up(struct server *server, struct error_text *why) MUST_USE;
// Drops all connections, and makes another store, not yet open. False with the reason in `why`.
bool server_begin_again(struct server *server, struct error_text *why) MUST_USE;

// Accepts and reads nothing more; closes connections when their staged output was sent.
void server_drain_conns(struct server *server);

// Begins without handshakes.
void server_init_handshakes(struct server *server);

// Holds accepting while there is no slot for another connection, and, except for operators, until
// the store is open.
void server_limit_connections(struct server *server);

// The number of I/O threads by the settings. With `auto` it follows from the limits of the
// container, which may change while the threads run.
unsigned server_count_io_threads(const struct server *server);

// Starts the I/O threads. False with the reason in `why`.
bool server_start_io(struct server *server, struct error_text *why) MUST_USE;

// Tells the I/O threads their settings.
void server_limit_io(struct server *server);

// Applies settings that may change while the server runs.
void server_apply(struct server *server);

// Applies settings of the broker, which no other thread uses any more, and the memory limit:
// restored jobs are never refused.
void server_limit_broker(struct server *server);

// Opens the log. False with the reason in `why`.
bool server_open_log(const struct server *server, const struct settings *settings,
                     struct error_text *why) MUST_USE;

// Takes a new connection of the service that is the context.
void server_accept(void *context, int fd, const char *peer);

// Reads the configuration again, as after a signal. False: it is wrong, and nothing has changed.
bool server_handle_reload(struct server *server, struct error_text *why);

// Handles a signal.
void server_signal(void *context, enum signal_request request);

// The time for output that is still to be sent is over.
void server_patience_over(evutil_socket_t fd, short what, void *context);

#endif
