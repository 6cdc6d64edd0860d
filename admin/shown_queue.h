/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_SHOWN_QUEUE_H
#define TANDEM_ADMIN_SHOWN_QUEUE_H

// A queue as the API shows it: `Queue`, and with its distributions `QueueDetail`.

#include "core/broker.h"
#include "proto_common/sight.h"

#include <jansson.h>

// NULL without memory. `sight` may be NULL.
json_t *shown_queue(const struct broker *broker, const struct queue *queue);
json_t *shown_queue_detail(const struct broker *broker, const struct sight *sight,
                           const struct queue *queue);

#endif
