/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ACCESS_THROTTLE_H
#define TANDEM_ACCESS_THROTTLE_H

// Rate limit for wrong tokens, a leaky bucket for each address: a wrong token adds a drop, and one
// drop leaks out every 600 ms. While the bucket has room for another drop, of 100, a wrong token is
// answered at once; afterwards, one every 600 ms. Valid tokens are not limited and are not counted.
// The bucket belongs to the address, not to the connection. IPv6 addresses with the same first 64
// bits share a bucket, because a provider assigns at least these to one line, and so do all
// connections of a user by unix sockets.
//
// The number of buckets is limited. A new address replaces the one with the fewest drops and takes
// over its drops, so an attacker with many addresses cannot displace the bucket of an address with
// more drops. An address without a bucket is not slowed down.
//
// Times are monotonic and must not go back. Only throttle_new() can fail.

#include "access/access.h"

#include "core/base/macros.h"
#include "core/base/nsec.h"

// The size of a bucket, and the time for one drop to leak out: a hundred in a minute.
#define THROTTLE_DROPS 100
#define THROTTLE_DROP_FOR (600 * NSEC_PER_MSEC)

// The maximum number of buckets.
#define THROTTLE_ADDRESSES 1024

struct throttle;

// NULL: no memory.
struct throttle *throttle_new(void) MUST_USE;

// NULL is allowed.
void throttle_free(struct throttle *throttle);

// When a wrong token of this peer may be answered. 0: now. Otherwise a time after `now`, at which
// the caller must ask again, because other connections of the address may have come first.
nsec_t throttle_ask(const struct throttle *throttle, const struct access_peer *peer, nsec_t now);

// Counts a wrong token of this peer.
void throttle_wrong(struct throttle *throttle, const struct access_peer *peer, nsec_t now);

#endif
