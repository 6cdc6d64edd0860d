/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_SUPPORT_POLICIES_H
#define TANDEM_TESTS_SUPPORT_POLICIES_H

#include "core/policy.h"

// Puts these rules into force, as a host does. STATUS_NO_MEMORY and STATUS_TOO_LARGE: nothing has
// changed.
static inline enum status set_policies(struct broker *broker, const struct policy_rule *rules,
                                       size_t count)
{
    struct policy_copies *copies = NULL;
    enum status status = policies_copy(rules, count, &copies);

    if (status == STATUS_OK) {
        broker_use_policies(broker, copies);
    }
    return status;
}

#endif
