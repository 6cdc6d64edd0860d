/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_EVENT_SOURCES_H
#define TANDEM_ADMIN_EVENT_SOURCES_H

// The sources that there are.

#include "core/base/macros.h"

#include "admin/event_source.h"

#include <jansson.h>

extern const struct event_source event_operation;
extern const struct event_source event_process;
extern const struct event_source event_queue;
extern const struct event_source event_queues;

// For `make`: the text of the document, which is given up. STATUS_OK, or STATUS_NO_MEMORY, also
// where the document is NULL.
enum status event_text(json_t *document, char **text) MUST_USE;

#endif
