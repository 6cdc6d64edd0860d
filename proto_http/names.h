/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_HTTP_NAMES_H
#define TANDEM_PROTO_HTTP_NAMES_H

// Names of queues and keys, which may have any bytes in them, where an answer can have only some.

#include "core/base/slice.h"
#include "core/broker.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

// The longest name, escaped.
#define WEB_NAME_ROOM (3 * QUEUE_NAME_MAX)
_Static_assert(JOB_KEY_MAX <= QUEUE_NAME_MAX, "keys are no longer than names of queues");

// The name as a string of JSON: as it is where it is UTF-8, otherwise escaped (field_name.h). NULL
// without memory.
json_t *web_name_json(struct slice name);

// Sets `data` of the object to bytes, as a string of JSON, or in base64 with a key `encoding` that
// says so. False without memory.
bool web_data_json(json_t *object, struct slice data);

#endif
