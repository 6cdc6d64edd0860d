/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_NET_SEATS_H
#define TANDEM_SERVER_NET_SEATS_H

// Of what kind the connections are that there may be so many of: by which protocol's ports they
// came, or by a unix socket. Each kind has some seats that no other may take, so that whoever fills
// one port keeps nobody away from the others, nor the machine's own people from a unix socket, nor
// those who run the process from what shows it to them.
//
// Any thread may call these. Counts of different threads may be a little behind each other, so that
// now and then a seat is given away too many.

#include "core/base/macros.h"
#include "server/config/frontends.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The kind of a protocol's ports is the protocol's place in `frontends`. Those that administer have
// it at unix sockets, too.
#define SEATS_LOCAL FRONTENDS
#define SEATS_KINDS (FRONTENDS + 1)
#define SEATS_ALL ((1u << SEATS_KINDS) - 1)

// A kind has a 64th of all seats to itself, and no more than this.
#define SEATS_RESERVED 16
// Those that administer have this many at least, or a quarter of all where there are very few: what
// collects metrics keeps one, and the page another.
#define SEATS_OPERATORS 4

struct seats {
    _Atomic(uint8_t) *kind_of; // by descriptor, one more than its kind; 0: none is taken
    size_t descriptors;
    _Atomic(uint64_t) taken[SEATS_KINDS];
    unsigned listened; // kinds that there are ports of, as bits: others need no seats of their own
};

// For as many descriptors as the process may have, and ports of no kind yet. False without memory.
bool seats_init(struct seats *seats) MUST_USE;
void seats_clear(struct seats *seats);

// The kind of connections of the protocol at that place, which come by a unix socket or a port.
static inline unsigned seats_kind(unsigned protocol, bool local)
{
    return local && !frontends[protocol]->administers ? SEATS_LOCAL : protocol;
}

// A socket of that kind was accepted; or is about to be closed, if it ever took one.
void seats_take(struct seats *seats, int fd, unsigned kind);
void seats_leave(struct seats *seats, int fd);

// Whether those of that kind administer, and have no more seats than are theirs alone.
bool seats_administer(const struct seats *seats, unsigned kind);

// The kinds that may take no further seat, as bits, where `open` are taken of `most`.
unsigned seats_full(const struct seats *seats, uint64_t open, uint64_t most);

#endif
