/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_HTTP1_QUERY_H
#define TANDEM_HTTP1_QUERY_H

// The parameters of a request's query: `name=value` with `&` between them, as forms write it.
// Nothing is allocated; the slices are in the query, and valid as long as it.

#include "core/base/macros.h"
#include "core/base/slice.h"

#include <stdbool.h>
#include <stddef.h>

// Takes the next parameter off the query, as it came; false at the end. Empty ones, as between two
// `&`, are passed over; one without `=` has an empty value.
bool http1_query_next(struct slice *query, struct slice *name, struct slice *value);

// A longer value is not decoded: it cannot stand for a name of the longest queue.
#define HTTP1_QUERY_VALUE_MAX 1024

// Decodes a value, %XX and + alike, into `to`, which has room for HTTP1_QUERY_VALUE_MAX bytes;
// false where an escape is malformed, or it is longer.
bool http1_query_decode(struct slice value, char *to, size_t *len) MUST_USE;

#endif
