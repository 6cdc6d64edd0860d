/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_POLICY_SET_H
#define TANDEM_CORE_POLICY_SET_H

// Private to the core: the rules that the host has set (core/policies.h), as the broker keeps them.
// What is done with them: policy.h.

#include "core/base/list.h"
#include "core/policies.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct policy {
    struct policy_rule rule; // slices point behind the struct
    uint64_t users;          // queues, and the set of rules
    size_t len;              // of the whole block
    char names[];
};

struct policy_set {
    struct policy **all; // in the order of the rules
    size_t count;
};

struct policies {
    struct policy_set set;
    struct list_node news; // queues that the host is still to be told of
    uint32_t cursor;       // how far the queues were looked at
    nsec_t again_at;       // when to go on, monotonic; later where memory was short
    bool changed;          // there are queues that may have a policy of the set before
};

#endif
