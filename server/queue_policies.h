/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_QUEUE_POLICIES_H
#define TANDEM_SERVER_QUEUE_POLICIES_H

// The policies of queues, as rules of the broker: those that were made at run time, and behind them
// the sections [queue GLOB] of the file.

#include "core/broker.h"
#include "proto_common/sight_policies.h"
#include "server/config/settings.h"
#include "server/config/shown.h"
#include "server/run_policies.h"

// Zeroed at first: nothing was made at run time.
struct queue_policies {
    struct run_policies run; /* private */
};

// Copies the rules of the file and of the run time for the broker (broker_use_policies()). NULL
// with the reason in `why`.
struct policy_copies *queue_policies_copy(const struct queue_policies *policies,
                                          const struct settings *settings,
                                          struct error_text *why) MUST_USE;

// They hold from now on. False with the reason in `why`: without memory.
bool queue_policies_apply(const struct queue_policies *policies, struct broker *broker,
                          const struct settings *settings, struct error_text *why) MUST_USE;

// The broker's memos are back: those that were made at run time hold, too. What cannot be read does
// not, and the log says so. False with the reason in `why`: without memory.
bool queue_policies_load(struct queue_policies *policies, struct broker *broker,
                         const struct settings *settings, struct error_text *why) MUST_USE;

// As sight.h says.
enum status queue_policies_set(struct queue_policies *policies, struct broker *broker,
                               const struct settings *settings,
                               const struct sight_new_policy *policy, struct error_text *why);
enum status queue_policies_drop(struct queue_policies *policies, struct broker *broker,
                                const struct settings *settings, struct slice glob);
bool queue_policies_show(const struct queue_policies *policies, const struct settings *settings,
                         size_t index, struct sight_policy *policy);
bool queue_policies_show_key(const struct queue_policies *policies, const struct settings *settings,
                             struct shown *shown, size_t index, size_t key, struct sight_key *out);

void queue_policies_clear(struct queue_policies *policies);

#endif
