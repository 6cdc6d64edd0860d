/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_HTTP1_QUERY_H
#define TANDEM_HTTP1_QUERY_H

// The parameters of a request's query: `name=value`, separated by `&`, as forms send it. Nothing is
// allocated; the slices are in the query, and valid as long as it.

#include "core/base/macros.h"
#include "core/base/slice.h"

#include <stdbool.h>
#include <stddef.h>

// Removes the next parameter from the query, without decoding it. False: the end. Empty parameters
// are skipped; one without `=` has an empty value.
bool http1_query_next(struct slice *query, struct slice *name, struct slice *value);

// The most bytes of a decoded value: more than the longest queue name needs.
#define HTTP1_QUERY_VALUE_MAX 1024

// Decodes %XX and + into `to`, which has room for HTTP1_QUERY_VALUE_MAX bytes. False if an escape
// is malformed, or the value is too long.
bool http1_query_decode(struct slice value, char *to, size_t *len) MUST_USE;

#endif
