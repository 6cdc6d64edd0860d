/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_SHOWN_PUSH_H
#define TANDEM_ADMIN_SHOWN_PUSH_H

// Endpoints that jobs are pushed to, as the API shows them: `Endpoint`. Each function returns NULL
// without memory. `sight` may be NULL: there are none.

#include "core/base/slice.h"
#include "proto_common/sight.h"

#include <jansson.h>

struct queue;

// All of them, in the order of their sections.
json_t *shown_endpoints(const struct sight *sight);

// The first one of that section; null where there is none.
json_t *shown_endpoint_named(const struct sight *sight, struct slice section);

// The one that the queue's jobs go to; null where they go to none.
json_t *shown_endpoint_of(const struct sight *sight, const struct queue *queue);

#endif
