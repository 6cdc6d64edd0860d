/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ACCESS_THROTTLE_H
#define TANDEM_ACCESS_THROTTLE_H

// How fast a peer may try wrong tokens. Each address has a bucket: a wrong token adds a drop, and
// one leaks out in 600 ms. While there is room for 100 drops, wrong tokens are answered as they
// come; then, one in 600 ms. Right ones are not slowed, and are not asked about here. Whoever uses
// another connection, or comes back later, has the same bucket; so have all IPv6 addresses with the
// same 64 bits in front, which is what one line of a provider has at least, and all connections of
// a user by a unix socket.
//
// Only so many addresses are remembered. Where there are more, the one with the fewest drops makes
// room, and its drops are the newcomer's: whoever comes from ever other addresses pushes out none
// that is worse. An address that is not remembered is never slowed down.
//
// Moments are monotonic, and do not go back. Nothing here fails but throttle_new().

#include "access/access.h"

#include "core/base/macros.h"
#include "core/base/nsec.h"

// How many drops a bucket holds, and how long each takes to leak: a hundred in a minute.
#define THROTTLE_DROPS 100
#define THROTTLE_DROP_FOR (600 * NSEC_PER_MSEC)

// How many addresses are remembered.
#define THROTTLE_ADDRESSES 1024

struct throttle;

// NULL without memory.
struct throttle *throttle_new(void) MUST_USE;

// NULL is allowed.
void throttle_free(struct throttle *throttle);

// When a wrong token of that peer may be answered: 0 for now, else a moment after `now`, at which
// it is to be asked again, since others of the address may have come first.
nsec_t throttle_ask(const struct throttle *throttle, const struct access_peer *peer, nsec_t now);

// A token of that peer was none.
void throttle_wrong(struct throttle *throttle, const struct access_peer *peer, nsec_t now);

#endif
