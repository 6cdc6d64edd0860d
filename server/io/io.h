/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_IO_IO_H
#define TANDEM_SERVER_IO_IO_H

// I/O threads: they receive and send for the core's thread, which has all connections. This is the
// core's side of them, called by its thread only, but for io_open and io_close, which are called
// when no thread runs.
//
// A connection is served either by the core's own loop or by one of these threads: then its socket
// is a link's (struct link), which is a transport like any other to it (transport_link). Links
// begin where an I/O thread accepts, or the core hands one over (io_take); under load connections
// are handed over when they have something to do, and come back when the load has gone (spread.h).
//
// In each turn of the loop, io_drain() calls connections with what the threads tell, and io_flush()
// hands over what they have said.

#include "core/base/macros.h"
#include "core/base/nsec.h"
#include "server/io/service.h"
#include "server/transport/transport.h"

#include <event2/event.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct io;
struct link;

// What has come of a link, as events of a socket.
enum link_event {
    LINK_INPUT = 1,
    LINK_CLOSED = 2,
    LINK_ROOM = 4,
    LINK_UNREAD = 8 // the peer has taken nothing for too long: the link has failed
};

// What the loop does with the threads' news. Called by io_drain() only.
struct io_host {
    // A connection has come in. Returns it; NULL: refused.
    void *(*open)(void *context, struct link *link, const struct io_service *service);
    // There is something to do for the connection: enum link_event, as bits; none: it has begun.
    void (*event)(void *conn, unsigned events);
    // The socket is the core's again, with what the transport has of it.
    void (*back)(void *conn, int fd, const void *own);
    // No connection came of a socket that was accepted; that is for the log.
    void (*refused)(void *context, const struct io_service *service, const char *peer,
                    const char *why);
    // Nothing can be accepted for a while, by that error of errno.h. Once an episode.
    void (*rests)(void *context, int error);
    // Whether what else there is has to wait for the next turn.
    bool (*spent)(void *context);
};

// How many descriptors so many threads take: an eventfd for each and for the core's, and for each
// an event base, which has three.
#define IO_DESCRIPTORS(threads) ((threads) > 0 ? 1 + 4 * (uint64_t)(threads) : 0)

// Makes `threads` of them, at least one, which do not run yet. `base` is the core's; `open` counts
// sockets that were accepted and are not closed, anywhere. NULL without memory or descriptors.
struct io *io_open(unsigned threads, bool always, struct event_base *base, _Atomic(uint64_t) *open,
                   const struct io_host *host, void *context) MUST_USE;

// The threads may accept at this socket, which listens and is borrowed. Before they are started.
// False without memory.
bool io_listen(struct io *io, const struct io_service *service, int fd) MUST_USE;

// Has them run. False where there are no threads to be had.
bool io_start(struct io *io) MUST_USE;

// Accepts nothing any more, and closes sockets whose handshakes are not made, and those that were
// accepted and are not known to the core yet. Waits for the threads, a round of each: sockets that
// listen may be closed then.
void io_shut(struct io *io);

// Ends the threads. All connections are closed; what is on its way to their peers stays there.
// NULL is allowed.
void io_close(struct io *io);

// Calls connections with what the threads have told, until the turn is spent.
void io_drain(struct io *io);

// Whether that has left something over.
bool io_is_behind(const struct io *io);

// Hands the threads what was ordered. `now_at`: the turn's.
void io_flush(struct io *io, nsec_t now_at);

// The loop is about to wait. False where there is something to do already, and it must not.
bool io_lie_down(struct io *io);

// It has waited, for so long.
void io_get_up(struct io *io, nsec_t slept_for);

// What may change while they run.
struct io_limits {
    nsec_t unread_for;    // a peer that takes none of its output for so long is dropped; 0: none is
    nsec_t handshake_for; // the time that each handshake has
    uint64_t most;        // so many sockets may be open
    struct crowd *crowd;  // that counts them by address; always the same
    const struct fence *fence; // behind it only operators are sent anything; always the same
};
void io_set_limits(struct io *io, const struct io_limits *limits);
// The kinds of which there are as many sockets as there may be, so that none is accepted.
void io_set_full(struct io *io, unsigned full);
// Whether connections that have something to do, and accepting, are the threads' or the core's.
bool io_spreads(const struct io *io);

// Hands over a socket that the core has accepted, to be a connection when its handshake is made.
// False without memory: it is the caller's.
bool io_greet(struct io *io, const struct io_service *service, int fd) MUST_USE;

// Hands a connection's socket over to a thread. NULL without memory: nothing has changed. The
// connection must not use the socket, nor `own`, which is copied, until io_host.back.
struct link *io_take(struct io *io, const struct io_service *service, int fd, const void *own,
                     void *conn);

// Its socket, to ask the kernel whose it is: it is open until the link is closed.
int link_fd(const struct link *link);

// Asks for the socket back. It comes with io_host.back, unless something is on its way: then the
// link goes on, and is not asked for again before there is news of it. Nothing can be sent until
// one of the two has come.
void link_ask_back(struct link *link);

// How much of the output that was handed over has not left, as far as is known; whether the peer
// has not taken what the thread tried to send, as of now.
size_t link_unread(const struct link *link);
bool link_has_unread(const struct link *link);

// Whether the thread reads on: more may come, and it tells of the peer's end behind all of that.
bool link_reads_on(const struct link *link);

// Its input was taken: the thread may read so many bytes, one at least, if it has not been told
// since.
void link_read_on(struct link *link, size_t room);

// Nothing more can be taken for now; the thread goes on to look whether the peer is still there.
void link_hold(struct link *link);

// The connection is to be called again in the next turn, as if there were input.
void link_call_again(struct link *link);

// The connection is closed: the link ends when what is on its way has left, or at once.
void link_close(struct link *link, bool at_once);

// To be used with the link for `own`; it has no `begin`, and link_close() for `close`.
extern const struct transport transport_link;

#endif
