/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_SHOWN_RESULT_H
#define TANDEM_ADMIN_SHOWN_RESULT_H

// What jobs have ended with, where that is kept (core/result.h), as the API shows it. Documents
// are NULL for want of memory.

#include "core/result.h"
#include "http1/context.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

// The kept result of the job of that id, if the caller may observe the queue that it ended in; the
// answer waits until it is safe. Borrowed as broker_result() says.
bool shown_result_find(const struct http1_conn *conn, uint64_t id, struct result *result);

// How the job of that id has ended, without data; null where nothing is kept that the caller may
// see. The answer waits as above.
json_t *shown_result(const struct http1_conn *conn, uint64_t id);

// The job, which has gone, with all that is left of it; without data.
json_t *shown_ended(const struct result *result);

#endif
