/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_PROTO_COMMON_WIRE_STORE_H
#define TANDEM_TESTS_PROTO_COMMON_WIRE_STORE_H

// A store for the rig, which keeps nothing but positions. It stands before the store of a test,
// which says what it has room for and hears of all records. Each record has a position of its own;
// it is reached at once, or, where the store is slow, when the test says so.

#include "core/broker.h"

// Jobs whose positions are remembered: those with the highest ids.
#define WIRE_STORE_JOBS 65536

struct wire_store {
    const struct recorder *recorder; // of the test; `room` and `append` may be NULL
    void *recorder_store;
    struct store_info info; // what it tells of itself
    bool slow;              // what is appended is not reached at once
    uint64_t *reached;      // the position that is
    uint64_t position;      // the last one
    uint64_t ids_at;        // that of the ids of jobs that are not durable
    uint64_t submitted[WIRE_STORE_JOBS];
};

// Puts the store, all zero, before the one that the options name, where they name one.
struct broker_options wire_store_before(struct wire_store *store, struct broker_options options,
                                        uint64_t *reached);

#endif
