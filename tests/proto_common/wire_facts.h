/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_PROTO_COMMON_WIRE_FACTS_H
#define TANDEM_TESTS_PROTO_COMMON_WIRE_FACTS_H

// What front-ends in tests are told of the process.

#include "proto_common/frontend.h"

// The monotonic moment at which a rig begins.
#define WIRE_STARTS_AT (1000 * NSEC_PER_SEC)

extern const struct process_facts wire_facts;

#endif
