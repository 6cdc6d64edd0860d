/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_PROTO_COMMON_WIRE_HOST_PRIVATE_H
#define TANDEM_TESTS_PROTO_COMMON_WIRE_HOST_PRIVATE_H

// The state of a rig, for wire_host.c and wire_host_ops.c, which has the functions that front-ends
// call.

#include "tests/proto_common/wire_callers.h"
#include "tests/proto_common/wire_host.h"
#include "tests/proto_common/wire_pace.h"
#include "tests/proto_common/wire_pages.h"
#include "tests/proto_common/wire_store.h"

// A front-end that runs.
struct service {
    const struct frontend *frontend; // NULL: none
    const void *settings;
    struct wire_pages shared;
};

enum { FIRST, OTHER, SERVICES };

struct rig {
    struct rig_options options;
    struct broker *broker;
    struct service services[SERVICES];
    struct process_facts facts;
    struct output_pool pool;
    struct instant now;
    struct peer *peers;
    struct wire_pages input; // an unmapped page follows
    unsigned long feeds;
    size_t kept_most;
    uint64_t numbers;
    struct wire_store store;
    struct wire_callers callers;
    unsigned refusals[REFUSAL_COUNT];
    unsigned tls_hellos;
    unsigned proxy_heads;
    struct rig_too_large too_large;
};

struct peer {
    struct wire wire; // first, so that it leads back to the peer
    struct rig *rig;
    const struct frontend *frontend;
    const void *settings; // of the front-end
    struct wire_pace pace;
    struct peer *next;
    void *conn;
    struct wire_pages pages; // of the peer itself
    struct wire_pages kept_pages, heard_pages;
    size_t kept;
    size_t heard, told; // bytes received; of these, the number that peer_hear() has returned
    char *into;
    size_t into_len;
    bool runnable, blocked, half_closed, finished, closed, failed, dropped, quiet, deaf, shut;
};

extern const struct wire_host wire_host_ops;

#endif
