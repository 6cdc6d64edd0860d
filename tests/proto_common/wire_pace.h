/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_PROTO_COMMON_WIRE_PACE_H
#define TANDEM_TESTS_PROTO_COMMON_WIRE_PACE_H

// The rig's side of proto_common/pace.h, as the server has it.

#include "proto_common/pace.h"

struct peer;

struct wire_pace {
    struct pace_timer timer;
    uint64_t received;
    uint64_t received_before, heard_before; // when it was noted last
};

void wire_pace_begin(struct wire_pace *pace);

// The end of a turn of the peer, in which it was fed or told something (`ran`), or sent something
// or was sent something.
void wire_pace_note(struct peer *peer, bool ran);

// Tells the front-end of a peer that is too late, if the time to check has come. Returns whether it
// was.
bool wire_pace_check(struct peer *peer);

#endif
