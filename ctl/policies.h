/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_POLICIES_H
#define TANDEM_CTL_POLICIES_H

// Policies of queues.

#include "ctl/command.h"

enum outcome run_policies(struct context *context);
enum outcome run_policy(struct context *context);

// What the policy says and where it stands, for people, as facts of a queue; NULL or null: none.
void policy_facts(struct context *context, const json_t *policy);

#endif
