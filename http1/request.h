/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_HTTP1_REQUEST_H
#define TANDEM_HTTP1_REQUEST_H

// The life of a request: made when its head is there, freed when it is answered.

#include "core/base/macros.h"
#include "core/base/slice.h"

#include "http1/context.h"

#include <stdbool.h>
#include <stddef.h>

// Gives the connection a request, of the user's size, all zero as far as the user wants it; false
// without memory.
bool http1_request_begin(struct http1_conn *conn) MUST_USE;

// Notes who may see the answer; false without memory.
bool http1_request_set_origin(struct http1_request *request, struct slice origin) MUST_USE;

// How many bytes of memory it takes up; 0 where there is none.
size_t http1_request_holds(const struct http1_conn *conn);

// Frees it. There may be none.
void http1_request_end(struct http1_conn *conn);

#endif
