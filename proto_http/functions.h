/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_HTTP_FUNCTIONS_H
#define TANDEM_PROTO_HTTP_FUNCTIONS_H

// The functions that are offered over HTTP.

#include "core/base/macros.h"
#include "core/base/slice.h"

#include "proto_http/context.h"

#include <stdbool.h>

// Whether http.functions includes the function.
bool web_function_offered(const struct web_shared *shared, struct slice function) MUST_USE;

// Whether the caller may submit to the function of the request's target, and it is offered; false:
// answered. Browsers, crawlers and monitors request some paths unasked: their jobs would pile up,
// so these functions need a worker, or an entry in http.functions.
bool web_function_check(struct http1_conn *conn) MUST_USE;

#endif
