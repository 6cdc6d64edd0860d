/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_FUZZ_FUZZ_RULES_H
#define TANDEM_TESTS_FUZZ_FUZZ_RULES_H

// Rules and tokens that targets meet, whatever the protocol.

#include "tests/proto_common/wire_host.h"

// The next rules of a few hold for the peer, unless it has gone; counts how often they did.
void fuzz_change_rules(struct peer *peer, unsigned *changes);

// One token is right, and after three that are not the next ones wait for ten seconds.
void fuzz_set_tokens(struct rig *rig);

#endif
