/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_JSON_QUEUE_JSON_H
#define TANDEM_ADMIN_JSON_QUEUE_JSON_H

// Queues, their policies, and named sections of the configuration as documents of the API. Each
// function returns NULL if there is no memory. `introspect` is NULL if the process offers no
// introspection.

#include "core/broker.h"
#include "core/policy.h"
#include "proto_common/introspect.h"
#include "proto_common/introspect_queues.h"

#include <jansson.h>
#include <stddef.h>

// `Queue`, and with its time distributions, endpoint and policy `QueueDetail`.
json_t *queue_json(const struct broker *broker, const struct queue *queue);
json_t *queue_detail_json(const struct broker *broker, const struct introspect *introspect,
                          const struct queue *queue);

// `Policy`: the policy with this index.
json_t *policy_json(const struct introspect *introspect, size_t index,
                    const struct introspect_policy *policy);

// `Section`: the section with this index.
json_t *section_json(const struct introspect *introspect, size_t index,
                     const struct introspect_section *section);

#endif
