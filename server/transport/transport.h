/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_TRANSPORT_TRANSPORT_H
#define TANDEM_SERVER_TRANSPORT_TRANSPORT_H

// What stands between a connection and its socket. A transport is a table of operations; which one
// a connection has follows from its service (server/conn/conn.h), so that it costs the connection
// no byte. Nothing else touches a connected socket's descriptor, but for the event that watches it.
//
// Nothing here waits. The loop watches descriptors for edges, so that every operation says whether
// an event must come before it is worth trying again: `drained` and `full`. When that is so is each
// transport's own rule. A plain socket is drained by a read that got less than was asked for; one
// that keeps bytes which it has taken from the socket already is not, as long as it has any.
// Where a transport has to write before it can receive, or to read before it can send, it says so,
// and the event that it needs is the other one: `needs_room` and `needs_input`.
//
// A transport with a handshake is begun, and its handshake made, before anything is received or
// sent: until then the socket has no connection (server/net/handshakes.h).
//
// The operations on one connection are called by one thread at a time, those on different ones by
// several.

#include "core/base/nsec.h"
#include "core/base/slice.h"
#include "core/base/error_text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

enum transfer {
    TRANSFER_BYTES, // `len` of them, at least one
    TRANSFER_NONE,  // nothing could be moved now
    TRANSFER_END,   // the peer sends nothing more (receive only)
    TRANSFER_FAILED // the connection is lost, by `error`
};

struct received {
    size_t len;
    int error;       // of errno.h
    uint8_t result;  // enum transfer
    bool drained;    // an event says when there is more; otherwise the next call may have it
    bool needs_room; // with TRANSFER_NONE: the event is that the peer takes more
};

struct sent {
    size_t len;
    int error;
    uint8_t result;   // enum transfer
    bool full;        // an event says when the peer takes more
    bool needs_input; // with TRANSFER_NONE: the event is that there is something to receive
};

enum handshake {
    HANDSHAKE_DONE,
    HANDSHAKE_NEEDS_INPUT, // an event says when there is something to receive
    HANDSHAKE_NEEDS_ROOM,  // an event says when the peer takes more
    HANDSHAKE_FAILED
};

// Who the peer has proved to be. Texts are for people: NUL-terminated, and empty where there is
// none; what is not printable in them is written as in RFC 2253. Nothing is to be read out of them
// again: for that there are the names.
struct peer_identity {
    const char *subject;   // of its certificate, RFC 2253
    const char *alt_names; // its subject alternative names: `DNS:a, email:b, URI:c, IP Address:d`
    // Its common names, and its alternative names of those kinds, each as it is: text in UTF-8,
    // an IP address as inet_ntop() has it. One with a NUL in it is left out.
    const struct slice *names;
    size_t name_count;
};

// `fd` is the connection's descriptor, `own` the state_size bytes that the transport has in the
// connection, zeroed at first. `parts` are `count` pieces of memory, one at least, which have `len`
// bytes together, one at least.
struct transport {
    size_t state_size; // a multiple of 8; 0 for what needs nothing but the descriptor
    // Begins on a socket that was accepted; `shared` is what its service has for all (struct
    // tls_service for TLS). False without memory. NULL, and `handshake`, too, where there is
    // nothing to begin.
    bool (*begin)(int fd, void *own, void *shared);
    // Goes on with the handshake. HANDSHAKE_FAILED with the reason in `why`, which stays as it is
    // where the peer has left without having sent anything.
    enum handshake (*handshake)(int fd, void *own, struct error_text *why);
    // Who the peer is; NULL where it has not proved anything. Valid until `close`. NULL where no
    // peer can.
    const struct peer_identity *(*identity)(const void *own);
    // What protects the connection, such as `TLSv1.3`; valid until `close`. NULL where nothing can.
    const char *(*protection)(const void *own);
    // One attempt to fill the parts, in order.
    struct received (*receive)(int fd, void *own, const struct iovec *parts, unsigned count,
                               size_t len);
    // One attempt to send the parts, in order. What was not sent comes again, as many bytes at
    // least as this time, and the same ones first.
    struct sent (*send)(int fd, void *own, const struct iovec *parts, unsigned count, size_t len);
    // What has gone wrong with the connection since the last operation; 0: nothing.
    int (*error)(int fd, void *own);
    // Writes the peer's address, without a port, and a NUL to `text`; "-" where it has none.
    void (*peer)(int fd, const void *own, char *text, size_t room);
    // Tells the peer that nothing more comes. What it sends can still be received. False where an
    // event must come first, which says when the peer takes more.
    bool (*shut)(int fd, void *own);
    // Ends the connection and what `own` holds, without waiting for what has not left yet. To be
    // called in any case: before `begin`, too, with a zeroed `own`.
    void (*close)(int fd, void *own);
};

// A socket as it is.
extern const struct transport transport_plain;

// A peer from which nothing has come for so many seconds is probed, so often and so many times: it
// is known to be gone when as many seconds have passed as the last figure says.
#define TRANSPORT_PROBE_AFTER 60
#define TRANSPORT_PROBE_EVERY 10
#define TRANSPORT_PROBES 6
#define TRANSPORT_LOST_AFTER (TRANSPORT_PROBE_AFTER + TRANSPORT_PROBES * TRANSPORT_PROBE_EVERY)

// What a TCP connection is given, or a listening socket for all that come in at it from then on: no
// delay for small replies, and probes that find a peer whose machine is gone.
void transport_prepare_tcp(int fd);

// The same for a peer that is gone while something is on its way to it, which is sent again instead
// of probes: TRANSPORT_LOST_AFTER, too, counts for that. But the kernel counts a peer that is there
// and does not read with them, so this is set only where such a one, which may leave its output
// unread for `unread_for` (0: for ever), is dropped before that.
void transport_limit_silence(int fd, nsec_t unread_for);

// A connection that came in at a listening socket before that was given its options is given them.
void transport_prepare_like(int fd, int listening);

#endif
