/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_POLICIES_H
#define TANDEM_CTL_POLICIES_H

// Lists, shows and changes policies of queues.

#include "ctl/command.h"

enum outcome run_policies(struct context *context);
enum outcome run_policy(struct context *context);

// Prints the settings and the source of a policy as facts of a queue; NULL or null: none.
void policy_facts(struct context *context, const json_t *policy);

#endif
