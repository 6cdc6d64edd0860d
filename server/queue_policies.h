/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_QUEUE_POLICIES_H
#define TANDEM_SERVER_QUEUE_POLICIES_H

// The policies of queues: policies made at run time, followed by the sections [queue GLOB] of the
// configuration file. Together they are the policy rules of the broker.
//
// A policy made at run time is a memo of the broker (core/memo.h), so that the store keeps it. The
// key is the glob; the value is a line with the position, followed by the lines of a section [queue
// GLOB]. A memo that cannot be read, as another version may have written it, is kept but has no
// effect.

#include "core/broker.h"
#include "proto_common/introspect_queues.h"
#include "server/config/queue_section.h"
#include "server/config/settings.h"
#include "server/config/config_introspect.h"

#define RUN_POLICIES_MAX (POLICY_RULES_MAX - QUEUE_SECTIONS_MAX)
#define RUN_POLICY_POSITION_MAX 1000000000
// A policy without a position comes this far behind the last.
#define RUN_POLICY_STEP 10

struct run_policy {
    struct config_section section; // of queue_section_kind
    uint64_t position;
    char *why_not; // why it has no effect: it cannot be read; NULL: it has
};

// Sorted by position, and by the bytes of the glob if positions are equal. Zeroed at first.
struct run_policies {
    struct run_policy **all; // owned
    size_t count;
};

// Zeroed at first: no policy was made at run time.
struct queue_policies {
    struct run_policies run; /* private */
};

// Copies all rules for the broker (broker_use_policies()). NULL with the reason in `why`.
struct policy_copies *queue_policies_copy(const struct queue_policies *policies,
                                          const struct settings *settings,
                                          struct error_text *why) MUST_USE;

// Sets the rules of the broker. False with the reason in `why`: without memory.
bool queue_policies_apply(const struct queue_policies *policies, struct broker *broker,
                          const struct settings *settings, struct error_text *why) MUST_USE;

// The broker's memos are restored: reads the policies made at run time, logs policies that cannot
// be read, and sets the rules of the broker. False with the reason in `why`: without memory.
bool queue_policies_load(struct queue_policies *policies, struct broker *broker,
                         const struct settings *settings, struct error_text *why) MUST_USE;

// The functions of struct introspect_policies (proto_common/introspect_queues.h).
enum status queue_policies_set(struct queue_policies *policies, struct broker *broker,
                               const struct settings *settings,
                               const struct introspect_new_policy *policy, struct error_text *why);
enum status queue_policies_drop(struct queue_policies *policies, struct broker *broker,
                                const struct settings *settings, struct slice glob);
bool queue_policies_show(const struct queue_policies *policies, const struct settings *settings,
                         size_t index, struct introspect_policy *policy);
bool queue_policies_show_key(const struct queue_policies *policies, const struct settings *settings,
                             struct config_introspection *introspection, size_t index, size_t key,
                             struct introspect_key *out);

void queue_policies_clear(struct queue_policies *policies);

#endif
