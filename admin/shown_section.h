/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_SHOWN_SECTION_H
#define TANDEM_ADMIN_SHOWN_SECTION_H

// Sections of the configuration that have a name, and policies of queues, as the API shows them.
// Each function returns NULL without memory.

#include "core/policy.h"
#include "proto_common/sight.h"
#include "proto_common/sight_policies.h"

#include <jansson.h>

// `Section`: that of the index, which there is.
json_t *shown_section(const struct sight *sight, size_t index, const struct sight_section *section);

// `Policy`.
json_t *shown_policy(const struct sight *sight, size_t index, const struct sight_policy *policy);

// `Policy`: the one that a queue has, null for none.
json_t *shown_policy_of(const struct sight *sight, const struct policy_rule *rule);

#endif
