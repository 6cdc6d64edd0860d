/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_NET_ADMISSION_H
#define TANDEM_SERVER_NET_ADMISSION_H

// Which accepted sockets may become connections. Three limits apply, from when a socket is accepted
// to when it is closed, handshakes included:
//
// - Slots: `max_connections` slots are shared by all kinds of connections. Each kind has some slots
//   that no other kind may take, so that clients that fill one port cannot keep others away from
//   another port, local processes from a unix socket, or operators from the administration port.
// - Peer limits: the number of connections of one address. An address is an IPv4 address, or the
//   /64 network of an IPv6 address, which one host may have to itself. Peers at unix sockets are
//   not counted.
// - Memory (core/base/memory.h): while memory is short, no connection is admitted.
//
// Any thread may call these functions.

#include "core/base/macros.h"
#include "core/base/siphash.h"
#include "server/config/settings.h"

#include <netinet/in.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The kind of the connections of a protocol's ports is the index of the protocol in `frontends`.
// All unix sockets have one kind, except those of a protocol that administers.
#define SLOT_KIND_LOCAL FRONTENDS
#define SLOT_KINDS (FRONTENDS + 1)
#define SLOTS_ALL ((1u << SLOT_KINDS) - 1)

// A kind has a 64th of all slots to itself, and at most this many.
#define SLOTS_RESERVED 16
// A protocol that administers has at least this many, or a quarter of all slots if there are very
// few: a metrics collector keeps one connection open, and the page another.
#define SLOTS_OPERATORS 4

// Counts of different threads may lag behind each other, so that rarely one slot too many is taken.
struct slots {
    _Atomic(uint8_t) *kind_of; // by descriptor: its kind plus one; 0: it has no slot
    size_t descriptors;
    _Atomic(uint64_t) taken[SLOT_KINDS];
    unsigned listened; // kinds that have a port, as bits: other kinds need no slots of their own
};

// Has room for as many descriptors as the process may open. False without memory.
bool slots_init(struct slots *slots) MUST_USE;
void slots_clear(struct slots *slots);

// The kind of the connections of the protocol with that index, at a unix socket or at a port.
static inline unsigned slot_kind(unsigned protocol, bool local)
{
    return local && !frontends[protocol]->administers ? SLOT_KIND_LOCAL : protocol;
}

// Takes a slot for an accepted socket; releases the slot of a socket that is about to be closed,
// which need not have one.
void slots_take(struct slots *slots, int fd, unsigned kind);
void slots_release(struct slots *slots, int fd);

// Whether connections of that kind administer, and take no more slots than are reserved for them.
bool slots_administer(const struct slots *slots, unsigned kind);

// The kinds that may take no other slot, as bits, while `open` of `most` slots are taken.
unsigned slots_full(const struct slots *slots, uint64_t open, uint64_t most);

// The slots and the counts by address. While no limit by address is set, addresses are not counted;
// connections that were accepted then are never counted.
struct peer_limits;

// The message for a connection that is closed because its address has too many.
#define PEER_LIMITS_REACHED                                                                        \
    "its address has as many connections as server.max_connections_per_address"

// Has no limit by address at first; the key is for its hash table. NULL without memory.
struct peer_limits *peer_limits_new(const struct siphash_key *key) MUST_USE;

// NULL is allowed. No other thread may use it any more.
void peer_limits_free(struct peer_limits *limits);

// Limits the connections of one address from now on; 0: no limit.
void peer_limits_set(struct peer_limits *limits, uint64_t most);

// Counts an accepted socket of that kind. False if its address has too many connections, or without
// memory to count it: the socket must be closed. NULL admits all.
bool peer_limits_enter(struct peer_limits *limits, int fd, unsigned kind) MUST_USE;

// The same for an accepted socket of a proxy, whose own address has no limit.
void peer_limits_enter_proxy(struct peer_limits *limits, int fd, unsigned kind);

// Counts the client of such a socket, which its proxy has named now. False if the client's address
// has too many connections, or without memory: the socket must be closed. NULL admits all.
bool peer_limits_enter_client(struct peer_limits *limits, int fd,
                              const struct in6_addr *address) MUST_USE;

// The socket is about to be closed. It need not have been counted; NULL is allowed.
void peer_limits_leave(struct peer_limits *limits, int fd);

// The slots of all sockets that have entered and not left; not for NULL.
struct slots *peer_limits_slots(struct peer_limits *limits);

// This many connections are admitted however little memory there is: clients that work on jobs free
// memory.
#define ADMISSION_ALWAYS 64

// Whether there is memory for one more connection beside the `open` ones. If memory is short, there
// is, in three cases: fewer than ADMISSION_ALWAYS connections are open; the peer is on this machine
// and the memory limit is not exceeded; the protocol administers and has a reserved slot. `peer` is
// the text of socket_peer_text(). The socket has entered `limits`, which may be NULL.
bool admission_has_memory(uint64_t open, const char *peer, struct peer_limits *limits,
                          unsigned protocol);

#endif
