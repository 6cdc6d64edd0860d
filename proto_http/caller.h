/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_HTTP_CALLER_H
#define TANDEM_PROTO_HTTP_CALLER_H

// Refusing a client that may not call, by the rules of guard.h, with the words that say why. What
// returns false has answered the request.

#include "core/base/macros.h"
#include "proto_common/http1/fields.h"

#include "proto_http/context.h"

#include <stdbool.h>

// Host is a name that the server goes by.
bool web_caller_check_host(struct web_conn *conn, const struct http1_fields *fields) MUST_USE;

// Notes the origin of the page that calls, where it may see the answer. False without memory.
bool web_caller_note_origin(struct web_conn *conn, const struct http1_fields *fields) MUST_USE;

// The caller may do anything at all: what it may call is in `*globs`, see web_guard_check().
bool web_caller_check(struct web_conn *conn, const struct http1_fields *fields,
                      const char **globs) MUST_USE;

// The function of the request's target may be called, by this caller and at all.
bool web_caller_check_function(struct web_conn *conn, const char *globs) MUST_USE;

#endif
