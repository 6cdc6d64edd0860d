/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_PROTO_COMMON_WIRE_STORE_H
#define TANDEM_TESTS_PROTO_COMMON_WIRE_STORE_H

// The store of a rig, which assigns positions. It passes all calls to the store of a test, which
// decides whether there is room and receives the records. Each record has its own position, which
// is reached at once, or, if the store is slow, by rig_reach().

#include "core/broker.h"

// Jobs whose positions are remembered: those with the highest ids.
#define WIRE_STORE_JOBS 65536

struct wire_store {
    const struct recorder *recorder; // of the test; `room` and `append` may be NULL
    void *recorder_store;
    struct store_info info; // its facts
    bool slow;              // positions are not reached at once
    uint64_t *reached;      // the position that is reached
    uint64_t position;      // the last assigned position
    uint64_t ids_at;        // the position of the ids of jobs that are not durable
    uint64_t submitted[WIRE_STORE_JOBS];
};

// Returns the options with this store, which must be zeroed, before the store of the options, if
// they have one.
struct broker_options wire_store_before(struct wire_store *store, struct broker_options options,
                                        uint64_t *reached);

#endif
