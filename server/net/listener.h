/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_NET_LISTENER_H
#define TANDEM_SERVER_NET_LISTENER_H

// The listening sockets: opened here, or inherited from systemd. While the maximum of connections
// is open, accepting is held, and clients wait in the kernel's queue. If the kernel has no
// descriptor or memory for one more socket, all listeners rest for a moment, as the kernel would
// otherwise report the same connections again and again.

#include "core/base/list.h"
#include "core/base/macros.h"
#include "core/base/nsec.h"
#include "server/net/socket.h"
#include "core/base/error_text.h"

#include <event2/event.h>
#include <event2/event_struct.h>
#include <stdbool.h>

// Owns a new connection, which does not block. `peer` is valid during the call.
typedef void (*listener_accept)(void *context, int fd, const char *peer);

// Who takes the connections of a protocol.
struct listener_target {
    const char *protocol; // for the log
    listener_accept accept;
    void *context;     // for connections without TLS
    void *tls_context; // for connections with TLS
    // The same for connections that begin with a head of the PROXY protocol.
    void *proxied_context;
    void *proxied_tls_context;
    unsigned kind; // of its connections by TCP (slot_kind)
};

struct listeners {
    struct event_base *base; /* private */
    struct list_node all;    /* private */
    struct event rest;       /* private: ends a rest */
    bool resting;            /* private */
    unsigned held;           /* private: kinds, as bits */
    bool warned;             /* private: a failure was logged, and none was accepted since */
};

// Begins without listeners. `base` must outlive it.
void listeners_init(struct listeners *listeners, struct event_base *base);

// Listens at each address of a `listen` key (server/config/listen_address.h), and logs each with
// its real port. False with the reason in `why`; open ones stay open until listeners_close().
bool listeners_open(struct listeners *listeners, const char *addresses,
                    const struct listener_target *target, struct error_text *why) MUST_USE;

// Owns a stream socket that listens already, with TLS or the PROXY protocol or without, and logs
// it. The file of a unix socket is not removed when it is closed, as another process has made it.
// False with the reason in `why`.
bool listeners_adopt(struct listeners *listeners, int fd, bool tls, bool proxied,
                     const struct listener_target *target, struct error_text *why) MUST_USE;

// Calls `visit` with each listening socket and the context of its connections, until it returns
// false; returns its last result.
bool listeners_each(const struct listeners *listeners,
                    bool (*visit)(void *context, int fd, void *target), void *context) MUST_USE;

// Accepts no connections of these kinds, which are bits, until the next call.
void listeners_hold(struct listeners *listeners, unsigned kinds);

// In addition, accepts nothing at addresses for which `shuts` is true, until the next call; NULL:
// at all addresses something.
void listeners_shut(struct listeners *listeners,
                    bool (*shuts)(void *context, const char *protocol, bool tls), void *context);

// The kinds of their connections, as bits.
unsigned listeners_kinds(const struct listeners *listeners);

// Limits how long peers of future connections may leave output unread (0: no limit); see
// transport_limit_silence().
void listeners_limit_silence(const struct listeners *listeners, nsec_t unread_for);

// Closes all, and removes the files of unix sockets that were made here.
void listeners_close(struct listeners *listeners);

// The address of the listener with that index among those of a protocol, as in the log; NULL: there
// are fewer. Valid until it is closed.
const char *listeners_address(const struct listeners *listeners, const char *protocol,
                              size_t index);

bool listeners_empty(const struct listeners *listeners);

size_t listeners_count(const struct listeners *listeners);

// Inherited sockets: systemd passes listening sockets in LISTEN_FDS. The name of a socket
// (FileDescriptorName=) selects the front-end, with `-proxy` for the PROXY protocol and then `-tls`
// for TLS. A socket without a name belongs
// to the first front-end; any other name is an error.

// Owns the descriptor in any case. `index` is that of a front-end in `frontends`. False with the
// reason in `why` ends the walk.
typedef bool (*inherited_taker)(void *context, int fd, size_t index, bool tls, bool proxied,
                                struct error_text *why);

// Hands over each inherited socket, and clears the environment variables. True if there is none.
// False with the reason in `why`: a socket is not a listening stream socket of TCP or Unix, its
// name is unknown, or it was not taken; then the process must not go on.
bool inherited_each(inherited_taker take, void *context, struct error_text *why) MUST_USE;

#endif
