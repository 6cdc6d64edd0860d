/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_HTTP1_REQUEST_H
#define TANDEM_HTTP1_REQUEST_H

// A request is allocated when its head is complete, and freed when it is answered.

#include "core/base/macros.h"
#include "core/base/slice.h"

#include "http1/context.h"

#include <stdbool.h>
#include <stddef.h>

// Allocates a request of the user's size, zeroed as far as the user needs. False: no memory.
bool http1_request_begin(struct http1_conn *conn) MUST_USE;

// Copies the origin that may read the answer. False: no memory.
bool http1_request_set_origin(struct http1_request *request, struct slice origin) MUST_USE;

// The bytes of memory that the request uses; 0 without one.
size_t http1_request_holds(const struct http1_conn *conn);

// Frees the request, if there is one.
void http1_request_end(struct http1_conn *conn);

#endif
