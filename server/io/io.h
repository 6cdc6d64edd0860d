/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_IO_IO_H
#define TANDEM_SERVER_IO_IO_H

// I/O threads receive and send for the core's thread, which has all connections. This is the core's
// side of them. Only the core's thread calls it; io_open() and io_close() are called while no
// thread runs.
//
// A connection is served either by the core's own loop or by an I/O thread. In the second case its
// socket belongs to a link (struct io_link), which to the connection is one more transport
// (transport_link). A link begins when an I/O thread accepts, or when the core hands a socket over
// (io_take). Under load active connections are handed over, and they come back when the load is
// over (spread.h).
//
// In each turn of the loop, io_drain() calls connections with the news of the threads, and
// io_flush() hands over the connections' output and orders.

#include "core/base/macros.h"
#include "core/base/nsec.h"
#include "server/net/proxied.h"
#include "server/transport/transport.h"

#include <event2/event.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct fence;
struct io;
struct io_link;
struct peer_limits;

// What the I/O threads know of a service. It stays where it is while they run.
struct io_service {
    const struct transport *transport;
    void *shared;            // the transport's state for all sockets
    void *context;           // of the core's thread
    unsigned kind;           // of its connections by TCP (net/admission.h)
    bool for_operators;      // its output is sent while the fence is closed, too
    struct proxies *proxies; // who may name clients (net/proxied.h)
    enum proxied_by by;
    const struct io_service
        *of_members; // takes the connections of members instead; NULL: none does
};

// The service that takes an accepted socket of the listener of `service`.
static inline const struct io_service *io_service_for(const struct io_service *service, int fd)
{
    bool member = service->of_members && proxies_have_member(service->proxies, fd);

    return member ? service->of_members : service;
}

// News of a link, as events of a socket.
enum link_event {
    LINK_INPUT = 1,
    LINK_CLOSED = 2,
    LINK_ROOM = 4,
    LINK_UNREAD = 8 // the peer has read nothing for too long: the link has failed
};

// What the core does with news. Called by io_drain() only.
struct io_host {
    // A connection begins. Returns it; NULL: refused.
    void *(*open)(void *context, struct io_link *link, const struct io_service *service);
    // There are events for the connection: enum link_event as bits; none: it has begun.
    void (*event)(void *conn, unsigned events);
    // The socket belongs to the core again, with the transport's state.
    void (*back)(void *conn, int fd, const void *own);
    // An accepted socket became no connection; to be logged.
    void (*refused)(void *context, const struct io_service *service, const char *peer,
                    const char *why);
    // Nothing can be accepted for a while, because of that error of errno.h. Once an episode.
    void (*accept_failed)(void *context, int error);
    // Whether the other news have to wait for the next turn.
    bool (*spent)(void *context);
};

// Descriptors that `threads` threads take: an eventfd for each and for the core's, and for each an
// event base, which has three.
#define IO_DESCRIPTORS(threads) ((threads) > 0 ? 1 + 4 * (uint64_t)(threads) : 0)

// Makes at least one thread, which does not run yet. `always`: they serve all connections, whatever
// the load; `base` is the core's; `open` counts accepted sockets that are not closed, by any
// thread. NULL without memory or descriptors.
struct io *io_open(unsigned threads, bool always, struct event_base *base, _Atomic(uint64_t) *open,
                   const struct io_host *host, void *context) MUST_USE;

// The threads may accept at this listening socket, which is borrowed. Called before they start.
// False without memory.
bool io_listen(struct io *io, const struct io_service *service, int fd) MUST_USE;

// Starts the threads. False if the system has no more threads.
bool io_start(struct io *io) MUST_USE;

// Stops accepting; closes sockets whose handshakes are not done, and accepted sockets that the core
// does not know yet. Waits for a round of each thread: then listening sockets may be closed.
void io_shut(struct io *io);

// Ends the threads. All connections are closed; output that is not sent stays unsent. NULL is
// allowed.
void io_close(struct io *io);

// Calls connections with the news of the threads, until the turn is spent.
void io_drain(struct io *io);

// Whether io_drain() has left news.
bool io_is_behind(const struct io *io);

// Hands orders to the threads. `now_at`: the time of the turn.
void io_flush(struct io *io, nsec_t now_at);

// The loop is about to wait. False: there is something to do, and it must not wait.
bool io_begin_sleep(struct io *io);

// The loop has waited for so long.
void io_end_sleep(struct io *io, nsec_t slept_for);

// Limits that may change while the threads run.
struct io_limits {
    nsec_t unread_for;    // a peer that reads no output for so long is dropped; 0: none is
    nsec_t handshake_for; // the time limit of each handshake
    uint64_t most;        // sockets that may be open
    struct peer_limits *peer_limits; // by address; always the same
    const struct fence *fence;       // for output, except that of operators; always the same
};
void io_set_limits(struct io *io, const struct io_limits *limits);

// The kinds of connections that are not accepted, as bits: their maximum is open.
void io_set_full(struct io *io, unsigned full);

// Whether the threads accept and serve active connections, rather than the core's loop.
bool io_spreads(const struct io *io);

// Hands over a socket that the core has accepted and that needs a handshake. False without memory:
// the socket is the caller's.
bool io_begin_handshake(struct io *io, const struct io_service *service, int fd) MUST_USE;

// Hands a connection's socket to a thread. NULL without memory: nothing has changed. Until
// io_host.back the connection must not use the socket, nor `own`, which is copied.
struct io_link *io_take(struct io *io, const struct io_service *service, int fd, const void *own,
                        void *conn);

// The socket, for questions to the kernel; it is open until the link is closed.
int link_fd(const struct io_link *link);

// Asks for the socket back. It comes with io_host.back, unless something is under way: then the
// link goes on, and is not asked again before it has news. Nothing can be sent before the answer.
void link_ask_back(struct io_link *link);

// Bytes of output that were handed over and of which the thread has not told that they are sent;
// whether the peer has output of the thread to read, at this moment.
size_t link_unread(const struct io_link *link);
bool link_has_unread(const struct io_link *link);

// Whether the thread reads on: it tells of the end of the input after all input.
bool link_reads_on(const struct io_link *link);

// The thread may read `room` bytes, at least one, if all input was taken. Said once.
void link_read_on(struct io_link *link, size_t room);

// No more input can be taken for now; the thread goes on to check whether the peer is there.
void link_hold(struct io_link *link);

// The connection is to be called in the next turn, as if there were input.
void link_call_again(struct io_link *link);

// The connection is closed. The socket is closed when all output was sent, or at once.
void link_end(struct io_link *link, bool at_once);

// A transport with the link as `own`. It has no `begin`, and link_end() in place of `close`.
extern const struct transport transport_link;

#endif
