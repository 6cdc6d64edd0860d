/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_TALLY_H
#define TANDEM_SERVER_TALLY_H

// What a protocol has taken and refused so far, with TLS and without. Counted by the loop's thread
// only: it is told what I/O threads refuse.

#include "proto_common/sight_refusals.h"

#include <stdint.h>

struct tally {
    uint64_t open;     // connections now
    uint64_t accepted; // connections
    uint64_t commands; // beside those that the front-end counts
    uint64_t received; // bytes
    uint64_t sent;
    uint64_t refusals[SIGHT_REFUSAL_COUNT];
};

static inline void tally_refusal(struct tally *tally, enum sight_refusal refusal)
{
    tally->refusals[refusal]++;
}

#endif
