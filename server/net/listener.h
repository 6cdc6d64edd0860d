/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_NET_LISTENER_H
#define TANDEM_SERVER_NET_LISTENER_H

// The sockets that connections come in at. While there are as many connections as there may be,
// accepting is held: new ones wait in the kernel's queue. Where the kernel has no descriptor or
// memory for one more, all listeners rest for a moment instead of being told again and again of
// what they cannot take.

#include "core/base/list.h"
#include "core/base/macros.h"
#include "core/base/nsec.h"
#include "core/base/error_text.h"

#include <event2/event.h>
#include <event2/event_struct.h>
#include <stdbool.h>

// Room for any address as text: `[v6%zone]:port` or `unix:/path`.
#define PEER_TEXT_MAX 128

// A new connection; `fd` does not block and is handed over. `peer` is valid during the call.
typedef void (*listener_accept)(void *context, int fd, const char *peer);

// Who the connections of a protocol are for.
struct listener_target {
    const char *protocol; // for the log
    listener_accept accept;
    void *context;     // of those at an address without TLS
    void *tls_context; // of those at one with TLS
    unsigned kind;     // of the seats that they take who come by TCP (seats_kind)
};

struct listeners {
    struct event_base *base; /* private */
    struct list_node all;    /* private */
    struct event rest;       /* private: ends the rest */
    bool resting;            /* private */
    unsigned held;           /* private: kinds, as bits */
    bool complained;         /* private: since the last connection that was accepted */
};

// Starts with none. `base` must outlive it.
void listeners_init(struct listeners *listeners, struct event_base *base);

// Listens at each of the addresses of a `listen` key (see address.h) and says so in the log, with
// the real port. False with the reason in `why`; those that are open stay open until
// listeners_close.
bool listeners_open(struct listeners *listeners, const char *addresses,
                    const struct listener_target *target, struct error_text *why) MUST_USE;

// Takes over a stream socket that listens already, with TLS or without, and says so in the log. Its
// file, if it has one, stays when the listener is closed: it belongs to whoever made it. False with
// the reason in `why`.
bool listeners_adopt(struct listeners *listeners, int fd, bool tls,
                     const struct listener_target *target, struct error_text *why) MUST_USE;

// Calls `visit` with each listening socket and the context of its connections; ends where that is
// false, and returns it.
bool listeners_each(const struct listeners *listeners,
                    bool (*visit)(void *context, int fd, void *target), void *context) MUST_USE;

// Accepts none of these kinds of connections, which are bits (seats.h), until it is called again.
void listeners_hold(struct listeners *listeners, unsigned kinds);

// Beside that, accepts at none of the addresses for whose protocol and kind `shuts` is true, until
// it is called again; a NULL one is for none.
void listeners_shut(struct listeners *listeners,
                    bool (*shuts)(void *context, const char *protocol, bool tls), void *context);

// The kinds of seats that its connections take, as bits.
unsigned listeners_kinds(const struct listeners *listeners);

// Connections that come in from now on may leave their output unread for so long (0: for ever): see
// transport_limit_silence().
void listeners_limit_silence(const struct listeners *listeners, nsec_t unread_for);

// Closes all and removes unix sockets from the file system.
void listeners_close(struct listeners *listeners);

// The address of that protocol at that place, as the log has it; NULL behind the last one. Valid
// until it is closed.
const char *listeners_address(const struct listeners *listeners, const char *protocol,
                              size_t index);

bool listeners_empty(const struct listeners *listeners);

// How many there are.
size_t listeners_count(const struct listeners *listeners);

#endif
