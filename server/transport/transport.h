/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_TRANSPORT_TRANSPORT_H
#define TANDEM_SERVER_TRANSPORT_TRANSPORT_H

// The layer between a connection and its socket. A transport is a table of operations. The service
// of a connection (server/conn/conn.h) determines its transport, so the connection needs no field
// for it. Only the transport uses a connected socket's descriptor, except for the event that
// watches it.
//
// No operation blocks. The loop watches descriptors for edges, so each operation tells whether the
// caller must wait for an event before it tries again: `drained` and `full`. Each transport has its
// own rule for this. A plain socket is drained by a short read; a transport that buffers bytes is
// not drained while it has any. If a transport must write before it can receive, or read before it
// can send, the caller must wait for the other event: `needs_room` and `needs_input`.
//
// If a transport has a handshake, that is done before anything is received or sent. Until then the
// socket has no connection (server/net/handshakes.h).
//
// The operations on one connection are called by one thread at a time.

#include "core/base/nsec.h"
#include "core/base/slice.h"
#include "core/base/error_text.h"
#include "server/transport/proxy_head.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

enum transfer {
    TRANSFER_BYTES, // `len` bytes, at least one
    TRANSFER_NONE,  // no bytes can be moved now
    TRANSFER_END,   // the peer sends no more (receive only)
    TRANSFER_FAILED // the connection is lost, see `error`
};

struct received {
    size_t len;
    int error;       // of errno.h
    uint8_t result;  // enum transfer
    bool drained;    // wait for an event; false: the next call may receive more
    bool needs_room; // with TRANSFER_NONE: wait until the socket is writable
};

struct sent {
    size_t len;
    int error;
    uint8_t result;   // enum transfer
    bool full;        // wait until the socket is writable
    bool needs_input; // with TRANSFER_NONE: wait until the socket is readable
};

enum handshake {
    HANDSHAKE_DONE,
    HANDSHAKE_NEEDS_INPUT, // wait until the socket is readable
    HANDSHAKE_NEEDS_ROOM,  // wait until the socket is writable
    HANDSHAKE_FAILED
};

// The identity that the peer has proved. The texts are for people: NUL-terminated, empty if there
// is none, and escaped as in RFC 2253. Programs use the names.
struct peer_identity {
    const char *subject;   // of the certificate
    const char *alt_names; // subject alternative names: `DNS:a, email:b, URI:c, IP Address:d`
    // Common names, and alternative names of these kinds, each without escapes: text in UTF-8, an
    // IP address as inet_ntop() writes it. Names with a NUL are left out.
    const struct slice *names;
    size_t name_count;
};

// `fd` is the connection's descriptor. `own` are the transport's state_size bytes in the
// connection, zeroed at first. `parts` are `count` pieces of memory with `len` bytes together; both
// are at least 1.
struct transport {
    size_t state_size; // a multiple of 8; 0: the transport needs only the descriptor
    // Begins on an accepted socket. `shared` belongs to the service (struct tls_service for TLS).
    // False without memory. NULL if the transport has no handshake, as is `handshake`.
    bool (*begin)(int fd, void *own, void *shared);
    // Continues the handshake. HANDSHAKE_FAILED sets the reason in `why`, unless the peer has
    // closed without having sent anything.
    enum handshake (*handshake)(int fd, void *own, struct error_text *why);
    // The time for the handshake is over, which has begun. True: it is done all the same. NULL: it
    // has failed.
    bool (*late)(int fd, void *own);
    // The client that a proxy has named as the one that speaks by this connection; unknown if the
    // proxy does not tell; valid until `close`. NULL: the peer speaks for itself. NULL if the
    // transport has no proxies.
    const struct client_address *(*client)(const void *own);
    // The peer's identity, valid until `close`; NULL if it has proved none. NULL if the transport
    // has no identities.
    const struct peer_identity *(*identity)(const void *own);
    // The protection of the connection, such as `TLSv1.3`; valid until `close`. NULL if the
    // transport has none.
    const char *(*protection)(const void *own);
    // One attempt to fill the parts, in order.
    struct received (*receive)(int fd, void *own, const struct iovec *parts, unsigned count,
                               size_t len);
    // One attempt to send the parts, in order. The next call must begin with the bytes not sent,
    // and have at least as many.
    struct sent (*send)(int fd, void *own, const struct iovec *parts, unsigned count, size_t len);
    // The error of the connection since the last operation; 0: none.
    int (*error)(int fd, void *own);
    // Writes the address of the peer, or of the client that it has named, without a port, and a NUL
    // to `text`; "-" if there is none.
    void (*peer)(int fd, const void *own, char *text, size_t room);
    // Tells the peer that no more bytes come. Its own bytes can still be received. False: call
    // again when the socket is writable.
    bool (*shut)(int fd, void *own);
    // Closes the connection and frees the memory of `own`, without waiting for unsent bytes. Must
    // be called for each socket; before `begin`, with a zeroed `own`.
    void (*close)(int fd, void *own);
};

// A socket without encryption.
extern const struct transport transport_plain;

// TCP keep-alive: after so many silent seconds, the peer is probed; the interval in seconds; the
// number of probes. A peer is lost after TRANSPORT_LOST_AFTER seconds.
#define TRANSPORT_PROBE_AFTER 60
#define TRANSPORT_PROBE_EVERY 10
#define TRANSPORT_PROBES 6
#define TRANSPORT_LOST_AFTER (TRANSPORT_PROBE_AFTER + TRANSPORT_PROBES * TRANSPORT_PROBE_EVERY)

// Sets the options of a TCP connection, or of a listening socket for its future connections: no
// delay of small replies, and keep-alive.
void transport_prepare_tcp(int fd);

// Drops a peer that acknowledges nothing for TRANSPORT_LOST_AFTER, too: while bytes are under way,
// the kernel retransmits instead of probing. To the kernel, a peer that is alive but does not read
// looks the same. Therefore the limit is set only if we drop such a peer earlier ourselves: after
// `unread_for` (0: never).
void transport_limit_silence(int fd, nsec_t unread_for);

// Sets the options of a connection that was accepted by the kernel before those of its listening
// socket were set.
void transport_prepare_like(int fd, int listening);

#endif
