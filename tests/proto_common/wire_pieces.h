/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_PROTO_COMMON_WIRE_PIECES_H
#define TANDEM_TESTS_PROTO_COMMON_WIRE_PIECES_H

// Input that arrives in pieces.

#include "tests/proto_common/wire_host.h"

// Sends the bytes with turns between: the first piece has `first` bytes, the others have `piece`.
void peer_send_pieces(struct peer *peer, struct slice bytes, size_t first, size_t piece);

#endif
