/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_POLICY_PRIVATE_H
#define TANDEM_CORE_POLICY_PRIVATE_H

// Private to the core: the rules that the host has set (core/policy.h), and the policy of each
// queue.
//
// A queue refers to its policy, so that jobs find it by one pointer. When the rules change,
// existing queues get their new policies in slices; a policy is freed with the last queue that has
// it.

#include "core/base/list.h"
#include "core/base/macros.h"
#include "core/base/slice.h"
#include "core/policy.h"

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
    struct list_node news; // queues to be reported to the host
    uint32_t cursor;       // of the walk over the queues
    nsec_t again_at;       // when the walk continues, monotonic; later after memory was short
    bool changed;          // there may be queues with a policy of the set before
};

// The policy of the first rule that matches the name; NULL for none.
struct policy *policy_for(const struct broker *broker, struct slice name);

// Gives the queue that policy in place of its own; either may be NULL. False without memory for its
// gate (gate.h): nothing has changed. NULL needs no memory.
bool policy_attach(struct broker *broker, struct queue *queue, struct policy *policy) MUST_USE;

// Visits queues until one has got another policy, and returns that one, which may have no reference
// any more. NULL: all queues have theirs, the budget is spent, or there is no memory for the policy
// of one, which is tried again later.
struct queue *policies_walk(struct broker *broker, unsigned *budget);

void policies_init(struct policies *policies);
void policies_clear(struct broker *broker);

// The queue's policy; NULL for none.
#define POLICY_OF(queue) ((queue)->policy ? &(queue)->policy->rule.spec : NULL)

#endif
