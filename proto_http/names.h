/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_HTTP_NAMES_H
#define TANDEM_PROTO_HTTP_NAMES_H

// Names of queues and keys may contain any bytes; these functions encode them for answers.

#include "core/base/slice.h"
#include "core/broker.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

// The longest name, escaped.
#define WEB_NAME_ROOM (3 * QUEUE_NAME_MAX)
_Static_assert(JOB_KEY_MAX <= QUEUE_NAME_MAX, "keys are no longer than names of queues");

// The name as a JSON string: unchanged if it is UTF-8, otherwise escaped (field_name.h). NULL
// without memory.
json_t *web_name_json(struct slice name);

// Sets `data` of the object to the bytes, as a JSON string, or in base64 with the member
// `encoding`. False without memory.
bool web_data_json(json_t *object, struct slice data);

#endif
