/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_POLICY_PRIVATE_H
#define TANDEM_CORE_POLICY_PRIVATE_H

// Private to the core: the rules that the host has set (core/policy.h), as the broker keeps them.
// What is done with them: policy.h.

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
    struct list_node news; // queues that the host is still to be told of
    uint32_t cursor;       // how far the queues were looked at
    nsec_t again_at;       // when to go on, monotonic; later where memory was short
    bool changed;          // there are queues that may have a policy of the set before
};

// Private to the core: the rules that the host has set (core/policy.h), and which of them a queue
// has.
//
// A queue refers to its policy, so that those that jobs come across cost one pointer. When the
// rules change, the queues that there are get theirs in slices; a policy is freed with the last
// queue that has it.

// A copy of the rule, with one user; NULL without memory.
struct policy *policy_new(const struct policy_rule *rule) MUST_USE;

// The set is empty then; policies that queues have stay until these have others.
void policy_set_clear(struct policy_set *set);

// What the rules say of a queue of that name; NULL where none fits.
struct policy *policy_for(const struct broker *broker, struct slice name);

// Gives a queue that policy in place of the one it has; either may be NULL. False, and nothing is
// changed, where there is no memory for what it needs (gate.h); NULL needs none.
bool policy_attach(struct broker *broker, struct queue *queue, struct policy *policy) MUST_USE;

// Looks at queues until one has got another policy, which comes out, and may have nothing that
// keeps it any more. NULL: all have theirs, the budget is used up, or there is no memory for what
// one needs, which is tried again a little later.
struct queue *policies_walk(struct broker *broker, unsigned *budget);

void policies_init(struct policies *policies);
void policies_clear(struct broker *broker);

// Of a queue's policy; NULL where it has none.
#define POLICY_OF(queue) ((queue)->policy ? &(queue)->policy->rule.spec : NULL)

#endif
