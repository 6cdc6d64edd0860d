/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_NET_ADMISSION_H
#define TANDEM_SERVER_NET_ADMISSION_H

// Whether there is memory for one more connection (core/base/memory.h). While memory is crowded
// there is not, but for three: a few that may always be, lest jobs that fill the memory keep away
// those who would do them; as long as the limit is not passed, those that come from this machine,
// where operators do; and those at the port of operators that have the seats which are theirs alone
// (seats.h): they may be about to make room.

#include <stdbool.h>
#include <stdint.h>

struct crowd;

// So many may be open whatever there is.
#define ADMISSION_ALWAYS 64

// `open` are there besides it; `peer` is its text of socket_peer_text(). It has entered the crowd,
// which may be NULL, by the port of the protocol at that place in `frontends`. Any thread may ask.
bool admission_has_memory(uint64_t open, const char *peer, struct crowd *crowd, unsigned protocol);

#endif
