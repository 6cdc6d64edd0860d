/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_SERVER_PRIVATE_H
#define TANDEM_SERVER_SERVER_PRIVATE_H

// Shared between the sources of the server only: server_start.c (how it comes up), server_store.c
// (what begins and ends with the store), server_standby.c (what it does while another process owns
// that), server_again.c (how it comes to that), server_accept.c (who comes in), server_io.c (the
// I/O threads), server_sight.c (what it shows of itself), server_reload.c (other settings), and
// server.c (what else it does while it runs, and its end).

#include "server/server.h"

// Has front-ends for operators see what the process shows.
void server_init_sight(struct server *server);

// Makes the store, a broker that records to it, and what stands in for that until it is opened.
// False with the reason in `why`.
bool server_make_store(struct server *server, struct error_text *why) MUST_USE;

// Starts the front-ends, once the loop has its broker. False with the reason in `why`.
bool server_start_services(struct server *server, struct error_text *why) MUST_USE;

// Tells the store where the process listens.
void server_advertise(struct server *server);

// Opens the store, which may take for ever, and all that works on its jobs. EXIT_REASON_NONE, or
// the reason in `why`; where a signal has stopped it meanwhile, the server is not up.
enum exit_reason server_open_store(struct server *server, struct error_text *why) MUST_USE;

// Frees the store, the broker, and all that works with them. Nobody is connected. False where not
// all that was recorded could be made to last.
bool server_close_store(struct server *server) MUST_USE;

// The process serves clients, or stands by: whoever supervises it is told, once. False with the
// reason in `why`.
bool server_is_ready(struct server *server, struct error_text *why) MUST_USE;

// At the end of each turn while the store is being opened.
void server_standby_turned(struct server *server);
// That is over.
void server_end_standby(struct server *server);
void server_took_over(struct server *server);

// A connection has come in meanwhile, and entered the crowd.
void server_pass_on(struct server *server, const struct service *service, int fd, const char *peer);
// How many of them there are, and how many there were so far.
void server_count_passed(const struct server *server, uint64_t *open, uint64_t *total);

// At the end of each turn in which it runs: the server is to start again where it has lost its
// store.
void server_watch_store(struct server *server);

// Whether another process could take over; has one do so, and the server start again.
bool server_may_hand_over(const struct server *server);
void server_hand_over(struct server *server);

// It is to start again, as the log says.
void server_restart_as_standby(struct server *server, const char *why);
// The store is opened, for as long as another process does not take it over at once: then the next
// one is, and so on. As server_open_store() says.
enum exit_reason server_come_up(struct server *server, struct error_text *why) MUST_USE;
// Drops all connections, and has another store, which is to be opened. False with the reason.
bool server_begin_again(struct server *server, struct error_text *why) MUST_USE;

// Accepts and reads nothing more; connections are closed when what is staged for them has left.
void server_drain_conns(struct server *server);

// Starts without a handshake.
void server_init_handshakes(struct server *server);

// Lets accepting go on while there is room for connections, and holds it otherwise; and for all but
// those who administer until the store is open.
void server_limit_connections(struct server *server);

// How many I/O threads the settings ask for.
unsigned server_count_io_threads(const struct server *server);

// Starts the I/O threads that the settings ask for. False with the reason in `why`.
bool server_start_io(struct server *server, struct error_text *why) MUST_USE;

// Tells them what they are to know of the settings.
void server_limit_io(struct server *server);

// Takes over what may change while the server runs.
void server_apply(struct server *server);

// The same for the broker, which nobody else touches any more, and for the memory that clients may
// use: jobs that come back are never refused.
void server_limit_broker(const struct server *server);

// Opens the log that the settings ask for. False with the reason in `why`.
bool server_open_log(const struct server *server, const struct settings *settings,
                     struct error_text *why) MUST_USE;

// A new connection of the service that is the context.
void server_accept(void *context, int fd, const char *peer);

// Reads the configuration again, as at a signal. False: it is wrong, and nothing has changed.
bool server_handle_reload(struct server *server, struct error_text *why);

// A signal came.
void server_signal(void *context, enum signal_request request);

// The time that is left to those who are still to be sent something is over.
void server_patience_over(evutil_socket_t fd, short what, void *context);

#endif
