/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_RUN_POLICIES_H
#define TANDEM_SERVER_RUN_POLICIES_H

// Policies of queues that were made at run time. Each is a memo of the broker (core/memo.h): its
// key is the glob, its value the lines of a section [queue GLOB], before them one with its
// position. So the journal keeps them. What cannot be read, as another version may have written it,
// stays where it is and does not hold.

#include "core/broker.h"
#include "server/config/queue_section.h"

// So many there may be.
#define RUN_POLICIES_MAX (POLICY_RULES_MAX - QUEUE_SECTIONS_MAX)
// The highest position. Without one, a policy comes so far behind the last.
#define RUN_POLICY_POSITION_MAX 1000000000
#define RUN_POLICY_STEP 10

struct run_policy {
    struct config_section section; // of queue_section_kind: what it says
    uint64_t position;
    char *why_not; // why it does not hold: it cannot be read; NULL: it does
};

// In the order in which they count: by position, and by the bytes of the glob where that is the
// same. Zeroed at first.
struct run_policies {
    struct run_policy **all; // owned
    size_t count;
};

// One that says nothing yet. NULL with the reason in `why`.
struct run_policy *run_policy_new(struct slice glob, uint64_t position,
                                  struct error_text *why) MUST_USE;

// What a memo says: one that does not hold where it cannot be read. NULL without memory.
struct run_policy *run_policy_read(const struct memo *memo) MUST_USE;

// Whether all that it says may be said at run time. Otherwise the reason in `why`.
bool run_policy_check(const struct run_policy *policy, struct error_text *why) MUST_USE;

// The value of its memo, for free(). NULL with the reason in `why`.
char *run_policy_write(const struct run_policy *policy, struct error_text *why) MUST_USE;

// NULL is allowed.
void run_policy_free(struct run_policy *policy);

// Reads all memos. False without memory.
bool run_policies_load(struct run_policies *policies, const struct broker *broker) MUST_USE;

// The policy of that glob, NULL where there is none.
struct run_policy *run_policies_find(const struct run_policies *policies, struct slice glob);

// A second list, of the same policies but with `fresh` in the place of `old`; either may be NULL.
// The policies belong to whichever list is used in the end; the other is dropped by free(). False
// without memory.
bool run_policies_with(const struct run_policies *policies, const struct run_policy *old,
                       struct run_policy *fresh, struct run_policies *changed) MUST_USE;

// Frees all, with the policies.
void run_policies_clear(struct run_policies *policies);

#endif
