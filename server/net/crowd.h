/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_NET_CROWD_H
#define TANDEM_SERVER_NET_CROWD_H

// How many connections each address has, from when they are accepted to when they are closed, so
// that one address cannot have them all: those whose handshake is not made, too. An address is an
// IPv4 address, or the /64 of an IPv6 address, of which one host may have as many as it likes.
// Peers at unix sockets are not counted.
//
// Any thread may call these: who accepts, and who closes. While no limit is set, nothing is counted
// and nothing is kept; connections that were accepted then are never counted. Their kinds always
// are.

#include "core/base/macros.h"
#include "core/base/siphash.h"
#include "server/net/seats.h"

#include <stdbool.h>
#include <stdint.h>

struct crowd;

// Why a connection is closed at once, for the log.
#define CROWD_WHY "its address has as many connections as server.max_connections_per_address"

// Has no limit at first; the key is for its table. NULL without memory.
struct crowd *crowd_new(const struct siphash_key *key) MUST_USE;

// Nobody calls it any more. NULL is allowed.
void crowd_free(struct crowd *crowd);

// So many connections of one address from now on; 0: any number.
void crowd_limit(struct crowd *crowd, uint64_t most);

// A socket of that kind (seats.h) was accepted. False where it is one too many of its address, or
// there is no memory to count it: then it is to be closed. A NULL crowd takes everybody.
bool crowd_enter(struct crowd *crowd, int fd, unsigned kind) MUST_USE;

// The socket is about to be closed. One that was not counted, or a NULL crowd, is no error.
void crowd_leave(struct crowd *crowd, int fd);

// The seats of all that have entered and not left. Of a crowd that is there.
struct seats *crowd_seats(struct crowd *crowd);

#endif
