/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_PROTO_COMMON_WIRE_PACE_H
#define TANDEM_TESTS_PROTO_COMMON_WIRE_PACE_H

// The pace timer of each peer of a rig (proto_common/pace.h), as the server has it.

#include "proto_common/pace.h"

struct peer;

struct wire_pace {
    struct pace_timer timer;
    uint64_t received;
    uint64_t received_before, heard_before; // at the last note
};

void wire_pace_begin(struct wire_pace *pace);

// The end of a turn of the peer. `ran`: it was fed, or a function of the front-end was called.
void wire_pace_note(struct peer *peer, bool ran);

// Tells the front-end of a peer that is too late, if the time to check has come. Returns whether it
// was.
bool wire_pace_check(struct peer *peer);

#endif
