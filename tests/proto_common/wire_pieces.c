/* SPDX-License-Identifier: MIT */
#include "tests/proto_common/wire_pieces.h"

void peer_send_pieces(struct peer *peer, struct slice bytes, size_t first, size_t piece)
{
    while (bytes.len) {
        size_t len = bytes.len < first ? bytes.len : first;

        peer_send(peer, slice_of(bytes.ptr, len));
        rig_run(peer_rig(peer));
        bytes = slice_from(bytes, len);
        first = piece;
    }
}
