/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_HTTP_FUNCTIONS_H
#define TANDEM_PROTO_HTTP_FUNCTIONS_H

// Which functions are offered over HTTP at all.

#include "core/base/macros.h"
#include "core/base/slice.h"

#include "proto_http/context.h"

#include <stdbool.h>

// Whether http.functions has the function.
bool web_function_offered(const struct web_shared *shared, struct slice function) MUST_USE;

// The caller may submit to the function of the request's target, and it is offered; false:
// answered. Browsers, crawlers and monitors ask for some paths on their own: unless somebody does
// such jobs, or http.functions says otherwise, they would only pile up.
bool web_function_check(struct http1_conn *conn) MUST_USE;

#endif
